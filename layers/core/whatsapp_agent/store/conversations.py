"""Messages and summaries on DynamoDB."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock, to_epoch
from whatsapp_agent.memory.records import CompactionCommit, Message, Summary
from whatsapp_agent.store import actions
from whatsapp_agent.store.compaction import CompactionWriter
from whatsapp_agent.store.conditions import ALIVE, EXISTS, SAME_MESSAGE
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.erasing import Partition, erase
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.items import (
    bounded,
    expiry_of,
    message_from,
    message_key,
    state_changes,
    summary_from,
    summary_key,
)
from whatsapp_agent.store.lifetimes import gone, retention_expiry
from whatsapp_agent.store.summaries import without_expired_summary
from whatsapp_agent.store.wire import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

OF_CONVERSATION = "#conversation = :conversation"
AFTER_SEQ = f"{OF_CONVERSATION} AND #seq > :seq"
THROUGH_SEQ = f"{OF_CONVERSATION} AND #seq <= :seq"


class DynamoConversationStore:
    """Implements `ports.ConversationStore`.

    Units: a strongly consistent read costs 1 per 4 kB of the messages returned, and 1 for the summary.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        messages: str,
        turns: str,
        summaries: str,
        facts: str,
        now: Clock,
        retention_days: int,
        database: Database | None = None,
    ) -> None:
        self._db = database or Database(client)
        self._messages = messages
        self._turns = turns
        self._summaries = summaries
        self._now = now
        self._retention_days = retention_days
        self._writer = CompactionWriter(
            self._db,
            messages=messages,
            summaries=summaries,
            facts=facts,
            now=now,
            retention_days=retention_days,
        )

    def newest_messages(self, conversation: str, limit: int) -> list[Message]:
        """See `ports.ConversationStore.newest_messages`."""
        values = {"conversation": conversation}
        return self._first(limit, OF_CONVERSATION, values, newest_first=True)[::-1]

    def messages_after(self, conversation: str, after_seq: int, limit: int) -> list[Message]:
        """See `ports.ConversationStore.messages_after`."""
        return self._first(limit, AFTER_SEQ, {"conversation": conversation, "seq": after_seq})

    def summary(self, conversation: str) -> Summary:
        """See `ports.ConversationStore.summary`."""
        item = self._db.get(self._summaries, summary_key(conversation))
        if item is None or gone(expiry_of(item), self._now()):
            return Summary(conversation)
        return summary_from(item)

    def set_state(
        self, conversation: str, *, opted_out_at: datetime | None, paused_until: datetime | None
    ) -> None:
        """See `ports.ConversationStore.set_state`."""
        now = self._now()
        clearing = opted_out_at is None and paused_until is None
        changes = state_changes(opted_out_at, paused_until)
        if expires_at := retention_expiry(now, self._retention_days):
            changes["expires_at"] = expires_at
        key = summary_key(conversation)
        # Clearing a state that nobody has written must not make an item.
        update = actions.update(
            self._summaries, key, changes, EXISTS if clearing else ALIVE, {"now": to_epoch(now)}
        )

        def write() -> None:
            self._db.write(update)

        if clearing:
            with suppress(ConditionRefused):
                write()
        else:
            without_expired_summary(self._db, self._summaries, key, now, write)

    def revise(self, message: Message, *, text: str, kind: str) -> bool:
        """See `ports.ConversationStore.revise`."""
        update = actions.update(
            self._messages,
            message_key(message.conversation, message.seq),
            {"text": bounded(text), "kind": kind},
            SAME_MESSAGE,
            {"now": to_epoch(self._now()), "event": message.event_id},
        )
        try:
            self._db.write(update)
        except ConditionRefused:
            return False
        return True

    def commit_compaction(self, commit: CompactionCommit) -> None:
        """See `ports.ConversationStore.commit_compaction`."""
        self._writer.write(commit)

    def delete_messages(self, conversation: str, through_seq: int) -> int:
        """See `ports.ConversationStore.delete_messages`."""
        return self._db.delete_all(self._messages, self._keys_through(conversation, through_seq))

    def erase(self, conversation: str) -> int:
        """See `ports.ConversationStore.erase`.

        Turns go first and messages second: from then on no reply and no compaction in flight can be
        written. Erase the facts after this, so that nothing is written behind them.
        """
        return erase(
            self._db,
            [
                Partition(self._turns, ("conversation", "event_id")),
                Partition(self._messages, ("conversation", "seq")),
                Partition(self._summaries, ("conversation",)),
            ],
            conversation,
        )

    def _keys_through(self, conversation: str, through_seq: int) -> Iterator[Item]:
        values = {"conversation": conversation, "seq": through_seq}
        for page in self._db.pages(self._messages, THROUGH_SEQ, values, only="#conversation, #seq"):
            yield from page

    def _first(self, limit: int, condition: str, values: Item, *, newest_first: bool = False) -> list[Message]:
        """Reads on past expired messages and page ends until there are `limit`, or no more."""
        found: list[Message] = []
        if limit <= 0:
            return found
        now = self._now()
        pages = self._db.pages(self._messages, condition, values, newest_first=newest_first, page_size=limit)
        for page in pages:
            found += [message_from(item) for item in page if not gone(expiry_of(item), now)]
            if len(found) >= limit:
                break
        return found[:limit]
