"""What the use cases need from the outside, as protocols. Adapters implement them; nothing here does I/O.

Every method may raise `TransientError` (the call may succeed later). Other errors are named where they
can happen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

# Names for annotations only: whoever loads a protocol does not load all that it speaks of.
if TYPE_CHECKING:
    from whatsapp_agent.events import Event, OutboundMessage
    from whatsapp_agent.ledger import Turn, TurnState
    from whatsapp_agent.memory.arguments import ToolSpec
    from whatsapp_agent.memory.records import (
        CompactionAnswer,
        CompactionCommit,
        CompactionJob,
        Fact,
        FactKey,
        FactUpdate,
        Message,
        ModelReply,
        PastFact,
        Prompt,
        Summary,
    )


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


@dataclass(frozen=True, slots=True)
class Address:
    """Who a number and a person stand for: the agent of the number (empty: the default agent) and the
    person's canonical key.
    """

    agent: str
    person: str


class Directory(Protocol):
    """Numbers, aliases of persons, and erasures."""

    def resolve(self, number: str, person: str, sent_at: datetime | None = None) -> Address:
        """Looks up which agent a business number belongs to and whom a person's address stands for; where
        `sent_at` is given, whom it stood for then.
        """

    def replace_number(self, old_number: str, new_number: str, label: str, at: datetime) -> None:
        """Lets `new_number` inherit the agent of `old_number`. Doing it again changes nothing."""

    def assign_number(self, number: str, agent: str) -> None:
        """Gives a business number to an agent."""

    def alias_person(self, alias: str, person: str) -> None:
        """Lets another address of a person lead to the key under which they are remembered."""

    def move_person(self, old: str, new: str, at: datetime) -> None:
        """Lets a person's new address lead to their memory, and a phone number that they gave up to nobody's:
        who writes from it after `at` is somebody else. Told again, it changes nothing.
        """

    def aliases(self, person: str) -> list[str]:
        """The other addresses that lead to the person, and those that did until they gave them up."""

    def forget_person(self, person: str) -> int:
        """Removes every address that leads to the person; returns how many there were."""

    def erased_at(self, conversation: str) -> datetime | None:
        """When the conversation was last erased. Kept under a keyed hash, not under the phone number."""

    def record_erasure(self, conversation: str, at: datetime) -> None:
        """Writes down an erasure; a later one replaces an earlier one, never the other way round."""


class Toolbox(Protocol):
    """The tools that the model may use for one reply."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What the model is offered; constant for an agent, so that prompts keep their common beginning."""

    def call(self, name: str, arguments: str) -> str:
        """Runs a tool and returns what the model is told.

        Never raises for what the model did: an unknown name and wrong arguments (`arguments` is whatever the
        model wrote where JSON belongs) are answers too. The same call again has the same effect.
        """


MOST_TOOL_ROUNDS = 4
"""How often a model may call tools for one reply; then it has to answer."""


class Model(Protocol):
    """The language model.

    Raises, from every method:
        ModelUnavailable: Overloaded, rate limited, failing, or slower than the given time.
        ModelRefused: Key wrong, quota used up, model unknown.
        ModelAnswerUnusable: Nothing usable came back, also after one try with more room.
        ContextTooLong: The prompt is larger than the model takes.
    """

    def reply(self, prompt: Prompt, *, seconds: float, tools: Toolbox | None = None) -> ModelReply:
        """Answers the person. `seconds` bounds the whole call, its retries and rounds of tools included.

        With `tools` the model may call them in up to `MOST_TOOL_ROUNDS` rounds, then it answers without.
        """

    def count_tokens(self, prompt: Prompt, *, seconds: float) -> int:
        """The tokens that the service counts for the prompt; nothing is generated."""

    def compact(self, prompt: Prompt, fact_keys: Mapping[str, FactKey], *, seconds: float) -> CompactionAnswer:
        """Asks once for the new summary and the fact changes, as structured output that can only name
        keys of `fact_keys` and `note`.
        """


class Provider(Protocol):
    """A WhatsApp provider, outgoing side.

    Raises, from `send`:
        ProviderUnavailable: Try again later.
        WindowClosed, RecipientOptedOut, NumberRetired, SendRejected: Never for this message.
    """

    def send(self, message: OutboundMessage) -> str:
        """Sends one part; returns the provider's id of it."""

    def typing(self, number: str, address: str, message_id: str) -> None:
        """Shows the person that an answer is being written. Best effort: never raises."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one webhook request brought: events to queue, and how many things were passed over, by name."""

    events: tuple[Event, ...]
    ignored: Mapping[str, int]


class Webhook(Protocol):
    """A WhatsApp provider, incoming side. Pure: no I/O."""

    def handshake(self, query: Mapping[str, str]) -> str:
        """The text that answers the provider's GET, for providers that ask one.

        Raises:
            InvalidSignature: The token is wrong, or this provider knows no handshake.
        """

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
        """Checks the signature over the raw bytes, in constant time. `headers` has lower-case names.

        Raises:
            InvalidSignature: Not signed, wrongly signed, or signed too long ago.
            ConfigurationError: No secret is configured: nothing can be trusted.
        """

    def parse(self, body: bytes, now: datetime) -> Delivery:
        """Reads a verified body. What is unknown is counted, never an error.

        Raises:
            InvalidPayload: The body is no JSON object.
        """
