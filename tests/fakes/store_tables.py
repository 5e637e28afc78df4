"""The state that the store's fakes share: what the tables of one deployment hold."""

from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Generic, TypeVar

from whatsapp_agent.clock import Clock
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Fact, Message, PastFact, Summary
from whatsapp_agent.store.lifetimes import gone

Record = TypeVar("Record")
Key = TypeVar("Key")


@dataclass(frozen=True)
class Kept(Generic[Record]):
    """A record and when it expires, in whole seconds; None for never."""

    record: Record
    expires_at: int | None = None


@dataclass
class Number:
    agent: str = ""
    replaced_by: str = ""
    replaces: str = ""
    label: str = ""
    retired_at: datetime | None = None


@dataclass
class FakeTables:
    """One deployment's tables in memory. Nothing is deleted when it expires: as on AWS, for a while.

    Give the same object to each fake: FakeLedger, FakeConversationStore, FakeFactStore, FakeDirectory.
    """

    now: Clock
    retention_days: int = 0
    messages: dict[str, dict[int, Kept[Message]]] = field(default_factory=lambda: defaultdict(dict))
    turns: dict[str, dict[str, Kept[Turn]]] = field(default_factory=lambda: defaultdict(dict))
    summaries: dict[str, Kept[Summary]] = field(default_factory=dict)
    facts: dict[str, dict[tuple[str, str], Kept[Fact]]] = field(default_factory=lambda: defaultdict(dict))
    history: dict[str, list[Kept[PastFact]]] = field(default_factory=lambda: defaultdict(list))
    numbers: dict[str, Number] = field(default_factory=lambda: defaultdict(Number))
    aliases: dict[str, str] = field(default_factory=dict)
    erasures: dict[str, datetime] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    lock: RLock = field(default_factory=RLock)
    _faults: list[tuple[str, BaseException, bool]] = field(default_factory=list)

    def fail_next(self, call: str, error: BaseException, *, after: bool = False) -> None:
        """Lets the next call of that name (`claim`, `commit`, …) raise: before it has done anything, or
        `after` it has written everything, as when the process dies before it hears the answer.
        """
        self._faults.append((call, error, after))

    @contextmanager
    def call(self, name: str) -> Iterator[None]:
        with self.lock:
            self.calls.append(name)
            fault = next((fault for fault in self._faults if fault[0] == name), None)
            if fault:
                self._faults.remove(fault)
                if not fault[2]:
                    raise fault[1]
            yield
            if fault:
                raise fault[1]

    def alive(self, kept: Kept[Record] | None) -> Record | None:
        return None if kept is None or gone(kept.expires_at, self.now()) else kept.record

    def all_alive(self, kept: dict[Key, Kept[Record]]) -> list[Record]:
        return [record for each in kept.values() if (record := self.alive(each)) is not None]
