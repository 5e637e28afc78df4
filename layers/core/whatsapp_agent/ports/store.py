"""What is remembered about a conversation, as protocols: turns, messages with their summary, facts.

Every method may raise `TransientError` (the call may succeed later). Other errors are named where they can
happen.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whatsapp_agent.ledger import Turn, TurnState
    from whatsapp_agent.memory.records import CompactionCommit, Fact, FactUpdate, Message, PastFact, Summary


class Ledger(Protocol):
    """The turns: which events were seen, and what is left to do for each."""

    def claim(self, turn: Turn, message: Message | None) -> Turn | None:
        """Writes the turn and its message, both or neither.

        Returns:
            None when this call wrote them; the stored turn when the event was claimed before (then
            nothing is written).

        Raises:
            SeqTaken: Another message stands at `message.seq`: read again, then claim again.
        """

    def commit(self, reply: Message, turn: Turn, covered: Sequence[str]) -> None:
        """Writes down a reply in one transaction: the message, `turn` (state `replied`, with its parts),
        and state `covered` with `lead = turn.event_id` for the events in `covered`.

        Holds only while nothing stands at `reply.seq` and every one of the turns is `claimed` or `failed`.

        Raises:
            SeqTaken: Another message stands at `reply.seq`.
            TurnMoved: One of the turns is no longer waiting for a reply, or is gone.
        """

    def mark_sent(self, turn: Turn, provider_id: str) -> Turn:
        """Writes down that part `turn.sent` was taken; the state becomes `sent` with the last part.

        Raises:
            TurnMoved: The stored turn is not `replied` with the same number of sent parts.
        """

    def close(self, turn: Turn, state: TurnState, reason: str) -> Turn:
        """Ends a turn without (further) sending, from the state that `turn` has.

        Raises:
            TurnMoved: The stored turn is in another state.
        """

    def apologise(self, turn: Turn) -> Turn | None:
        """Marks that the person is being told that the answer is late; None if that was marked before.

        Raises:
            TurnMoved: The turn is gone.
        """

    def turn(self, conversation: str, event_id: str) -> Turn | None:
        """The turn of an event, read strongly consistent; None where the event was never claimed."""

    def turns_of(self, conversation: str, event_ids: Sequence[str]) -> list[Turn]:
        """The turns of up to 100 events, strongly consistent, in any order; absent ones are left out."""

    def find_by_provider_id(self, conversation: str, provider_id: str) -> Turn | None:
        """The newest turn of the conversation of which `provider_id` names a sent part."""

    def turns(self, conversation: str) -> list[Turn]:
        """Every turn that the conversation still has, oldest first. For looking, not for deciding."""


class ConversationStore(Protocol):
    """Messages and summaries."""

    def newest_messages(self, conversation: str, limit: int) -> list[Message]:
        """The newest `limit` messages, oldest first, read strongly consistent. Expired ones are left out."""

    def messages_after(self, conversation: str, after_seq: int, limit: int) -> list[Message]:
        """The oldest `limit` messages with `seq > after_seq`, oldest first, strongly consistent."""

    def summary(self, conversation: str) -> Summary:
        """The summary and state; an empty one (version 0) where nothing is stored. Strongly consistent."""

    def set_state(
        self, conversation: str, *, opted_out_at: datetime | None, paused_until: datetime | None
    ) -> None:
        """Writes the conversation's state (None clears), leaving summary text and version alone."""

    def revise(self, message: Message, *, text: str, kind: str) -> bool:
        """Gives a stored message another text and kind: it was edited, deleted, or never sent.

        Returns:
            Whether the message was still there; it is the same one only with the same event.
        """

    def commit_compaction(self, commit: CompactionCommit) -> None:
        """Writes the new summary and the fact updates in one transaction.

        More updates than one transaction holds are split, the summary with the last slice.

        Raises:
            SummaryMoved: The stored summary has another version than `expected_version`.
            MessagesGone: The message `newest_seq` no longer exists.
        """

    def delete_messages(self, conversation: str, through_seq: int) -> int:
        """Deletes every message with `seq <= through_seq`; returns how many there were."""

    def erase(self, conversation: str) -> int:
        """Deletes messages, turns and summary of the conversation; returns how many items there were."""


class FactStore(Protocol):
    """Facts and their history. A compaction's changes are written by `ConversationStore.commit_compaction`."""

    def facts(self, conversation: str) -> list[Fact]:
        """The current facts, by key and item, strongly consistent. Expired ones are left out."""

    def history(self, conversation: str, key: str = "") -> list[PastFact]:
        """Former values, oldest first; of one key where `key` is given. One that has expired is among them
        from that moment on.
        """

    def write(
        self, conversation: str, updates: Sequence[FactUpdate], *, while_there: Message | None = None
    ) -> None:
        """Writes changes outside a compaction: an operator's, or what the person asks to be remembered.

        Each update holds on its version and goes with its history item. More than one transaction holds
        (100 actions; an update takes two to four) are split, in order.

        Args:
            conversation: Whose facts they are.
            updates: At most one per fact.
            while_there: A message that must still exist, so that nothing is written back after an erasure.

        Raises:
            FactMoved: A fact has another version; earlier slices, if any, are written.
            MessagesGone: `while_there` no longer exists.
        """

    def forget_history(self, conversation: str, key: str, item: str) -> int:
        """Deletes the former values of one fact; returns how many there were."""

    def erase(self, conversation: str) -> int:
        """Deletes every fact and its history; returns how many items there were."""
