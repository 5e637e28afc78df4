"""The queue that people's events wait in, and that of compactions, as protocols.

Every method may raise `TransientError` (the call may succeed later). Other errors are named where they can
happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whatsapp_agent.events import Event
    from whatsapp_agent.memory.records import CompactionJob


@dataclass(frozen=True, slots=True)
class QueueRecord:
    """One record of a queue batch.

    Attributes:
        message_id: The queue's id, by which a partial batch failure names it.
        group: Message group: whom the record is about.
        receive_count: How often the queue has handed it out, this time included.
        last_attempt: Whether the queue gives it to the dead-letter queue when it fails now.
    """

    message_id: str
    receipt_handle: str
    group: str
    body: str
    receive_count: int
    last_attempt: bool


class TurnQueue(Protocol):
    """The inbound FIFO queue: one person is one message group."""

    def send(self, events: Sequence[Event]) -> None:
        """Queues the events in order; returns only when every one of them is queued.

        An event that was already queued within the queue's deduplication window is accepted and not
        queued again.

        Raises:
            QueueUnavailable: At least one event was not queued; sending all of them again is safe.
        """

    def retry_later(self, receipt_handles: Sequence[str], seconds: int) -> None:
        """Makes received messages visible again after `seconds` (0 to 43,200). Best effort: a handle that
        is no longer valid is passed over.
        """


class CompactionQueue(Protocol):
    """The compaction FIFO queue: one conversation is one message group."""

    def send(self, job: CompactionJob) -> None:
        """Queues the job; the same conversation and `through_seq` again within minutes is one job."""
