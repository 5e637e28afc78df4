"""Events that are no talk: numbers, opt-outs, delivery failures, erasures."""

from collections.abc import Callable
from datetime import datetime

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import AgentError, TurnMoved
from whatsapp_agent.events import (
    DeliveryStatus,
    Erase,
    Event,
    NumberReplaced,
    OptOut,
    OwnerMessage,
    PersonChangedNumber,
)
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.ports.directory import Directory
from whatsapp_agent.ports.store import ConversationStore, Ledger
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.agents import AgentFinder
from whatsapp_agent.turns.owner import OwnerMessages
from whatsapp_agent.turns.received import Failure, Received


class ControlEvents:
    """Handles every event that is not a message. Each may be handled twice with the same result."""

    def __init__(
        self,
        *,
        directory: Directory,
        conversations: ConversationStore,
        ledger: Ledger,
        agents: AgentFinder,
        owner: OwnerMessages,
        erase: Callable[[str, datetime, str], None],
        telemetry: Telemetry,
        now: Clock,
    ) -> None:
        self._directory = directory
        self._conversations = conversations
        self._ledger = ledger
        self._agents = agents
        self._owner = owner
        self._erase = erase
        self._telemetry = telemetry
        self._now = now

    def handle(self, received: Received) -> list[Failure]:
        """Returns the record when it must be handed out again, else nothing."""
        try:
            self._handle(received.event)
        except AgentError as error:
            self._telemetry.warning("control_event_failed", error=type(error).__name__)
            return [Failure(received.record, getattr(error, "retry_after", None))]
        except Exception as error:  # noqa: BLE001 - it must not take the records behind it with it
            self._telemetry.error("control_event_failed", error=type(error).__name__)
            return [Failure(received.record)]
        self._telemetry.count("ControlEvent", kind=received.event.kind_name)
        return []

    def _handle(self, event: Event) -> None:
        match event:
            case NumberReplaced():
                self._replace(event)
            case OwnerMessage():
                self._owner.remember(event)
            case PersonChangedNumber():
                _, person = self._agents.find(event.number, event.person)
                self._directory.alias_person(event.new_person, person)
            case OptOut():
                conversation = self._conversation(event.number, event.person)
                summary = self._conversations.summary(conversation)
                self._conversations.set_state(
                    conversation, opted_out_at=self._now(), paused_until=summary.paused_until
                )
            case DeliveryStatus():
                self._record_failure(event)
            case Erase():
                person = self._directory.resolve("", event.person).person
                self._erase(conversation_key(event.agent, person), event.received_at, event.person)

    def _replace(self, event: NumberReplaced) -> None:
        """Lets the new number inherit the agent, also where the old one has it from the agent's file."""
        claimed = self._agents.claimed(event.old_number)
        if claimed is not None:
            self._directory.assign_number(event.old_number, claimed.agent_id)
        self._directory.replace_number(event.old_number, event.new_number, event.label, event.received_at)

    def _conversation(self, number: str, person: str) -> str:
        profile, person = self._agents.find(number, person)
        return conversation_key(profile.agent_id, person)

    def _record_failure(self, event: DeliveryStatus) -> None:
        self._telemetry.count("DeliveryFailed", code=event.code)
        conversation = self._conversation(event.number, event.person)
        turn = self._ledger.find_by_provider_id(conversation, event.message_id)
        if turn is None or turn.state == "undelivered":
            return
        try:
            self._ledger.close(turn, "undelivered", event.code)
        except TurnMoved:
            self._telemetry.info("delivery_failure_of_a_turn_that_moved")
