"""The store's adapters under test, real or fake, with one clock that tests move."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from tests.builders import CONVERSATION, NOW, message
from tests.contracts.tables import create_tables, dynamodb_client, items_of
from tests.fakes.keeping import FakeRetention
from tests.fakes.store import FakeConversationStore, FakeDirectory, FakeFactStore, FakeLedger, FakeTables
from tests.fakes.store_tables import Kept
from whatsapp_agent.clock import from_epoch
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import CompactionCommit, FactUpdate, Message, Summary
from whatsapp_agent.ports.directory import Directory
from whatsapp_agent.ports.privacy import Retention
from whatsapp_agent.ports.store import ConversationStore, FactStore, Ledger
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.directory import DynamoDirectory
from whatsapp_agent.store.facts import DynamoFactStore
from whatsapp_agent.store.items import message_item, turn_item
from whatsapp_agent.store.ledger import DynamoLedger
from whatsapp_agent.store.lifetimes import retention_expiry, turn_expiry
from whatsapp_agent.store.retention import DynamoRetention
from whatsapp_agent.store.wire import to_wire

HASH_KEY = b"a key for tests"
ALL_TABLES = ("messages", "turns", "summaries", "facts", "directory")


@dataclass
class MovableClock:
    moment: datetime = NOW

    def __call__(self) -> datetime:
        return self.moment

    def advance(self, **amount: float) -> None:
        self.moment += timedelta(**amount)


@dataclass
class Stores:
    """One deployment's store.

    `put` writes messages and turns without the ledger's conditions, in bulk; `left` counts the stored items
    of a conversation, expired ones too.
    """

    ledger: Ledger
    conversations: ConversationStore
    facts: FactStore
    directory: Directory
    retention: Retention
    clock: MovableClock
    put: Callable[[Sequence[Message], Sequence[Turn]], None]
    left: Callable[[str], int]
    client: Any = None
    tables: dict[str, str] = field(default_factory=dict)

    def compact(self, *updates: FactUpdate, expected_version: int = 0, **changes: Any) -> None:
        """Commits a compaction of message 1, which must be there, with these fact updates."""
        summary = Summary(
            changes.pop("conversation", CONVERSATION),
            text=changes.pop("text", "They talked."),
            through_seq=1,
            version=expected_version + 1,
            updated_at=self.clock(),
        )
        commit = CompactionCommit(summary, expected_version, changes.pop("newest_seq", 1), updates, **changes)
        self.conversations.commit_compaction(commit)

    def put_first_message(self) -> None:
        self.put([message(1)], [])


def fake_stores(retention_days: int = 0) -> Stores:
    clock = MovableClock()
    tables = FakeTables(now=clock, retention_days=retention_days)

    def put(messages: Sequence[Message], turns: Sequence[Turn]) -> None:
        for each in messages:
            expires_at = retention_expiry(clock(), retention_days)
            tables.messages[each.conversation][each.seq] = Kept(each, expires_at)
        for turn in turns:
            expires_at = turn_expiry(turn)
            kept = Kept(Turn(**{**_fields(turn), "expires_at": from_epoch(expires_at)}), expires_at)
            tables.turns[turn.conversation][turn.event_id] = kept

    def left(conversation: str) -> int:
        counted = (tables.messages, tables.turns, tables.facts, tables.history)
        return sum(len(table.get(conversation, ())) for table in counted) + (conversation in tables.summaries)

    return Stores(
        FakeLedger(tables),
        FakeConversationStore(tables),
        FakeFactStore(tables),
        FakeDirectory(tables),
        FakeRetention(tables),
        clock,
        put,
        left,
    )


def dynamo_stores(endpoint: str | None, retention_days: int = 0) -> Stores:
    client = dynamodb_client(endpoint)
    return stores_on(client, create_tables(client, *ALL_TABLES), retention_days)


def stores_on(client: Any, tables: dict[str, str], retention_days: int = 0) -> Stores:
    """The real adapters over a client; no back-off is slept."""
    clock = MovableClock()
    kept = {"now": clock, "retention_days": retention_days}
    database = Database(client, sleep=lambda _: None)
    messages, turns, facts = tables["messages"], tables["turns"], tables["facts"]

    def put(new_messages: Sequence[Message], new_turns: Sequence[Turn]) -> None:
        expires_at = retention_expiry(clock(), retention_days)
        _put_all(client, messages, [message_item(each, expires_at) for each in new_messages])
        _put_all(client, turns, [turn_item(turn) for turn in new_turns])

    def left(conversation: str) -> int:
        held = [item for table in ALL_TABLES[:-1] for item in items_of(client, tables[table])]
        return sum(item["conversation"]["S"] == conversation for item in held)

    return Stores(
        DynamoLedger(client, turns=turns, messages=messages, database=database, **kept),
        DynamoConversationStore(
            client,
            messages=messages,
            turns=turns,
            summaries=tables["summaries"],
            facts=facts,
            database=database,
            **kept,
        ),
        DynamoFactStore(client, facts=facts, messages=messages, database=database, **kept),
        DynamoDirectory(client, directory=tables["directory"], hash_key=HASH_KEY, now=clock, database=database),
        DynamoRetention(
            client, messages=messages, summaries=tables["summaries"], facts=facts, database=database, **kept
        ),
        clock,
        put,
        left,
        client,
        tables,
    )


def _fields(turn: Turn) -> dict[str, Any]:
    return {name: getattr(turn, name) for name in Turn.__dataclass_fields__}


def _put_all(client: Any, table: str, items: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(items), 25):
        requests = [{"PutRequest": {"Item": to_wire(item)}} for item in items[start : start + 25]]
        answer = client.batch_write_item(RequestItems={table: requests})
        assert not answer.get("UnprocessedItems")
