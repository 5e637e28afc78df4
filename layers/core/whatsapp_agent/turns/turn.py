"""One turn: claim what arrived, answer it once, send the answer."""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace

from whatsapp_agent.errors import AgentError, ModelRefused, PermanentError, TransientError
from whatsapp_agent.memory import consent, window
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import CompactionJob, Summary
from whatsapp_agent.ports.provider import Provider
from whatsapp_agent.ports.queues import CompactionQueue
from whatsapp_agent.ports.store import ConversationStore, Ledger
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.activity import Activity
from whatsapp_agent.turns.answer import Answerer
from whatsapp_agent.turns.claim import Claimed, Claimer
from whatsapp_agent.turns.context import Context, ContextReader
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.delivery import Delivery
from whatsapp_agent.turns.farewell import Farewell
from whatsapp_agent.turns.fitting import ContextLimits
from whatsapp_agent.turns.intake import Intake
from whatsapp_agent.turns.outbox import Outbox
from whatsapp_agent.turns.recall import Lookup, Recaller
from whatsapp_agent.turns.received import Failure, ReceivedMessage, Waiting


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """When compaction is due, and how much the model sees."""

    limits: ContextLimits
    compact_at: int


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What a turn works with."""

    reader: ContextReader
    claimer: Claimer
    answerer: Answerer
    outbox: Outbox
    delivery: Delivery
    ledger: Ledger
    conversations: ConversationStore
    compaction_queue: CompactionQueue
    provider: Provider
    telemetry: Telemetry
    executor: Executor
    farewell: Farewell
    intake: Intake
    activity: Activity
    recaller: Recaller | None = None


class TurnTaker:
    """Takes the turns of one conversation: everything that arrived for it in one batch."""

    def __init__(self, parts: TurnParts, settings: TurnSettings) -> None:
        self._parts = parts
        self._settings = settings

    def take(
        self,
        conversation: str,
        profile: AgentProfile,
        arrived: Sequence[ReceivedMessage],
        deadline: Deadline,
    ) -> list[Failure]:
        """Handles the messages in order; returns the records that must be handed out again.

        A record that is not returned is remembered, and answered or covered by one that is returned.

        Raises:
            TransientError: The conversation could not be read; nothing was done.
        """
        arrived, unfinished = self._parts.farewell.take(conversation, profile, arrived)
        if not arrived:
            return unfinished
        looked_up = self._look_up(conversation, profile, arrived)
        with self._parts.telemetry.step("read"):
            context = self._parts.reader.read(conversation)
        current = [
            received
            for received in arrived
            if not context.forgotten(received.event.sent_at, received.event.received_at)
        ]
        self._parts.telemetry.count("DroppedByErasure", len(arrived) - len(current))
        with self._parts.telemetry.step("to_text"):
            admitted, postponed = self._parts.intake.admit(context, profile, current, deadline)
        with self._parts.telemetry.step("claim"):
            context, claimed, failures = self._claim(context, admitted)
        failures += postponed
        blocked = self._parts.delivery.send_committed(context, profile, claimed)
        if blocked and not blocked[0].record.last_attempt:
            return [
                *blocked,
                *(Failure(item.received.record) for item in self._open(context, claimed)),
                *failures,
            ]
        waiting = self._open(context, claimed)
        if waiting:
            failures = [*self._answer(context, profile, waiting, deadline, looked_up), *failures]
        elif any(not item.new for item in claimed):
            # An attempt that broke off after it had answered may not have come to this.
            self._compact_if_due(context)
        self._parts.delivery.give_notice(context, profile, claimed, alone=not waiting)
        return [*blocked, *failures]

    def _claim(
        self, context: Context, arrived: Sequence[ReceivedMessage]
    ) -> tuple[Context, list[Waiting], list[Failure]]:
        """Claims in order. A message that cannot be claimed now holds up those behind it, unless this was
        its last attempt or it never will be claimed: then it alone goes to the dead-letter queue.
        """
        claimed: list[Waiting] = []
        failures: list[Failure] = []
        for place, received in enumerate(arrived):
            try:
                result = self._claim_one(context, received)
            except Exception as error:  # noqa: BLE001 - whatever it was, the message goes back to the queue
                self._parts.telemetry.error("claim_failed", error=type(error).__name__)
                failures.append(Failure(received.record, getattr(error, "retry_after", None)))
                hopeless = isinstance(error, PermanentError) or received.record.last_attempt
                if not hopeless:
                    failures.extend(Failure(later.record) for later in arrived[place + 1 :])
                    break
            else:
                context = result.context
                claimed.append(Waiting(received, result.turn, result.new))
                self._parts.telemetry.count("MessageClaimed" if result.new else "MessageRedelivered")
        return context, claimed, failures

    def _claim_one(self, context: Context, received: ReceivedMessage) -> Claimed:
        known = context.message_of(received.event.event_id) is not None
        quote = "" if known else self._parts.intake.quote(context, received)
        return self._parts.claimer.claim(context, received.event, spent=received.spent, quote=quote)

    def _open(self, context: Context, claimed: Sequence[Waiting]) -> list[Waiting]:
        """The turns that still wait for a reply; those that a later reply answered are closed."""
        waiting = []
        for item in claimed:
            if item.turn.state not in ("claimed", "failed"):
                continue
            if context.answered(item.turn.seq):
                self._close([item], "covered", "a later reply answers it")
            elif any(m.seq == item.turn.seq and m.kind == "deleted" for m in context.messages):
                self._close([item], "silent", "deleted by the person")
            else:
                waiting.append(item)
        return waiting

    def _look_up(
        self, conversation: str, profile: AgentProfile, arrived: Sequence[ReceivedMessage]
    ) -> Lookup | None:
        said = "\n".join(received.event.text for received in arrived)
        return self._parts.recaller.begin(conversation, profile, said) if self._parts.recaller else None

    def _answer(
        self,
        context: Context,
        profile: AgentProfile,
        waiting: list[Waiting],
        deadline: Deadline,
        looked_up: Lookup | None = None,
    ) -> list[Failure]:
        lead = waiting[-1]
        said = context.message_of(lead.received.event.event_id)
        if consent.is_stop(said.text if said else lead.received.event.text, profile.stop_words):
            return self._opt_out(context, profile, waiting)
        if self._settled_without_model(context, waiting):
            return []
        if lead.turn.state == "failed" and lead.received.record.receive_count > 1:
            return [Failure(lead.received.record)]
        try:
            if context.summary.opted_out_at is not None:
                self._set_opted_out(context, opted_out=False)
            self._parts.executor.submit(
                self._parts.provider.typing,
                lead.turn.number,
                lead.turn.address,
                lead.received.event.message_id,
            )
            state: list[Future[Summary]] = []
            turn = self._parts.answerer.answer(
                context,
                lead.turn,
                profile,
                deadline,
                before_commit=lambda: state.append(self._parts.delivery.state_of(context)),
                looked_up=looked_up,
            )
        except ModelRefused as error:
            self._parts.telemetry.count("ModelRefused", reason=error.code)
            self._parts.telemetry.error("model_refused", code=error.code)
            self._parts.outbox.say_once(lead.turn, profile.phrases.unavailable)
            if lead.turn.state == "claimed":
                self._parts.ledger.close(lead.turn, "failed", error.code)
            return [Failure(lead.received.record)]
        except Exception as error:  # noqa: BLE001 - whatever it was, the messages are remembered: retry the reply
            return [self._unanswered(lead, profile, error)]
        failure = self._parts.delivery.send_unless_held(context, replace(lead, turn=turn), state)
        self._compact_if_due(context)
        self._parts.activity.note(context.summary)
        return [failure] if failure else []

    def _settled_without_model(self, context: Context, waiting: Sequence[Waiting]) -> bool:
        """Ends turns of which the answer may not be sent, so that none is paid for. The answer to the next
        message takes these messages up, too.
        """
        if self._parts.delivery.paused(context.summary):
            self._close(waiting, "suppressed", "paused")
            self._parts.activity.note(context.summary)
            return True
        if self._parts.outbox.window_closed(context.heard_at(waiting[-1].received.event.sent_at)):
            self._parts.telemetry.count("ProviderRefused", reason="window_closed")
            self._close(waiting, "undelivered", "window_closed")
            return True
        return False

    def _unanswered(self, lead: Waiting, profile: AgentProfile, error: Exception) -> Failure:
        """Only the newest record is handed out again: its retry answers everything that waits, and a
        message behind a failing one keeps its own number of attempts.
        """
        known = isinstance(error, AgentError)
        self._parts.telemetry.count("ReplyFailed", reason=type(error).__name__)
        self._parts.telemetry.warning("reply_failed", error=type(error).__name__, known=known)
        if lead.received.record.last_attempt:
            self._parts.outbox.say_once(lead.turn, profile.phrases.apology)
        return Failure(lead.received.record, getattr(error, "retry_after", None))

    def _opt_out(self, context: Context, profile: AgentProfile, waiting: list[Waiting]) -> list[Failure]:
        """Confirms an opt-out once and keeps silent from then on; a second one is not confirmed again."""
        lead = waiting[-1]
        since = context.summary.opted_out_at
        if since is not None and since < lead.turn.created_at:
            self._close(waiting, "silent", "already opted out")
            return []
        if since is None:
            self._set_opted_out(context, opted_out=True)
        turn = self._parts.answerer.commit(context, lead.turn, profile.phrases.opted_out)
        self._parts.telemetry.count("OptedOut")
        failure = self._parts.delivery.send(context, replace(lead, turn=turn))
        return [failure] if failure else []

    def _set_opted_out(self, context: Context, *, opted_out: bool) -> None:
        self._parts.conversations.set_state(
            context.conversation,
            opted_out_at=self._parts.claimer.now() if opted_out else None,
            paused_until=context.summary.paused_until,
        )

    def _close(self, items: Sequence[Waiting], state: str, reason: str) -> None:
        for item in items:
            self._parts.ledger.close(item.turn, state, reason)  # type: ignore[arg-type]

    def _compact_if_due(self, context: Context) -> None:
        limits = self._settings.limits
        budget = window.budget_for(limits.chars, limits.messages, limits.tokens, context.messages)
        if not window.compaction_due(context.messages, self._settings.compact_at, budget):
            return
        job = CompactionJob(context.conversation, context.summary.through_seq)
        try:
            self._parts.compaction_queue.send(job)
        except TransientError as error:
            # The next turn finds it due again.
            self._parts.telemetry.warning("compaction_not_queued", error=type(error).__name__)
            self._parts.telemetry.count("CompactionNotQueued")
