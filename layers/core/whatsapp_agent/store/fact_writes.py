"""Changes of facts as actions of a transaction, the same for a compaction, an operator and a tool.

A fact with a lifetime is deleted by DynamoDB itself, and nobody is there to write down that it went. So the
note for its history is written together with it, dated with its end, and reads pass over it until then. A
change before the end takes the note back.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime

from whatsapp_agent.clock import to_epoch
from whatsapp_agent.memory.records import FactUpdate
from whatsapp_agent.store import actions
from whatsapp_agent.store.conditions import FREE
from whatsapp_agent.store.fact_items import announced_end, fact_item, fact_key, past_item
from whatsapp_agent.store.lifetimes import fact_expiry, retention_expiry
from whatsapp_agent.store.wire import Item

FACT_UNCHANGED = "#version = :expected"
"""A change holds for the version that it was judged against."""


class FactWrites:
    """Builds the actions of updates, all as of one moment."""

    def __init__(self, table: str, now: datetime, retention_days: int) -> None:
        self._table = table
        self._now = now
        self._retention_days = retention_days

    def changes(self, conversation: str, update: FactUpdate) -> list[actions.Action]:
        """The fact's own action, then what its history gains and loses."""
        history = {item["key"]: item for item in self._gained(update)}
        lost = [key for key in self._lost(update) if key["key"] not in history]
        return [
            self._fact(conversation, update),
            *(actions.put(self._table, item) for item in history.values()),
            *(actions.delete(self._table, key) for key in lost),
        ]

    def _fact(self, conversation: str, update: FactUpdate) -> actions.Action:
        values = {"now": to_epoch(self._now), "expected": update.expected_version}
        condition = FACT_UNCHANGED if update.expected_version else FREE
        if update.new is None:
            key = fact_key(conversation, update.key, update.item)
            return actions.delete(self._table, key, condition, values)
        item = fact_item(update.new, fact_expiry(update.new, self._now, self._retention_days))
        return actions.put(self._table, item, condition, values)

    def _gained(self, update: FactUpdate) -> Iterator[Item]:
        expires_at = retention_expiry(self._now, self._retention_days)
        if update.past is not None:
            yield past_item(update.past, expires_at)
        if update.new is not None and (end := announced_end(update.new)):
            yield past_item(end, expires_at)

    def _lost(self, update: FactUpdate) -> Iterator[Item]:
        end = announced_end(update.before) if update.before else None
        if end is not None and end.replaced_at > self._now:
            item = past_item(end, None)
            yield {"conversation": item["conversation"], "key": item["key"]}


def most_actions(update: FactUpdate) -> int:
    """How many actions an update may take."""
    ends = [fact for fact in (update.new, update.before) if fact is not None and fact.expires_at]
    return 1 + (update.past is not None) + len(ends)


def sliced(updates: Sequence[FactUpdate], room: int) -> Iterator[list[FactUpdate]]:
    """The updates in order, in slices of at most `room` actions; at least one slice, which may be empty.

    A transaction refuses two actions on one item, so a second update of a fact begins a new slice.
    """
    current: list[FactUpdate] = []
    used, facts = 0, set[tuple[str, str]]()
    for update in updates:
        cost = most_actions(update)
        if used + cost > room or (update.key, update.item) in facts:
            yield current
            current, used, facts = [], 0, set()
        current.append(update)
        used += cost
        facts.add((update.key, update.item))
    yield current
