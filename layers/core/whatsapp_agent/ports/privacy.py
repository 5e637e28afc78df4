"""What is kept for a while, and what forgetting needs, as protocols.

Every method may raise `TransientError` (the call may succeed later).
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from whatsapp_agent.memory.records import Message


class Archive(Protocol):
    """Raw messages that left the conversation, kept for a while and outside of the database."""

    def keep(self, conversation: str, messages: Sequence[Message]) -> None:
        """Writes the messages down, oldest first. Doing it again with the same messages changes nothing."""

    def messages(self, conversation: str) -> Iterator[Message]:
        """Every archived message, oldest first."""

    def erase(self, conversation: str, before: datetime | None = None) -> int:
        """Deletes what is archived, where `before` is given only what had arrived by then; returns how many
        objects there were. Ends only when none is left.
        """


class Retention(Protocol):
    """Forgetting whoever has been silent for long."""

    def refresh(self, conversation: str) -> int:
        """Lets everything that is remembered live on from now, because the person is active; returns how
        many items that were. Nothing that has expired or was deleted comes back.
        """


class DeadLetters(Protocol):
    """What the queues gave up."""

    def drop(self, person: str, conversation: str, arrived_before: datetime) -> int:
        """Deletes a person's messages that arrived before a moment, and the compaction jobs of their
        conversation; everybody else's stay. Returns how many there were.
        """
