"""What lies outside of the conversation's tables, in memory: archive, recall, dead letters; and retention."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tests.fakes.queues import FakeCompactionQueue, FakeTurnQueue
from tests.fakes.store_tables import FakeTables, Kept
from whatsapp_agent.clock import to_epoch
from whatsapp_agent.events import decode, group_of
from whatsapp_agent.memory.records import Message, Summary, Usage
from whatsapp_agent.store.lifetimes import gone, retention_expiry

_JUST_MOVED = timedelta(hours=1)


@dataclass
class FakeArchive:
    objects: dict[str, dict[tuple[datetime, int], list[Message]]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    def keep(self, conversation: str, messages: Sequence[Message]) -> None:
        if messages:
            newest = max(message.received_at for message in messages)
            plain = [replace(message, prompt_chars=0, usage=Usage()) for message in messages]
            self.objects[conversation][newest, messages[-1].seq] = plain

    def messages(self, conversation: str) -> Iterator[Message]:
        for _, kept in sorted(self.objects[conversation].items(), key=lambda entry: entry[0]):
            yield from kept

    def erase(self, conversation: str, before: datetime | None = None) -> int:
        objects = self.objects[conversation]
        doomed = [key for key in objects if before is None or key[0] <= before]
        for key in doomed:
            del objects[key]
        return len(doomed)


class FakeDeadLetters:
    """Over the fake queues' own lists of what they gave up."""

    def __init__(self, turns: FakeTurnQueue, compactions: FakeCompactionQueue) -> None:
        self._turns = turns
        self._compactions = compactions

    def drop(self, person: str, conversation: str, arrived_before: datetime) -> int:
        dead, jobs = self._turns.fifo.dead, self._compactions.fifo.dead
        doomed = [
            body
            for body in dead
            if group_of(decode(body)) == person and decode(body).received_at <= arrived_before
        ]
        doomed_jobs = [body for body in jobs if self._compactions.job(body).conversation == conversation]
        dead[:] = [body for body in dead if body not in doomed]
        jobs[:] = [body for body in jobs if body not in doomed_jobs]
        return len(doomed) + len(doomed_jobs)


class FakeRetention:
    def __init__(self, tables: FakeTables) -> None:
        self.tables = tables

    def refresh(self, conversation: str) -> int:
        with self.tables.call("refresh"):
            now = self.tables.now()
            until = retention_expiry(now, self.tables.retention_days)
            if until is None:
                return 0
            moved = 0
            messages = self.tables.messages[conversation]
            facts, history = self.tables.facts[conversation], self.tables.history[conversation]
            for key, kept in list(messages.items()):
                messages[key], count = self._moved(kept, until, now)
                moved += count
            for fact_key, fact in list(facts.items()):
                own = fact.record.expires_at
                end = min(until, to_epoch(own)) if own else until
                facts[fact_key], count = self._moved(fact, end, now)
                moved += count
            for past_key, past in list(history.items()):
                history[past_key], count = self._moved(past, until, now)
                moved += count
            stored = self.tables.alive(self.tables.summaries.get(conversation)) or Summary(conversation)
            self.tables.summaries[conversation] = Kept(replace(stored, active_at=now), until)
            return moved

    @staticmethod
    def _moved(kept: Kept[Any], until: int, now: datetime) -> tuple[Kept[Any], int]:
        if gone(kept.expires_at, now) or (kept.expires_at or 0) > until - _JUST_MOVED.total_seconds():
            return kept, 0
        return Kept(kept.record, until), 1
