"""Everything that is waiting for one person, in the order in which it was queued."""

from collections.abc import Sequence
from dataclasses import dataclass

from whatsapp_agent.errors import AgentError, InvalidPayload
from whatsapp_agent.events import Erase, InboundMessage, decode
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.ports.queues import QueueRecord
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.agents import AgentFinder
from whatsapp_agent.turns.control import ControlEvents
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.received import Failure, Received, ReceivedMessage, postponable
from whatsapp_agent.turns.turn import TurnTaker

_Sender = tuple[str, str, str, str]
_Found = tuple[AgentProfile, str]


@dataclass(frozen=True, slots=True)
class _Share:
    conversation: str
    profile: AgentProfile
    messages: list[ReceivedMessage]


class Group:
    """Handles one message group's records: runs of messages as turns, everything else one by one."""

    def __init__(
        self, turns: TurnTaker, control: ControlEvents, agents: AgentFinder, telemetry: Telemetry
    ) -> None:
        self._turns = turns
        self._control = control
        self._agents = agents
        self._telemetry = telemetry

    def handle(self, records: Sequence[QueueRecord], deadline: Deadline) -> list[Failure]:
        """Returns the records that must be handed out again.

        What failed and may succeed later holds up what is behind it; what failed for the last time, or can
        never be read, does not: it goes to the dead-letter queue alone. What is behind an erasure goes back
        for seconds: when this invocation breaks off, the queue hands the erasure out again, and it must not
        find new talk that it would erase.
        """
        failures: list[Failure] = []
        waiting = self._decode(records, failures)
        while waiting:
            run = _leading_messages(waiting)
            failed = self._take(run, deadline) if run else self._control.handle(waiting[0])
            erased = not run and isinstance(waiting[0].event, Erase)
            waiting = waiting[len(run) or 1 :]
            failures.extend(failed)
            if any(not failure.record.last_attempt for failure in failed) or (erased and postponable(waiting)):
                failures.extend(Failure(received.record) for received in waiting)
                break
        return failures

    def _decode(self, records: Sequence[QueueRecord], failures: list[Failure]) -> list[Received]:
        received = []
        for record in records:
            try:
                received.append(Received(record, decode(record.body)))
            except InvalidPayload:
                self._telemetry.count("UnreadableRecord")
                self._telemetry.error("record_unreadable")
                failures.append(Failure(record))
        return received

    def _take(self, run: list[ReceivedMessage], deadline: Deadline) -> list[Failure]:
        """One turn per conversation: a person may have written to two agents at once."""
        try:
            return self._take_together(run, deadline)
        except AgentError as error:
            self._telemetry.warning("turn_failed", error=type(error).__name__)
            retry_after = getattr(error, "retry_after", None)
            return [Failure(received.record, retry_after) for received in run]
        except Exception as error:  # noqa: BLE001 - one message's defect must not take the others with it
            self._telemetry.error("turn_failed", error=type(error).__name__)
            return self._one_by_one(run, deadline) if len(run) > 1 else [Failure(run[0].record)]

    def _take_together(self, run: list[ReceivedMessage], deadline: Deadline) -> list[Failure]:
        failures: list[Failure] = []
        for share in self._by_conversation(run):
            failures.extend(self._turns.take(share.conversation, share.profile, share.messages, deadline))
        return failures

    def _one_by_one(self, run: list[ReceivedMessage], deadline: Deadline) -> list[Failure]:
        """Finds out which message it was. Those before it are not asked for again; those behind it wait for
        it until its last attempt.
        """
        failures: list[Failure] = []
        for place, received in enumerate(run):
            failed = self._take([received], deadline)
            failures.extend(failed)
            if any(not failure.record.last_attempt for failure in failed):
                failures.extend(Failure(later.record) for later in run[place + 1 :])
                break
        return failures

    def _by_conversation(self, run: list[ReceivedMessage]) -> list[_Share]:
        shares: dict[str, _Share] = {}
        known: dict[_Sender, _Found | None] = {}
        for received in run:
            sender = _sender(received.event)
            if sender not in known:
                known[sender] = self._same_for_all(
                    [each.event for each in run if _sender(each.event) == sender]
                )
            profile, person = known[sender] or self._find(received.event)
            key = conversation_key(profile.agent_id, person)
            shares.setdefault(key, _Share(key, profile, [])).messages.append(received)
        return list(shares.values())

    def _same_for_all(self, events: list[InboundMessage]) -> _Found | None:
        """Whom these messages of one sender are for, where that is the same for all: an address passes from one
        person to another at one moment, so what holds for the earliest and the latest holds between them.
        """
        earliest = min(events, key=lambda event: event.sent_at)
        latest = max(events, key=lambda event: event.sent_at)
        found = self._find(earliest)
        return found if latest.sent_at == earliest.sent_at or self._find(latest) == found else None

    def _find(self, event: InboundMessage) -> _Found:
        return self._agents.find(
            event.number, event.person, label=event.label, alias=event.alias, sent_at=event.sent_at
        )


def _sender(event: InboundMessage) -> _Sender:
    return event.number, event.person, event.label, event.alias


def _leading_messages(waiting: Sequence[Received]) -> list[ReceivedMessage]:
    run = []
    for received in waiting:
        if not isinstance(received.event, InboundMessage):
            break
        run.append(ReceivedMessage(received.record, received.event))
    return run
