"""How well recall finds what was said or written: made talk and documents in four languages."""
