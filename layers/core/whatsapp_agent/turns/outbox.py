"""Sends what is written down, part by part, and writes down that each part was taken."""

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import RecipientOptedOut, SendRejected
from whatsapp_agent.events import OutboundMessage
from whatsapp_agent.ledger import Turn
from whatsapp_agent.ports import ConversationStore, Ledger, Provider
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
    ) -> None:
        self._provider = provider
        self._ledger = ledger
        self._conversations = conversations
        self._telemetry = telemetry
        self._now = now

    def send(self, turn: Turn) -> Turn:
        """Sends every part that is not marked sent, in order; returns the turn in its last state.

        Raises:
            TransientError: The provider or the store is not available: the next attempt goes on at the
                first part that is not marked sent.
            SendRejected: The provider refuses this deployment (`OURS_TO_FIX`), not this message.
            TurnMoved: The turn was erased or finished by somebody else.
        """
        while turn.state == "replied":
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
        try:
            self._provider.send(
                OutboundMessage(turn.number, turn.address, text, idempotency_key=f"{turn.event_id}-apology")
            )
        except SendRejected as error:
            self._telemetry.count("ProviderRefused", reason=error.code)
        self._telemetry.count("Apologised")

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
