"""Lets what is remembered live on while its person is active.

Each item carries its own `expires_at`, so that DynamoDB forgets without anybody asking. Activity moves it, at
most once a day per conversation: see docs/adr/0010-activity-moves-the-end-of-memory.md.
"""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock, from_iso, to_epoch, to_iso
from whatsapp_agent.store import actions
from whatsapp_agent.store.conditions import ALIVE, EXISTS
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.fact_items import CURRENT
from whatsapp_agent.store.items import expiry_of, summary_key
from whatsapp_agent.store.lifetimes import gone, retention_expiry
from whatsapp_agent.store.summaries import without_expired_summary
from whatsapp_agent.store.wire import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

OF_CONVERSATION = "#conversation = :conversation"

_JUST_MOVED_SECONDS = 3600
"""What was moved within this time is not written again, so that a run that broke off goes on where it was."""


class DynamoRetention:
    """Implements `ports.Retention`."""

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        messages: str,
        summaries: str,
        facts: str,
        now: Clock,
        retention_days: int,
        database: Database | None = None,
    ) -> None:
        self._db = database or Database(client)
        self._messages = messages
        self._summaries = summaries
        self._facts = facts
        self._now = now
        self._retention_days = retention_days

    def refresh(self, conversation: str) -> int:
        """See `ports.Retention.refresh`.

        Costs a read of the conversation's keys and one unit written per item. A run that stops half way is
        finished by the next, because the mark of the day comes last.
        """
        now = self._now()
        until = retention_expiry(now, self._retention_days)
        if until is None:
            return 0
        moved = sum(
            self._move(self._messages, {"conversation": conversation, "seq": item["seq"]}, item, until, now)
            for item in self._items(self._messages, conversation, "#seq, #expires_at")
        )
        moved += sum(
            self._move(self._facts, {"conversation": conversation, "key": item["key"]}, item, until, now)
            for item in self._items(self._facts, conversation, "#key, #expires_at, #valid_until")
        )
        key = summary_key(conversation)
        mark = actions.update(
            self._summaries,
            key,
            {"active_at": to_iso(now), "expires_at": until},
            ALIVE,
            {"now": to_epoch(now)},
        )
        without_expired_summary(self._db, self._summaries, key, now, lambda: self._db.write(mark))
        return moved

    def _items(self, table: str, conversation: str, only: str) -> Iterator[Item]:
        for page in self._db.pages(table, OF_CONVERSATION, {"conversation": conversation}, only=only):
            yield from page

    def _move(self, table: str, key: Item, item: Item, until: int, now: datetime) -> int:
        expires_at = expiry_of(item)
        if str(key.get("key", "")).startswith(CURRENT) and "valid_until" in item:
            until = min(until, to_epoch(from_iso(item["valid_until"])))
        if gone(expires_at, now) or (expires_at or 0) > until - _JUST_MOVED_SECONDS:
            return 0
        # What was deleted meanwhile, by a compaction or an erasure, stays deleted.
        with suppress(ConditionRefused):
            self._db.write(actions.update(table, key, {"expires_at": until}, EXISTS, {"now": to_epoch(now)}))
            return 1
        return 0
