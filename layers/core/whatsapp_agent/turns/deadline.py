"""How much of the invocation is left, and how it is shared out."""

from collections.abc import Callable
from dataclasses import dataclass

from whatsapp_agent.errors import ModelUnavailable

SENDING_RESERVE = 15.0
"""Seconds kept back for committing and sending: a reply that was paid for must be written down."""

LEAST_FOR_MODEL = 3.0
"""Below this many seconds a call to the model is not begun."""


@dataclass(frozen=True, slots=True)
class Deadline:
    """Counts down to the end of the invocation.

    Attributes:
        remaining: Tells the seconds that are left.
    """

    remaining: Callable[[], float]

    def for_model(self) -> float:
        """Seconds that a model call may take.

        Raises:
            ModelUnavailable: Too little time is left to begin one; a later attempt has more.
        """
        seconds = self.remaining() - SENDING_RESERVE
        if seconds < LEAST_FOR_MODEL:
            raise ModelUnavailable("too little of the invocation is left to ask the model")
        return seconds
