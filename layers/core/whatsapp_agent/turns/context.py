"""What is known about a conversation at the start of a turn, read in one round trip's time."""

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.memory.records import Fact, Message, Summary
from whatsapp_agent.ports.directory import Directory
from whatsapp_agent.ports.store import ConversationStore, FactStore

LATE = timedelta(minutes=4)
"""The queue knows an event again for five minutes, so what a provider delivers once more after that was sent at
least so long before. New talk is not, whatever the provider's clock says."""


def sent_before(erased_at: datetime | None, sent_at: datetime, received_at: datetime) -> bool:
    """Whether a message is an old one that a provider delivers (again) after its person was forgotten. The
    ledger, which would know it, was erased with them.
    """
    return erased_at is not None and sent_at <= erased_at and received_at - sent_at >= LATE


@dataclass(frozen=True, slots=True)
class Context:
    """A conversation as it stands.

    Attributes:
        messages: The newest messages that the summary does not stand for, oldest first.
        last_seq: Place of the newest message; the next one goes to `last_seq + 1`.
        erased_at: When everything before was erased; events that arrived earlier are dropped.
    """

    conversation: str
    summary: Summary
    facts: tuple[Fact, ...]
    messages: tuple[Message, ...]
    last_seq: int
    erased_at: datetime | None = None

    def forgotten(self, sent_at: datetime, received_at: datetime) -> bool:
        """Whether a message belongs to what was erased: it arrived before that, or is an old one come again."""
        arrived = self.erased_at is not None and received_at <= self.erased_at
        return arrived or sent_before(self.erased_at, sent_at, received_at)

    def with_message(self, message: Message) -> "Context":
        """The context after `message` was written down."""
        return replace(self, messages=(*self.messages, message), last_seq=message.seq)

    def message_of(self, event_id: str) -> Message | None:
        """The person's message that an event brought, where it is among those read."""
        return next((m for m in self.messages if m.event_id == event_id and m.role != "assistant"), None)

    def message_named(self, message_id: str) -> Message | None:
        """The received message with the provider's id, where it is among those read."""
        return next((m for m in reversed(self.messages) if message_id and m.message_id == message_id), None)

    def revised(self, seq: int, text: str, kind: str) -> "Context":
        """The context after the message at place `seq` got another text."""
        messages = tuple(
            replace(message, text=text, kind=kind) if message.seq == seq else message
            for message in self.messages
        )
        return replace(self, messages=messages)

    @property
    def spent(self) -> Spent:
        """What the person has used of their limits so far."""
        return self.messages[-1].spent if self.messages else Spent()

    def heard_at(self, otherwise: datetime) -> datetime:
        """When the person sent their newest message, but not before `otherwise`."""
        return max([otherwise, *(m.sent_at for m in self.messages if m.role == "user")])

    def answered(self, seq: int) -> bool:
        """Whether a reply after place `seq` exists, or the summary already stands for that place."""
        return seq <= self.summary.through_seq or any(
            message.seq > seq and message.role != "user" for message in self.messages
        )


class ContextReader:
    """Reads contexts; the four reads run side by side.

    Args:
        limit: Most messages to read: as many as the prompt can hold.
    """

    def __init__(
        self,
        conversations: ConversationStore,
        facts: FactStore,
        directory: Directory,
        executor: Executor,
        limit: int,
    ) -> None:
        self._conversations = conversations
        self._facts = facts
        self._directory = directory
        self._executor = executor
        self._limit = limit

    def read(self, conversation: str) -> Context:
        """The conversation as it stands, strongly consistent.

        Messages and summary are read side by side, so a compaction may move between the two: it shows as
        a gap between the summary and the oldest message, and one more read closes it. A gap that stays
        comes from messages that left by retention.
        """
        context, gap = self._read(conversation)
        return self._read(conversation)[0] if gap else context

    def _read(self, conversation: str) -> tuple[Context, bool]:
        submit = self._executor.submit
        messages_read = submit(self._conversations.newest_messages, conversation, self._limit)
        summary_read = submit(self._conversations.summary, conversation)
        facts_read = submit(self._facts.facts, conversation)
        erased_read = submit(self._directory.erased_at, conversation)
        newest, summary = messages_read.result(), summary_read.result()
        pending = tuple(message for message in newest if message.seq > summary.through_seq)
        context = Context(
            conversation=conversation,
            summary=summary,
            facts=tuple(facts_read.result()),
            messages=pending,
            last_seq=max(newest[-1].seq if newest else 0, summary.through_seq),
            erased_at=erased_read.result(),
        )
        gap = len(newest) < self._limit and bool(newest) and newest[0].seq > summary.through_seq + 1
        return context, gap
