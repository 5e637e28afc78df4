"""The nearest vectors of one owner: by the table's vector index, and by comparing them where there is none."""

import math
from datetime import datetime, timedelta

from whatsapp_agent.clock import Clock
from whatsapp_agent.memory.passages import Vector
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.errors import IndexMissing
from whatsapp_agent.store.items import expiry_of
from whatsapp_agent.store.lifetimes import gone
from whatsapp_agent.store.recall_items import VECTOR, numbers, vector_from

INDEX = "by_embedding"
"""The vector index of the Recall table, partitioned by `owner` and filtered by `model`: see template.yaml."""

MOST_COMPARED = 1000
"""Vectors that a search without the index reads, the newest of the owner: some 3 MB."""

_ASK_AGAIN = timedelta(minutes=5)

OF_OWNER_AND_MODEL = "#owner = :owner AND #model = :model"
OF_OWNER = "#owner = :owner AND begins_with(#id, :prefix)"


class VectorSearch:
    """Searches by the index; without one it looks at the vectors themselves, with the same result.

    An index that is missing or not ready is asked for again after five minutes.
    """

    def __init__(self, database: Database, table: str, now: Clock) -> None:
        self._db = database
        self._table = table
        self._now = now
        self._no_index_until: datetime | None = None

    def nearest(self, owner: str, vector: Vector, model: str, limit: int) -> dict[str, float]:
        """See `ports.RecallStore.nearest`."""
        if not any(vector):
            return {}
        if self._no_index_until is None or self._now() >= self._no_index_until:
            try:
                return self._by_index(owner, vector, model, limit)
            except IndexMissing:
                self._no_index_until = self._now() + _ASK_AGAIN
        return self._by_comparing(owner, vector, model, limit)

    def _by_index(self, owner: str, vector: Vector, model: str, limit: int) -> dict[str, float]:
        values = {"owner": owner, "model": model}
        found = self._db.search(
            self._table, INDEX, numbers(vector), limit, condition=OF_OWNER_AND_MODEL, values=values
        )
        # The score of COSINE is a distance: 0 for the same direction, 2 for the opposite one.
        return {item["id"].removeprefix(VECTOR): 1.0 - score for item, score in found}

    def _by_comparing(self, owner: str, vector: Vector, model: str, limit: int) -> dict[str, float]:
        similarities: dict[str, float] = {}
        compared, now = 0, self._now()
        values = {"owner": owner, "prefix": VECTOR}
        for page in self._db.pages(self._table, OF_OWNER, values, newest_first=True, consistent=False):
            for item in page:
                compared += 1
                stored = vector_from(item)
                if item["model"] == model and len(stored) == len(vector) and not gone(expiry_of(item), now):
                    similarities[item["id"].removeprefix(VECTOR)] = _cosine(vector, stored)
            if compared >= MOST_COMPARED:
                break
        nearest = sorted(similarities, key=lambda key: (-similarities[key], key))[:limit]
        return {key: similarities[key] for key in nearest}


def _cosine(one: Vector, other: Vector) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0
