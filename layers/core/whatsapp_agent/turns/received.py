"""Queue records as the turns see them."""

from collections.abc import Sequence
from dataclasses import dataclass

from whatsapp_agent.events import Event, InboundMessage
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.ports.queues import QueueRecord


@dataclass(frozen=True, slots=True)
class Received:
    """A record and the event that was in it."""

    record: QueueRecord
    event: Event


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A record and the message that was in it.

    Attributes:
        spent: What the person has used of their limits, this message included.
        notice: Whether this is the message that gets the notice about a limit.
    """

    record: QueueRecord
    event: InboundMessage
    spent: Spent = Spent()
    notice: bool = False


@dataclass(frozen=True, slots=True)
class Waiting:
    """A message that is remembered, with its turn; `new` where this delivery remembered it."""

    received: ReceivedMessage
    turn: Turn
    new: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """A record that is to be handed out again.

    Attributes:
        retry_after: Seconds that an outside system asked to wait, or None.
    """

    record: QueueRecord
    retry_after: float | None = None


def postponable(behind: Sequence[Received | ReceivedMessage]) -> bool:
    """Whether the records can go back to the queue: none of them is on its last attempt."""
    return not any(received.record.last_attempt for received in behind)
