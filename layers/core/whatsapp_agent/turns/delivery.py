"""Lets a reply out, unless somebody asked for silence meanwhile; and the notices that no model writes."""

from collections.abc import Sequence
from concurrent.futures import Executor, Future

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import AgentError
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory import consent
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Summary
from whatsapp_agent.ports.store import ConversationStore, Ledger
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.claim import SILENCE
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.outbox import Outbox
from whatsapp_agent.turns.received import Failure, Waiting


class Delivery:
    """Sends what is written down, through the outbox."""

    def __init__(
        self,
        *,
        outbox: Outbox,
        ledger: Ledger,
        conversations: ConversationStore,
        executor: Executor,
        telemetry: Telemetry,
        now: Clock,
    ) -> None:
        self._outbox = outbox
        self._ledger = ledger
        self._conversations = conversations
        self._executor = executor
        self._telemetry = telemetry
        self._now = now

    def paused(self, summary: Summary) -> bool:
        """Whether a human has taken over."""
        return summary.paused_until is not None and summary.paused_until > self._now()

    def state_of(self, context: Context) -> Future[Summary]:
        """Begins to read the conversation's state anew: beside the commit, so that no round trip is added."""
        return self._executor.submit(self._conversations.summary, context.conversation)

    def send(self, context: Context, item: Waiting) -> Failure | None:
        """Sends a committed reply; returns the record where it must be handed out again for that."""
        try:
            with self._telemetry.step("send"):
                turn = self._outbox.send(item.turn, context.heard_at(item.received.event.sent_at))
        except AgentError as error:
            self._telemetry.warning("sending_failed", error=type(error).__name__)
            return Failure(item.received.record, getattr(error, "retry_after", None))
        self._telemetry.count("Turn", state=turn.state)
        waited = self._now() - item.received.event.received_at
        self._telemetry.measure("AnswerMilliseconds", 1000 * waited.total_seconds())
        return None

    def send_unless_held(
        self, context: Context, item: Waiting, state: Sequence[Future[Summary]]
    ) -> Failure | None:
        """Sends a reply that was just written down, unless a human took over or the person opted out while
        the model was being asked. Where that cannot be told, the record comes again and is sent then.
        """
        try:
            for reading in state:
                summary = reading.result()
                if summary.opted_out_at is not None or self.paused(summary):
                    self._withhold(item.turn, "opted_out" if summary.opted_out_at else "paused")
                    return None
        except AgentError as error:
            self._telemetry.warning("state_not_read", error=type(error).__name__)
            return Failure(item.received.record, getattr(error, "retry_after", None))
        return self.send(context, item)

    def send_committed(
        self, context: Context, profile: AgentProfile, claimed: Sequence[Waiting]
    ) -> list[Failure]:
        """Finishes the replies that an earlier attempt wrote down; stops at the first that cannot be sent."""
        for item in claimed:
            if item.turn.state != "replied":
                continue
            if self.paused(context.summary) and not consent.is_stop(
                item.received.event.text, profile.stop_words
            ):
                self._withhold(item.turn, "paused")
                continue
            failure = self.send(context, item)
            if failure is not None:
                return [failure]
        return []

    def give_notice(
        self, context: Context, profile: AgentProfile, claimed: Sequence[Waiting], *, alone: bool
    ) -> None:
        """Tells the person once that they went beyond a limit, or that a voice message held nothing.

        Args:
            context: The conversation with the claimed messages in it.
            profile: Whose phrases are used.
            claimed: What arrived.
            alone: Whether nothing of it was answered.
        """
        if self.paused(context.summary):
            return
        for item in claimed:
            if item.new and item.received.notice:
                self._say_once(item.turn, profile.phrases.limited)
        last = claimed[-1] if claimed else None
        if last and last.new and alone and last.received.event.kind == SILENCE and not last.received.spent.over:
            before = context.messages[-2:-1]
            if not (before and before[0].kind == SILENCE):
                self._say_once(last.turn, profile.phrases.unheard)

    def _say_once(self, turn: Turn, phrase: str) -> None:
        try:
            self._outbox.say_once(turn, phrase)
        except AgentError as error:
            # Nobody waits for it, and the message that it is about is remembered.
            self._telemetry.warning("notice_not_sent", error=type(error).__name__)

    def _withhold(self, turn: Turn, reason: str) -> None:
        """Ends a reply that is not to be sent. What nobody heard is not remembered as said: its words go, and
        its place stays taken.
        """
        self._ledger.close(turn, "suppressed", reason)
        for said in self._conversations.messages_after(turn.conversation, turn.reply_seq - 1, 1):
            if said.seq == turn.reply_seq and said.role == "assistant":
                self._conversations.revise(said, text="", kind="unsent")
        self._telemetry.count("Turn", state="suppressed")
