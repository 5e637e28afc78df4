"""What can be recalled, in memory: passages, vectors, and the agents' catalogues."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tests.fakes.store_tables import FakeTables
from whatsapp_agent.clock import Clock, to_epoch
from whatsapp_agent.errors import MessagesGone, ModelUnavailable
from whatsapp_agent.memory.passages import Catalogue, Passage, Source, Vector
from whatsapp_agent.memory.records import Message
from whatsapp_agent.store.lifetimes import gone
from whatsapp_agent.store.recall_items import numbers


class FakeRecallStore:
    """Implements `ports.RecallStore`; `asked` lists whose passages were looked at, by which call."""

    def __init__(self, now: Clock, tables: FakeTables | None = None) -> None:
        self._now = now
        self._tables = tables
        self.owned: dict[str, dict[str, Passage]] = defaultdict(dict)
        self.asked: list[tuple[str, str]] = []
        self.fails: dict[str, Exception] = {}

    def passages(
        self, owner: str, prefix: str, limit: int, *, newest_first: bool = False, consistent: bool = False
    ) -> list[Passage]:
        self._call("passages", owner)
        found = [each for each in self._alive(owner) if each.key.startswith(prefix)]
        found.sort(key=lambda each: each.key, reverse=newest_first)
        return [_bare(each) for each in found[:limit]]

    def get(self, owner: str, keys: Sequence[str]) -> list[Passage]:
        self._call("get", owner)
        return [_bare(each) for each in self._alive(owner) if each.key in keys]

    def nearest(self, owner: str, vector: Vector, model: str, limit: int) -> dict[str, float]:
        self._call("nearest", owner)
        compared = {
            each.key: _cosine(vector, each.embedding)
            for each in self._alive(owner)
            if each.embedding and each.model == model and any(vector)
        }
        return dict(sorted(compared.items(), key=lambda pair: (-pair[1], pair[0]))[:limit])

    def vectors(self, owner: str, prefix: str) -> dict[str, tuple[str, Vector]]:
        self._call("vectors", owner)
        found = (each for each in self._alive(owner) if each.embedding and each.key.startswith(prefix))
        return {each.key: (each.model, each.embedding) for each in found}

    def put(self, passages: Sequence[Passage], *, while_there: Message | None = None) -> None:
        for each in passages:
            self._call("put", each.owner)
        if while_there is not None and self._tables is not None:
            kept = self._tables.messages[while_there.conversation].get(while_there.seq)
            there = self._tables.alive(kept)
            if there is None or there.event_id != while_there.event_id:
                raise MessagesGone("the messages that the passages come from no longer exist")
        for each in passages:
            stored = tuple(float(number) for number in numbers(each.embedding))
            self.owned[each.owner][each.key] = replace(each, embedding=stored)

    def delete(self, owner: str, keys: Sequence[str]) -> None:
        self._call("delete", owner)
        for key in keys:
            self.owned[owner].pop(key, None)

    def erase(self, owner: str) -> int:
        return len(self.owned.pop(owner, {}))

    def _call(self, name: str, owner: str) -> None:
        self.asked.append((name, owner))
        if name in self.fails:
            raise self.fails[name]

    def _alive(self, owner: str) -> list[Passage]:
        kept = self.owned.get(owner, {})
        # Whole seconds, as in the table.
        return [
            each
            for each in kept.values()
            if each.expires_at is None or not gone(to_epoch(each.expires_at), self._now())
        ]


@dataclass
class FakeKnowledgeCatalogue:
    """Implements `ports.KnowledgeCatalogue`."""

    entries: dict[tuple[str, str], Source] = field(default_factory=dict)
    published: dict[str, Catalogue] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def catalogue(self, owner: str) -> Catalogue:
        self.asked.append(owner)
        return self.published.get(owner, Catalogue())

    def sources(self, owner: str) -> list[Source]:
        found = [source for (whose, _), source in self.entries.items() if whose == owner]
        return sorted(found, key=lambda source: source.name)

    def put_source(self, source: Source) -> None:
        self.entries[source.owner, source.name] = source

    def delete_source(self, owner: str, name: str) -> None:
        self.entries.pop((owner, name), None)

    def publish(self, owner: str, chunks: int) -> None:
        before = self.published.get(owner, Catalogue())
        self.published[owner] = Catalogue(f"v{int(before.version[1:] or 0) + 1}", chunks)


class WordEmbedder:
    """A vector of word counts: texts that share words lie close. Implements `ports.Embedder`."""

    def __init__(self, model: str = "words-1", dimensions: int = 64) -> None:
        self.model = model
        self.dimensions = dimensions
        self.asked: list[list[str]] = []
        self.fails: Exception | None = None

    def embed(self, texts: Sequence[str], *, seconds: float) -> list[Vector]:
        if seconds <= 0:
            raise ModelUnavailable("no time was left to embed")
        self.asked.append(list(texts))
        if self.fails is not None:
            raise self.fails
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> Vector:
        vector = [0.0] * self.dimensions
        for word in text.casefold().split():
            vector[sum(word.strip(".,?!:;").encode()) % self.dimensions] += 1.0
        length = math.hypot(*vector)
        return tuple(value / length for value in vector) if length else (1.0, *vector[1:])


def _bare(passage: Passage) -> Passage:
    return replace(passage, embedding=(), expires_at=None)


def _cosine(one: Vector, other: Vector) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0
