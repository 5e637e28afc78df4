"""The state that the store's fakes share: what the tables of one deployment hold."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from threading import RLock
from typing import Generic, TypeVar

from whatsapp_agent.clock import Clock
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Fact, FactUpdate, Message, PastFact, Summary
from whatsapp_agent.store.lifetimes import fact_expiry, gone, retention_expiry

Record = TypeVar("Record")
Key = TypeVar("Key")

PastId = tuple[str, str, datetime, int]
"""What names a former value: key, item, when it went, version."""


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
class GivenUp:
    """A phone number after its owner, remembered as `before`, left it for another one."""

    before: str
    since: datetime
    left_for: str


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
    history: dict[str, dict[PastId, Kept[PastFact]]] = field(default_factory=lambda: defaultdict(dict))
    numbers: dict[str, Number] = field(default_factory=lambda: defaultdict(Number))
    aliases: dict[str, str] = field(default_factory=dict)
    given_up: dict[str, GivenUp] = field(default_factory=dict)
    strangers: int = 0
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

    def write_facts(self, conversation: str, updates: Sequence[FactUpdate]) -> bool:
        """Writes all of the updates, or none where one of them was judged against another version."""
        now, days = self.now(), self.retention_days
        facts = dict(self.facts[conversation])
        history = dict(self.history[conversation])
        for update in updates:
            stored = facts.get((update.key, update.item))
            # An expired fact is still there for a change that was judged against it, as on DynamoDB.
            version = stored.record.version if stored else 0
            if version != update.expected_version and (
                update.expected_version or self.alive(stored) is not None
            ):
                return False
            if update.new is not None:
                facts[update.key, update.item] = Kept(update.new, fact_expiry(update.new, now, days))
            else:
                facts.pop((update.key, update.item), None)
            if (end := _end(update.before)) is not None and end.replaced_at > now:
                history.pop(past_id(end), None)
            for past in (update.past, _end(update.new)):
                if past is not None:
                    history[past_id(past)] = Kept(past, retention_expiry(now, days))
        self.facts[conversation] = facts
        self.history[conversation] = history
        return True


def past_id(past: PastFact) -> PastId:
    """What names a former value."""
    return past.fact.key, past.fact.item, past.replaced_at, past.fact.version


def _end(fact: Fact | None) -> PastFact | None:
    return None if fact is None or fact.expires_at is None else PastFact(fact, fact.expires_at, "expired", 0)
