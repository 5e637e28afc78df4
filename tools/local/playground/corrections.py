"""What an operator does about a person from the page: correct facts, export, erase."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tools.local.errors import LocalError
from tools.local.playground.room import Room
from tools.local.playground.stage import Stage
from tools.operate.export import document_of
from tools.operate.people import transcript_of
from tools.operate.session import Session
from whatsapp_agent.errors import FactMoved, FactRefused
from whatsapp_agent.memory import corrections
from whatsapp_agent.memory.records import Fact, FactUpdate, split_conversation

_ATTEMPTS = 3


class Corrections:
    """Changes what is remembered, by the rules of `operate`."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._deployment = stage.connection.deployment

    def set_fact(self, room: Room, key: str, value: str, old: str = "") -> None:
        """Writes a fact; in a list the value `old`, if given, makes room for it.

        Raises:
            LocalError: The fact cannot be kept; the message says why.
        """
        keys, now = self._stage.connection.profile.fact_keys, self._deployment.now
        if old and keys.get(key) is not None and keys[key].kind == "list":
            self.remove_fact(room, key, old)
        self._write(
            room, lambda facts: corrections.set_by_operator(facts, keys, room.conversation, key, value, now())
        )

    def remove_fact(self, room: Room, key: str, value: str) -> None:
        """Takes a fact away; it stays in the history.

        Raises:
            LocalError: There is no such fact.
        """
        now = self._deployment.now
        self._write(room, lambda facts: corrections.remove_by_operator(facts, key, now(), value))

    def erase(self, room: Room) -> None:
        """Asks the erase function to forget the person.

        Raises:
            LocalError: It did not take the request.
        """
        agent, person = split_conversation(room.conversation)
        answer = self._deployment.erase(person, agent)
        if not answer.get("queued"):
            raise LocalError("the erase function did not take the request")
        self._stage.wake()

    def export(self, room: Room) -> Mapping[str, Any]:
        """Everything known about the person, as `operate export` writes it."""
        lines = transcript_of(Session(lambda _options: self._deployment), room.conversation)
        return document_of(self._deployment, room.conversation, lines).values

    def _write(self, room: Room, judged: Callable[[Sequence[Fact]], Sequence[FactUpdate]]) -> None:
        store = self._deployment.facts
        for attempt in range(_ATTEMPTS):
            try:
                store.write(room.conversation, judged(store.facts(room.conversation)))
                break
            except FactRefused as error:
                raise LocalError(str(error)) from error
            except FactMoved:
                # A compaction wrote meanwhile: judge again by what stands there now.
                if attempt == _ATTEMPTS - 1:
                    raise
        self._stage.wake()
