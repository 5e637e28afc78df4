"""What is remembered about a person, as plain frozen records.

A `conversation` is the text `agent#person`, for example `sales#+34600111222`. Every time is aware UTC.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from whatsapp_agent.memory.allowance import Spent

Role = Literal["user", "assistant", "owner"]
"""Who said it: the person, the agent, or the human owner of the number who answered by hand."""

FactSource = Literal["stated", "inferred", "operator"]


def conversation_key(agent: str, person: str) -> str:
    """The key under which everything about one person is kept for one agent."""
    return f"{agent}#{person}"


def split_conversation(conversation: str) -> tuple[str, str]:
    """`(agent, person)` of a conversation key."""
    agent, _, person = conversation.partition("#")
    return agent, person


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one model call, as the model's service counted them."""

    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Message:
    """One remembered message.

    Attributes:
        seq: Place in the conversation, from 1, without gaps: the order in which messages were processed.
        kind: `text`, `voice`, `image`, …: how it was said.
        sent_at: When the person's phone sent it, by the provider's clock.
        received_at: When this system got it.
        event_id: The event that brought it; for a reply, the event of the turn that it answers.
        number: Business number that carried it.
        prompt_chars: For a reply: characters of the prompt that produced it (0 where unknown).
        usage: For a reply: the tokens that it took.
        message_id: The provider's id of a received message: quotes, edits and deletions name it.
        quote: The earlier words that the person quotes with this message.
        spent: What the person has used of their limits, this message included.
    """

    conversation: str
    seq: int
    role: Role
    text: str
    kind: str
    sent_at: datetime
    received_at: datetime
    event_id: str
    number: str = ""
    prompt_chars: int = 0
    usage: Usage = Usage()
    message_id: str = ""
    quote: str = ""
    spent: Spent = Spent()


@dataclass(frozen=True, slots=True)
class Summary:
    """The running summary of a conversation, and the conversation's state.

    Attributes:
        text: The summary; empty before the first compaction.
        through_seq: Newest message that the summary stands for; newer ones are still pending.
        version: Grows by one with each compaction; 0 where nothing is stored.
        opted_out_at: When the person asked for silence; None while they may be written to.
        paused_until: Until when the agent keeps quiet because a human has taken over.
        active_at: When the person's activity last let everything live on; only where a retention is set.
    """

    conversation: str
    text: str = ""
    through_seq: int = 0
    version: int = 0
    updated_at: datetime | None = None
    opted_out_at: datetime | None = None
    paused_until: datetime | None = None
    active_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One current fact about a person.

    Attributes:
        key: A key of the agent's schema, for example `job`.
        item: Which value of a `list` key this is; empty for a `single` key.
        confidence: 1.0 for what the person said themselves, less for what was concluded.
        evidence_seq: The message that it was learned from; 0 where an operator wrote it.
        version: Grows by one with each change of this fact; 0 for one that is not stored yet.
        expires_at: From then on the fact is treated as gone.
    """

    conversation: str
    key: str
    value: str
    confidence: float
    source: FactSource
    evidence_seq: int
    created_at: datetime
    updated_at: datetime
    item: str = ""
    version: int = 0
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class PastFact:
    """A value that a fact no longer has: what it was, and when and why it went."""

    fact: Fact
    replaced_at: datetime
    reason: Literal["changed", "obsolete", "expired", "retired", "operator"]
    evidence_seq: int


@dataclass(frozen=True, slots=True)
class FactChange:
    """A change that the memory model proposes; nothing is believed before `memory.facts` has judged it."""

    action: Literal["set", "obsolete"]
    key: str
    value: str
    stated: bool = True
    confidence: float = 1.0
    evidence_seq: int = 0


@dataclass(frozen=True, slots=True)
class FactUpdate:
    """What the store is to do for one fact: write `new` (or remove it, where None) and keep `past`.

    The write holds only while the stored fact still has version `expected_version` (0: is absent).

    Attributes:
        before: The stored fact that the change was judged against; None where there was none. With it goes
            the note in the history that would have said when it expired.
    """

    key: str
    item: str
    expected_version: int
    new: Fact | None
    past: PastFact | None
    before: Fact | None = None


@dataclass(frozen=True, slots=True)
class CompactionJob:
    """A request to compact a conversation, made when its summary stood at `through_seq`.

    Attributes:
        erased_at: Set where the job asks for something else: the conversation was erased then, and what
            compactions before that keep outside of the transaction (archive, recall) is to go. It waits
            behind a compaction in flight, which could otherwise still write there.
    """

    conversation: str
    through_seq: int
    erased_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class CompactionCommit:
    """Everything that one compaction writes, in one transaction.

    Attributes:
        summary: The new summary; its version is `expected_version` + 1.
        newest_seq: Newest compacted message, which must still exist when the commit happens.
        newest_event_id: The event of that message. With it the message must also be the same one: after an
            erasure, another message may stand at the place. Not checked where empty.
    """

    summary: Summary
    expected_version: int
    newest_seq: int
    updates: tuple[FactUpdate, ...] = ()
    newest_event_id: str = ""
