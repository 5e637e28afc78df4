"""Forgets a person: first the tombstone, so that nothing that is still on its way is written back."""

from collections.abc import Mapping
from typing import Any

from whatsapp_agent.clock import Clock, new_id
from whatsapp_agent.events import Erase
from whatsapp_agent.phones import canonical
from whatsapp_agent.ports import ConversationStore, Directory, FactStore, TurnQueue
from whatsapp_agent.telemetry import Telemetry


class Erasure:
    """Deletes everything that is kept about a conversation. Runs in the person's own queue group."""

    def __init__(
        self,
        conversations: ConversationStore,
        facts: FactStore,
        directory: Directory,
        telemetry: Telemetry,
        now: Clock,
    ) -> None:
        self._conversations = conversations
        self._facts = facts
        self._directory = directory
        self._telemetry = telemetry
        self._now = now

    def erase(self, conversation: str) -> None:
        """Records the erasure, then deletes. Safe to repeat; a run that breaks off is finished by the next.

        Messages go first: a compaction in flight checks that they still exist before it writes facts.
        """
        self._directory.record_erasure(conversation, self._now())
        items = self._conversations.erase(conversation)
        items += self._facts.erase(conversation)
        self._telemetry.count("Erased")
        self._telemetry.info("person_erased", items=items)


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
            return {"queued": False, "error": 'expected {"person": "+34600111222", "agent": "optional"}'}
        try:
            key = canonical(person)
        except ValueError as error:
            return {"queued": False, "error": f"person: {error}"}
        event = Erase(new_id("erase"), agent=agent, person=key, received_at=self._now())
        self._queue.send([event])
        return {"queued": True, "id": event.event_id}
