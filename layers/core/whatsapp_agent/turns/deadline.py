"""How much of the invocation is left, and how it is shared out."""

from collections.abc import Callable
from dataclasses import dataclass

from whatsapp_agent.errors import ModelUnavailable

SENDING_RESERVE = 15.0
"""Seconds kept back for committing and sending: a reply that was paid for must be written down."""

LEAST_FOR_MODEL = 3.0
"""Below this many seconds a call to the model is not begun."""

MODEL_RESERVE = 30.0
"""Seconds that reading media leaves for the reply: a voice message that was heard is to be answered, too."""

MOST_FOR_MEDIA = 40.0

LEAST_FOR_MEDIA = 5.0
"""Below this many seconds no medium is fetched."""


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

    def for_media(self) -> float:
        """Seconds that fetching and reading a medium may take.

        Raises:
            ModelUnavailable: Too little time is left to begin; a later attempt has more.
        """
        seconds = min(MOST_FOR_MEDIA, self.remaining() - SENDING_RESERVE - MODEL_RESERVE)
        if seconds < LEAST_FOR_MEDIA:
            raise ModelUnavailable("too little of the invocation is left to read a medium")
        return seconds
