"""Forgets a person: first the tombstone, so that nothing that is still on its way is written back."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from whatsapp_agent.clock import Clock, new_id
from whatsapp_agent.events import Erase
from whatsapp_agent.memory.records import CompactionJob, conversation_key, split_conversation
from whatsapp_agent.phones import canonical
from whatsapp_agent.ports.directory import Directory
from whatsapp_agent.ports.privacy import DeadLetters
from whatsapp_agent.ports.queues import CompactionQueue, TurnQueue
from whatsapp_agent.ports.recall import RecallStore
from whatsapp_agent.ports.store import ConversationStore, FactStore
from whatsapp_agent.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class ErasureParts:
    """Everywhere that something of a person can be.

    Attributes:
        agents: The ids of every agent: a person's other addresses go when no agent remembers them any more.
    """

    conversations: ConversationStore
    facts: FactStore
    recall: RecallStore
    directory: Directory
    dead_letters: DeadLetters
    compaction_queue: CompactionQueue
    agents: Sequence[str] = ()


class Erasure:
    """Deletes everything that is kept about a conversation. Runs in the person's own queue group."""

    def __init__(self, parts: ErasureParts, telemetry: Telemetry, now: Clock) -> None:
        self._parts = parts
        self._telemetry = telemetry
        self._now = now

    def erase(self, conversation: str, asked_at: datetime | None = None, address: str = "") -> None:
        """Records the erasure, then deletes. Safe to repeat; a run that breaks off is finished by the next.

        What the person says after `asked_at` (by default: from now on) is a new conversation and stays, also
        where it is queued already. Messages go first: a compaction in flight checks that they still exist
        before it writes. What compactions keep outside of that transaction is deleted again by a job that
        waits behind the one in flight. `address` is where the person wrote from: it can be one that the
        directory does not list, a phone number that was somebody else's before.

        Raises:
            TransientError: Something could not be reached; the rest is still there.
        """
        parts, now = self._parts, self._now()
        erased_at = min(asked_at or now, now)
        agent, person = split_conversation(conversation)
        # Under another address there is what was said before it led to the person.
        addresses = (person, *parts.directory.aliases(person))
        kept = {each: conversation_key(agent, each) for each in addresses}
        for each in kept.values():
            parts.directory.record_erasure(each, erased_at)
        items = 0
        for whose, each in kept.items():
            items += parts.conversations.erase(each)
            items += parts.facts.erase(each)
            items += parts.recall.erase(each)
            parts.compaction_queue.send(CompactionJob(each, 0, erased_at))
            items += parts.dead_letters.drop(whose, each, erased_at)
        if address and address not in kept:
            items += parts.dead_letters.drop(address, conversation, erased_at)
        if not self._remembered_elsewhere(agent, kept):
            items += parts.directory.forget_person(person)
        self._telemetry.count("Erased")
        self._telemetry.info("person_erased", items=items)

    def _remembered_elsewhere(self, agent: str, addresses: Iterable[str]) -> bool:
        others = [
            conversation_key(other, address)
            for other in self._parts.agents
            if other != agent
            for address in addresses
        ]
        return any(
            self._parts.conversations.newest_messages(other, 1)
            or self._parts.conversations.summary(other).version
            or self._parts.facts.facts(other)
            for other in others
        )


class ErasureRequest:
    """Puts an erasure behind everything that is already queued for the person."""

    def __init__(self, queue: TurnQueue, default_agent: str, now: Clock) -> None:
        self._queue = queue
        self._default_agent = default_agent
        self._now = now

    def handle(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Queues the erasure of `{"person": phone or user id, "agent": optional}`.

        Returns:
            `{"queued": true, "id": …}`; where the request is wrong, `{"queued": false, "error": …}`.

        Raises:
            QueueUnavailable: It was not queued: ask again.
        """
        person, agent = request.get("person"), request.get("agent", self._default_agent)
        if not isinstance(person, str) or not isinstance(agent, str) or not agent:
            return {"queued": False, "error": 'expected {"person": "phone or user id", "agent": "optional"}'}
        try:
            key = canonical(person)
        except ValueError as error:
            return {"queued": False, "error": f"person: {error}"}
        event = Erase(new_id("erase"), agent=agent, person=key, received_at=self._now())
        self._queue.send([event])
        return {"queued": True, "id": event.event_id}
