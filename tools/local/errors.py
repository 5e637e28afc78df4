"""What goes wrong on the laptop, said in one line."""


class LocalError(Exception):
    """Something that the user can put right; the message is one line and says how."""
