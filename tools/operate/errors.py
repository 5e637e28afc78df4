"""How `operate` ends: its exit statuses, and the errors that lead to them."""

DONE = 0
FAILED = 1
"""Something outside failed: no stack, no credentials, AWS or a queue unavailable."""
WRONG_USAGE = 2
"""The command line, a phone number, an agent or a fact's key is wrong."""
NOTHING_KNOWN = 3
"""Nothing is remembered about that person."""
NOT_CONFIRMED = 4
"""It would destroy something, and nobody said yes."""
NOT_FINISHED = 5
"""Part of it was done; saying it again goes on."""


class OperateError(Exception):
    """Ends the command with a sentence and an exit status."""

    def __init__(self, message: str, status: int = FAILED) -> None:
        super().__init__(message)
        self.status = status
