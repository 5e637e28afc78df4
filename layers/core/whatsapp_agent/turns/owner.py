"""The owner of a number answered by hand: that is remembered, and the agent keeps quiet for a while."""

from whatsapp_agent.clock import Clock
from whatsapp_agent.events import InboundMessage, OwnerMessage
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.ports.store import ConversationStore
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.agents import AgentFinder
from whatsapp_agent.turns.claim import NOT_ANSWERED, Claimer
from whatsapp_agent.turns.context import ContextReader


class OwnerMessages:
    """Handles what the owner wrote. May be done twice with the same result."""

    def __init__(
        self,
        *,
        agents: AgentFinder,
        reader: ContextReader,
        claimer: Claimer,
        conversations: ConversationStore,
        telemetry: Telemetry,
        now: Clock,
    ) -> None:
        self._agents = agents
        self._reader = reader
        self._claimer = claimer
        self._conversations = conversations
        self._telemetry = telemetry
        self._now = now

    def remember(self, event: OwnerMessage) -> None:
        """Pauses the agent, then remembers the message under the role `owner`.

        The pause counts from when the owner wrote, so that an old message that comes late pauses nobody, and
        never shortens a pause that an operator has set.
        """
        profile, person = self._agents.find(event.number, event.person, label=event.label)
        conversation = conversation_key(profile.agent_id, person)
        context = self._reader.read(conversation)
        if context.forgotten(event.sent_at, event.received_at):
            self._telemetry.count("DroppedByErasure")
            return
        until, paused = event.sent_at + profile.pause, context.summary.paused_until
        if event.kind not in NOT_ANSWERED and until > self._now() and (paused is None or until > paused):
            self._conversations.set_state(
                conversation, opted_out_at=context.summary.opted_out_at, paused_until=until
            )
        said = InboundMessage(
            event_id=event.event_id,
            person=event.person,
            address=event.address,
            number=event.number,
            message_id=event.message_id,
            kind=event.kind,
            text=event.text,
            sent_at=event.sent_at,
            received_at=event.received_at,
            target_id=event.target_id,
        )
        claimed = self._claimer.claim(context, said, spent=context.spent, role="owner")
        self._telemetry.count("OwnerMessage" if claimed.new else "MessageRedelivered")
