"""One turn: claim what arrived, answer it once, send the answer."""

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace

from whatsapp_agent.errors import AgentError, ModelRefused, PermanentError, TransientError
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory import consent, window
from whatsapp_agent.memory.records import AgentProfile, CompactionJob
from whatsapp_agent.ports import CompactionQueue, ConversationStore, Ledger, Provider
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.answer import Answerer, ContextLimits
from whatsapp_agent.turns.claim import Claimer
from whatsapp_agent.turns.context import Context, ContextReader
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.outbox import Outbox
from whatsapp_agent.turns.received import Failure, ReceivedMessage


@dataclass(frozen=True, slots=True)
class _Waiting:
    received: ReceivedMessage
    turn: Turn


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """When compaction is due, how much the model sees, and what an opt-out does to memory."""

    limits: ContextLimits
    compact_at: int
    forget_on_opt_out: bool = False


@dataclass(frozen=True, slots=True)
class TurnParts:
    """What a turn works with."""

    reader: ContextReader
    claimer: Claimer
    answerer: Answerer
    outbox: Outbox
    ledger: Ledger
    conversations: ConversationStore
    compaction_queue: CompactionQueue
    provider: Provider
    telemetry: Telemetry
    executor: Executor
    forget: Callable[[str], None]


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
        context = self._parts.reader.read(conversation)
        current = [
            received
            for received in arrived
            if context.erased_at is None or received.event.received_at > context.erased_at
        ]
        self._parts.telemetry.count("DroppedByErasure", len(arrived) - len(current))
        context, claimed, failures = self._claim(context, current)
        blocked = self._send_committed(claimed)
        if blocked and not blocked[0].record.last_attempt:
            return [
                *blocked,
                *(Failure(item.received.record) for item in self._open(context, claimed)),
                *failures,
            ]
        waiting = self._open(context, claimed)
        if waiting:
            failures = [*self._answer(context, profile, waiting, deadline), *failures]
        elif claimed:
            self._finish_opt_out(context, claimed[-1])
        return [*blocked, *failures]

    def _claim(
        self, context: Context, arrived: Sequence[ReceivedMessage]
    ) -> tuple[Context, list[_Waiting], list[Failure]]:
        """Claims in order. A message that cannot be claimed now holds up those behind it, unless this was
        its last attempt or it never will be claimed: then it alone goes to the dead-letter queue.
        """
        claimed: list[_Waiting] = []
        failures: list[Failure] = []
        for place, received in enumerate(arrived):
            try:
                result = self._parts.claimer.claim(context, received.event)
            except Exception as error:  # noqa: BLE001 - whatever it was, the message goes back to the queue
                self._parts.telemetry.error("claim_failed", error=type(error).__name__)
                failures.append(Failure(received.record, getattr(error, "retry_after", None)))
                hopeless = isinstance(error, PermanentError) or received.record.last_attempt
                if not hopeless:
                    failures.extend(Failure(later.record) for later in arrived[place + 1 :])
                    break
            else:
                context = result.context
                claimed.append(_Waiting(received, result.turn))
                self._parts.telemetry.count("MessageClaimed" if result.new else "MessageRedelivered")
        return context, claimed, failures

    def _send_committed(self, claimed: list[_Waiting]) -> list[Failure]:
        """Finishes the replies that an earlier attempt wrote down; stops at the first that cannot be sent."""
        for item in claimed:
            if item.turn.state == "replied":
                failure = self._send(item)
                if failure is not None:
                    return [failure]
        return []

    def _open(self, context: Context, claimed: Sequence[_Waiting]) -> list[_Waiting]:
        """The turns that still wait for a reply; those that a later reply answered are closed."""
        waiting = []
        for item in claimed:
            if item.turn.state not in ("claimed", "failed"):
                continue
            if context.answered(item.turn.seq):
                self._close([item], "covered", "a later reply answers it")
            else:
                waiting.append(item)
        return waiting

    def _answer(
        self, context: Context, profile: AgentProfile, waiting: list[_Waiting], deadline: Deadline
    ) -> list[Failure]:
        lead = waiting[-1]
        if self._paused(context):
            self._close(waiting, "suppressed", "paused")
            return []
        if consent.is_stop(lead.received.event.text, profile.stop_words):
            return self._opt_out(context, profile, waiting)
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
            turn = self._parts.answerer.answer(context, lead.turn, profile, deadline)
        except ModelRefused as error:
            self._parts.telemetry.count("ModelRefused", reason=error.code)
            self._parts.telemetry.error("model_refused", code=error.code)
            self._parts.outbox.say_once(lead.turn, profile.phrases.unavailable)
            if lead.turn.state == "claimed":
                self._parts.ledger.close(lead.turn, "failed", error.code)
            return [Failure(lead.received.record)]
        except Exception as error:  # noqa: BLE001 - whatever it was, the messages are remembered: retry the reply
            return [self._unanswered(lead, profile, error)]
        failure = self._send(replace(lead, turn=turn))
        self._compact_if_due(context)
        return [failure] if failure else []

    def _unanswered(self, lead: _Waiting, profile: AgentProfile, error: Exception) -> Failure:
        """Only the newest record is handed out again: its retry answers everything that waits, and a
        message behind a failing one keeps its own number of attempts.
        """
        known = isinstance(error, AgentError)
        self._parts.telemetry.count("ReplyFailed", reason=type(error).__name__)
        self._parts.telemetry.warning("reply_failed", error=type(error).__name__, known=known)
        if lead.received.record.last_attempt:
            self._parts.outbox.say_once(lead.turn, profile.phrases.apology)
        return Failure(lead.received.record, getattr(error, "retry_after", None))

    def _send(self, item: _Waiting) -> Failure | None:
        try:
            turn = self._parts.outbox.send(item.turn)
        except AgentError as error:
            self._parts.telemetry.warning("sending_failed", error=type(error).__name__)
            return Failure(item.received.record, getattr(error, "retry_after", None))
        self._parts.telemetry.count("Turn", state=turn.state)
        return None

    def _opt_out(self, context: Context, profile: AgentProfile, waiting: list[_Waiting]) -> list[Failure]:
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
        failure = self._send(replace(lead, turn=turn))
        if failure is None:
            self._finish_opt_out(context, lead)
        return [failure] if failure else []

    def _finish_opt_out(self, context: Context, last: _Waiting) -> None:
        text = last.received.event.text
        if self._settings.forget_on_opt_out and consent.is_stop(text) and last.turn.state != "silent":
            self._parts.forget(context.conversation)

    def _set_opted_out(self, context: Context, *, opted_out: bool) -> None:
        self._parts.conversations.set_state(
            context.conversation,
            opted_out_at=self._parts.claimer.now() if opted_out else None,
            paused_until=context.summary.paused_until,
        )

    def _paused(self, context: Context) -> bool:
        until = context.summary.paused_until
        return until is not None and until > self._parts.claimer.now()

    def _close(self, items: Sequence[_Waiting], state: str, reason: str) -> None:
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
