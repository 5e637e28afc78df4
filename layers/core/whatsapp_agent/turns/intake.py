"""What happens to messages before they are remembered: limits, media to text, quotes."""

from collections.abc import Sequence
from dataclasses import replace

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import ModelUnavailable, TransientError
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.memory import allowance, consent
from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.ports.store import Ledger
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns import media_notes
from whatsapp_agent.turns.claim import NOT_ANSWERED
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.received import Failure, ReceivedMessage
from whatsapp_agent.turns.to_text import READ, ToText

QUOTABLE_REPLIES = 10
"""How many of the agent's newest replies are looked through for the one that a person quotes."""

QUOTE_CHARACTERS = 300


class Intake:
    """Makes arrived messages ready to be claimed. Writes nothing."""

    def __init__(self, ledger: Ledger, to_text: ToText, telemetry: Telemetry, now: Clock) -> None:
        self._ledger = ledger
        self._to_text = to_text
        self._telemetry = telemetry
        self._now = now

    def admit(
        self, context: Context, profile: AgentProfile, arrived: Sequence[ReceivedMessage], deadline: Deadline
    ) -> tuple[list[ReceivedMessage], list[Failure]]:
        """The messages as text, each with its account; and the records that must be handed out again
        because a medium could not be read yet: those, and what is behind them.
        """
        counted = self._counted(context, profile, arrived)
        reading = self._unread(context, counted)
        admitted: list[ReceivedMessage] = []
        more = 0
        for place, (message, outcome) in enumerate(
            zip(counted, self._read(counted, reading, profile, deadline), strict=True)
        ):
            if isinstance(outcome, TransientError):
                failures = [Failure(message.record, outcome.retry_after)]
                return admitted, failures + [Failure(later.record) for later in counted[place + 1 :]]
            # What was heard or read counts as written, from this message on.
            more += len(outcome.text) - len(message.event.text)
            spent = replace(message.spent, characters=message.spent.characters + more)
            admitted.append(replace(message, event=outcome, spent=spent))
        return admitted, []

    def quote(self, context: Context, message: ReceivedMessage) -> str:
        """The words that the message quotes, where they are still remembered as they were said."""
        wanted = message.event.reply_to
        if not wanted:
            return ""
        if (heard := context.message_named(wanted)) is not None:
            return clean(heard.text)[:QUOTE_CHARACTERS]
        replies = [said for said in context.messages if said.role == "assistant"][-QUOTABLE_REPLIES:]
        turns = self._ledger.turns_of(context.conversation, [said.event_id for said in replies])
        parts = {
            provider_id: part
            for turn in turns
            for provider_id, part in zip(turn.provider_ids, turn.parts, strict=False)
        }
        return clean(parts.get(wanted, ""))[:QUOTE_CHARACTERS]

    def _counted(
        self, context: Context, profile: AgentProfile, arrived: Sequence[ReceivedMessage]
    ) -> list[ReceivedMessage]:
        """The messages with their accounts. A limiter that fails silences nobody: it is counted, and the
        message passes.
        """
        spent, counted = context.spent, []
        for message in arrived:
            event = message.event
            if (known := context.message_of(event.event_id)) is not None or event.kind in NOT_ANSWERED:
                counted.append(replace(message, spent=known.spent if known else spent))
                continue
            try:
                after = self._account(profile, spent, message)
            except Exception as error:  # noqa: BLE001 - the rule of this method
                self._telemetry.count("LimiterFailed")
                self._telemetry.error("limiter_failed", error=type(error).__name__)
                after = spent
            notice = after.noticed and not allowance.within(spent, self._now()).noticed
            if after.over:
                self._telemetry.count("Limited", reason=after.over)
            counted.append(replace(message, spent=after, notice=notice))
            spent = after
        return counted

    def _account(self, profile: AgentProfile, spent: Spent, message: ReceivedMessage) -> Spent:
        now, event = self._now(), message.event
        after = allowance.heard(
            spent,
            profile.limits,
            now,
            sent_at=event.sent_at,
            characters=len(event.text),
            media=int(event.kind in READ),
        )
        # Nobody may be kept from asking for silence.
        stops = consent.is_stop(event.text, profile.stop_words)
        return replace(after, over="", noticed=spent.noticed) if stops else after

    def _unread(self, context: Context, messages: Sequence[ReceivedMessage]) -> set[str]:
        """Events whose media are to be read now: not those that an earlier delivery has claimed, because
        that was paid for, and not those beyond a limit.
        """
        media = {
            message.event.event_id
            for message in messages
            if message.event.kind in READ and context.message_of(message.event.event_id) is None
        }
        known = self._ledger.turns_of(context.conversation, sorted(media)) if media else []
        return media - {turn.event_id for turn in known}

    def _read(
        self,
        messages: Sequence[ReceivedMessage],
        reading: set[str],
        profile: AgentProfile,
        deadline: Deadline,
    ) -> list[InboundMessage | TransientError]:
        plain = [_plain(message, reading) for message in messages]
        wanted = [message for message, event in zip(messages, plain, strict=True) if event is None]
        if not wanted:
            return [event for event in plain if event is not None]
        try:
            read = iter(self._to_text.read(wanted, profile, deadline.for_media()))
        except ModelUnavailable as error:
            read = iter([error] * len(wanted))
        return [next(read) if event is None else event for event in plain]


def _plain(message: ReceivedMessage, reading: set[str]) -> InboundMessage | None:
    """The event where nothing is to be fetched for it, else None."""
    event = message.event
    if event.kind == "video":
        return replace(event, text=media_notes.unseen_video(event))
    if event.event_id not in reading:
        return event
    return replace(event, text=media_notes.unread(event, "over_limit")) if message.spent.over else None
