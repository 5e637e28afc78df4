"""The playground page of `make run`: a phone on the left, what is remembered on the right."""
