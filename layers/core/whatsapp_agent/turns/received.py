"""Queue records as the turns see them."""

from dataclasses import dataclass

from whatsapp_agent.events import Event, InboundMessage
from whatsapp_agent.ports import QueueRecord


@dataclass(frozen=True, slots=True)
class Received:
    """A record and the event that was in it."""

    record: QueueRecord
    event: Event


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A record and the message that was in it."""

    record: QueueRecord
    event: InboundMessage


@dataclass(frozen=True, slots=True)
class Failure:
    """A record that is to be handed out again.

    Attributes:
        retry_after: Seconds that an outside system asked to wait, or None.
    """

    record: QueueRecord
    retry_after: float | None = None
