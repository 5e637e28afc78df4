"""A deployment for the operator's commands, made of the fakes of a world."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from tests.fakes.world import World
from tools.operate.deployment import Deployment
from whatsapp_agent.erasure import ErasureRequest
from whatsapp_agent.events import decode, group_of
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Summary
from whatsapp_agent.queues.dead_letters import DeadLetter


class FakeCensus:
    def __init__(self, world: World) -> None:
        self._tables = world.tables

    def conversations(self) -> list[str]:
        tables = self._tables
        held = (tables.messages, tables.turns, tables.summaries, tables.facts, tables.history)
        return sorted({name for table in held for name, items in table.items() if items})  # type: ignore[attr-defined]

    def turns(self) -> Iterator[Turn]:
        for turns in list(self._tables.turns.values()):
            yield from self._tables.all_alive(turns)

    def summaries(self) -> Iterator[Summary]:
        yield from self._tables.all_alive(self._tables.summaries)


class FakeGivenUp:
    """A dead-letter queue over the list that a fake queue keeps of what it gave up."""

    def __init__(self, dead: list[str], back: Any) -> None:
        self.dead = dead
        self._back = back
        self.fail = False

    def count(self) -> int:
        return len(self.dead)

    def take(self) -> Iterator[DeadLetter]:
        for place, body in enumerate(list(self.dead)):
            yield DeadLetter(f"dead-{place}", f"handle-{place}", "", body, 1)

    def remove(self, letter: DeadLetter) -> None:
        self.dead.remove(letter.body)

    def send_back(self, letter: DeadLetter) -> None:
        self._back(letter)
        self.remove(letter)


@dataclass
class FakeFigures:
    """What the metrics say; None: there are none."""

    found: dict[str, float] | None = None
    asked: list[tuple[datetime, datetime]] = field(default_factory=list)

    def sums(self, names: Sequence[str], since: datetime, until: datetime) -> dict[str, float] | None:
        self.asked.append((since, until))
        return None if self.found is None else {name: self.found.get(name, 0.0) for name in names}


def deployment_of(
    world: World,
    profiles: Mapping[str, AgentProfile],
    *,
    figures: FakeFigures | None = None,
    works_at_once: bool = True,
) -> Deployment:
    """The deployment of a world; an erasure that is asked for is carried out at once, or waits in the queue."""
    request = ErasureRequest(world.queue, next(iter(profiles)), world.now)
    lock = threading.Lock()

    def erase(person: str, agent: str) -> Mapping[str, Any]:
        with lock:
            answer = request.handle({"person": person, "agent": agent})
            if works_at_once:
                world.run()
                world.compact()
            return answer

    def send_back(letter: DeadLetter) -> None:
        world.queue.fifo.put(group_of(decode(letter.body)), f"redrive {letter.body}", letter.body)

    return Deployment(
        name="a deployment of fakes",
        agent_id=next(iter(profiles)),
        profiles=profiles,
        conversations=world.conversations,
        facts=world.facts,
        ledger=world.ledger,
        directory=world.directory,
        census=FakeCensus(world),
        erase=erase,
        dead_letters={
            "inbound": FakeGivenUp(world.queue.fifo.dead, send_back),
            "compaction": FakeGivenUp(world.compaction_queue.fifo.dead, lambda _: None),
        },
        waiting=lambda queue: len((world.queue if queue == "inbound" else world.compaction_queue).fifo.bodies),
        figures=figures or FakeFigures(),
        models={"reply": "gpt-6-luna", "memory": "gpt-6-luna"},
        archive=world.archive,
        now=world.now,
    )
