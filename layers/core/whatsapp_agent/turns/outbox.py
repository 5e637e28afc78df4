"""Sends what is written down, part by part, and writes down that each part was taken."""

from datetime import datetime, timedelta

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import RecipientOptedOut, SendRejected, WindowClosed
from whatsapp_agent.events import OutboundMessage
from whatsapp_agent.ledger import Turn
from whatsapp_agent.ports.provider import Provider
from whatsapp_agent.ports.store import ConversationStore, Ledger
from whatsapp_agent.telemetry import Telemetry

OURS_TO_FIX = frozenset({"unauthorized"})
"""Refusals that say nothing about the message: after the operator's fix the same part will be taken."""


class Outbox:
    """Sends the parts of a committed reply.

    The provider gets the same idempotency key for the same part each time, so a part that it took just
    before this process died is not shown twice where the provider honours keys.
    """

    def __init__(
        self,
        provider: Provider,
        ledger: Ledger,
        conversations: ConversationStore,
        telemetry: Telemetry,
        now: Clock,
        *,
        window: timedelta | None = None,
    ) -> None:
        self._provider = provider
        self._ledger = ledger
        self._conversations = conversations
        self._telemetry = telemetry
        self._now = now
        self._window = window

    def window_closed(self, heard_at: datetime) -> bool:
        """Whether the provider takes no free text any more for a person who wrote last at `heard_at`."""
        return self._window is not None and self._now() - heard_at >= self._window

    def send(self, turn: Turn, heard_at: datetime) -> Turn:
        """Sends every part that is not marked sent, in order; returns the turn in its last state.

        Whether the provider's window is still open is judged before each part: a reply may have waited in a
        queue for longer than the window lasts.

        Raises:
            TransientError: The provider or the store is not available: the next attempt goes on at the
                first part that is not marked sent.
            SendRejected: The provider refuses this deployment (`OURS_TO_FIX`), not this message.
            TurnMoved: The turn was erased or finished by somebody else.
        """
        while turn.state == "replied":
            if self.window_closed(heard_at):
                return self._refused(turn, WindowClosed("the person wrote too long ago", code="window_closed"))
            part = OutboundMessage(
                number=turn.number,
                address=turn.address,
                text=turn.parts[turn.sent],
                idempotency_key=f"{turn.event_id}-{turn.sent}",
            )
            try:
                provider_id = self._provider.send(part)
            except SendRejected as error:
                return self._refused(turn, error)
            turn = self._ledger.mark_sent(turn, provider_id)
        return turn

    def say_once(self, turn: Turn, text: str) -> None:
        """Tells the person that the answer is late, at most once per turn; a refusal is only counted."""
        if self._ledger.apologise(turn) is None:
            return
        self.say(OutboundMessage(turn.number, turn.address, text, idempotency_key=f"{turn.event_id}-apology"))
        self._telemetry.count("Apologised")

    def say(self, message: OutboundMessage) -> None:
        """Sends a fixed phrase that the ledger does not hold; a refusal is only counted.

        Raises:
            ProviderUnavailable: Try again, with the same idempotency key.
        """
        try:
            self._provider.send(message)
        except SendRejected as error:
            self._telemetry.count("ProviderRefused", reason=error.code)

    def _refused(self, turn: Turn, error: SendRejected) -> Turn:
        if isinstance(error, RecipientOptedOut):
            # The person's wish, and nothing for an operator to look at.
            self._telemetry.count("RecipientOptedOut")
            summary = self._conversations.summary(turn.conversation)
            self._conversations.set_state(
                turn.conversation, opted_out_at=self._now(), paused_until=summary.paused_until
            )
            return self._ledger.close(turn, "suppressed", error.code)
        self._telemetry.count("ProviderRefused", reason=error.code)
        self._telemetry.error("reply_refused_by_provider", code=error.code)
        if error.code in OURS_TO_FIX:
            raise error
        return self._ledger.close(turn, "undelivered", error.code)
