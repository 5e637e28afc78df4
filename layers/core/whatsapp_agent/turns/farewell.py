"""A person asks to be forgotten: with an agent's erase words, or with STOP where opting out forgets too."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from whatsapp_agent.errors import AgentError
from whatsapp_agent.events import InboundMessage, OutboundMessage
from whatsapp_agent.memory import consent
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.context import sent_before
from whatsapp_agent.turns.outbox import Outbox
from whatsapp_agent.turns.received import Failure, ReceivedMessage, postponable

_JUST_BEFORE = timedelta(milliseconds=1)


class Farewell:
    """Erases first and confirms then, so that the confirmation is true.

    Neither leaves a turn behind. A second delivery of the message erases what is gone already and confirms
    under the same idempotency key. The person's group of the queue keeps everything that they write
    afterwards behind it.

    Args:
        forget: Erases a conversation; messages that arrived until the given moment are dropped from then on,
            also those that wait under the given address.
        erased_at: When a conversation was last erased.
    """

    def __init__(
        self,
        forget: Callable[[str, datetime, str], None],
        outbox: Outbox,
        telemetry: Telemetry,
        *,
        erased_at: Callable[[str], datetime | None],
        forget_on_opt_out: bool = False,
    ) -> None:
        self._erased_at = erased_at
        self._forget = forget
        self._outbox = outbox
        self._telemetry = telemetry
        self._forget_on_opt_out = forget_on_opt_out

    def take(
        self, conversation: str, profile: AgentProfile, arrived: Sequence[ReceivedMessage]
    ) -> tuple[list[ReceivedMessage], list[Failure]]:
        """Carries out the newest wish to be forgotten among the messages.

        Returns:
            What is to be handled now, and the records that go back to the queue. Without a wish, every
            message. With one, the messages after it go back for seconds: they begin a new conversation, which
            the same wish, handed out again because this invocation broke off, must not find. Where one of them
            is on its last attempt they are handled now. Where the erasure could not be finished, the records
            from the wish on go back.
        """
        places = [
            place for place, message in enumerate(arrived) if self._phrase(profile, message.event) is not None
        ]
        if not places:
            return list(arrived), []
        last = places[-1]
        try:
            self._carry_out(conversation, profile, arrived[last].event)
        except AgentError as error:
            self._telemetry.warning("farewell_failed", error=type(error).__name__)
            retry_after = getattr(error, "retry_after", None)
            return [], [Failure(message.record, retry_after) for message in arrived[last:]]
        behind = arrived[last + 1 :]
        if postponable(behind):
            return [], [Failure(message.record) for message in behind]
        return list(behind), []

    def _carry_out(self, conversation: str, profile: AgentProfile, event: InboundMessage) -> None:
        done = self._erased_at(conversation)
        # One that this very delivery began is gone on with: its confirmation may still be owed.
        asked = None if done is None else done + _JUST_BEFORE
        if asked != event.received_at and sent_before(asked, event.sent_at, event.received_at):
            self._telemetry.count("DroppedByErasure")
            return
        # Not later than the message itself: what the person writes right after it is new talk.
        self._forget(conversation, event.received_at - _JUST_BEFORE, event.person)
        self._telemetry.count("AskedToBeForgotten")
        text = self._phrase(profile, event) or profile.phrases.erased
        key = f"{event.event_id}-farewell"
        self._outbox.say(OutboundMessage(event.number, event.address, text, idempotency_key=key))

    def _phrase(self, profile: AgentProfile, event: InboundMessage) -> str | None:
        """What confirms the wish; None where the message is no such wish."""
        if event.kind in ("edited", "reaction", "deleted"):
            return None
        if consent.is_exactly(event.text, profile.erase_words):
            return profile.phrases.erased
        if self._forget_on_opt_out and consent.is_stop(event.text, profile.stop_words):
            return profile.phrases.opted_out
        return None
