"""What the conditions of the store are for, where it takes somebody else at the wrong moment to see it."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from moto import mock_aws

from tests.builders import CONVERSATION, NOW, fact, message, turn
from tests.contracts.stores import Stores, dynamo_stores, stores_on
from tests.contracts.tables import dynamodb_client
from whatsapp_agent.clock import to_epoch
from whatsapp_agent.errors import MessagesGone, SummaryMoved, TurnMoved
from whatsapp_agent.memory.records import FactUpdate
from whatsapp_agent.store.retention import DynamoRetention

SUMMARY = {"conversation": {"S": CONVERSATION}}
TURN = {**SUMMARY, "event_id": {"S": "evt_1"}}
MESSAGE = {**SUMMARY, "seq": {"N": "1"}}


@pytest.fixture(params=["moto"])
def make_stores() -> Iterator[Callable[[int], Stores]]:
    with mock_aws():
        yield lambda retention_days: dynamo_stores(None, retention_days)


@pytest.fixture
def stores(make_stores: Callable[[int], Stores]) -> Stores:
    return make_stores(0)


def somebody_else(stores: Stores, retention_days: int = 0) -> Stores:
    """The same tables, seen by another process at the same time."""
    other = stores_on(dynamodb_client(None), stores.tables, retention_days)
    other.clock.moment = stores.clock.moment
    return other


def just_before(stores: Stores, operation: str, act: Callable[[], object]) -> None:
    """Lets something happen between what the store has read and the next call of this operation."""
    waiting = [act]

    def before(**_: Any) -> None:
        if waiting:
            waiting.pop()()

    stores.client.meta.events.register(f"before-call.dynamodb.{operation}", before)


def expire(stores: Stores, table: str, key: dict[str, Any]) -> None:
    """Lets an item be past its end without DynamoDB having deleted it."""
    stores.client.update_item(
        TableName=stores.tables[table],
        Key=key,
        UpdateExpression="SET expires_at = :end",
        ExpressionAttributeValues={":end": {"N": str(to_epoch(NOW - timedelta(days=1)))}},
    )


def waiting(stores: Stores) -> None:
    stores.ledger.claim(turn(), message())


class TestExpiredTurns:
    """A turn past its end is gone: nothing moves it on, whatever state it had."""

    def test_it_gets_no_reply(self, stores: Stores) -> None:
        waiting(stores)
        expire(stores, "turns", TURN)
        replied = turn(state="replied", reply_seq=2, parts=("hi",))
        with pytest.raises(TurnMoved):
            stores.ledger.commit(message(2, role="assistant"), replied, [])

    def test_it_is_not_covered(self, stores: Stores) -> None:
        waiting(stores)
        stores.ledger.claim(turn("evt_2", seq=2), message(2))
        expire(stores, "turns", TURN)
        replied = turn("evt_2", "replied", seq=2, reply_seq=3, parts=("hi",))
        with pytest.raises(TurnMoved):
            stores.ledger.commit(message(3, role="assistant"), replied, ["evt_1"])

    def test_it_is_not_marked_sent(self, stores: Stores) -> None:
        waiting(stores)
        replied = turn(state="replied", reply_seq=2, parts=("hi",))
        stores.ledger.commit(message(2, role="assistant"), replied, [])
        expire(stores, "turns", TURN)
        with pytest.raises(TurnMoved):
            stores.ledger.mark_sent(replied, "msg_1")

    def test_it_is_not_closed(self, stores: Stores) -> None:
        waiting(stores)
        expire(stores, "turns", TURN)
        with pytest.raises(TurnMoved):
            stores.ledger.close(turn(), "silent", "late")

    def test_it_is_not_apologised_for(self, stores: Stores) -> None:
        waiting(stores)
        expire(stores, "turns", TURN)
        with pytest.raises(TurnMoved):
            stores.ledger.apologise(turn())


class TestExpiredSummaries:
    def test_a_state_written_onto_one_does_not_bring_its_text_back(self, stores: Stores) -> None:
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=None)
        summary = stores.conversations.summary(CONVERSATION)
        assert (summary.text, summary.version, summary.opted_out_at) == ("", 0, NOW)

    def test_clearing_the_state_of_one_does_not_bring_its_text_back(
        self, make_stores: Callable[[int], Stores]
    ) -> None:
        stores = make_stores(7)
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=None)
        assert stores.conversations.summary(CONVERSATION).version == 0

    def test_no_share_of_a_large_compaction_is_written_on_one(self, stores: Stores) -> None:
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        notes = [fact("note", f"note {index}", item=str(index)) for index in range(110)]
        with pytest.raises(SummaryMoved):
            stores.compact(
                *(FactUpdate("note", note.item, 0, note, None) for note in notes), expected_version=1
            )
        assert stores.facts.facts(CONVERSATION) == []

    def test_one_that_somebody_has_written_anew_is_not_deleted(self, stores: Stores) -> None:
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        other = somebody_else(stores)
        just_before(stores, "DeleteItem", lambda: other.compact(text="They met."))
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=None)
        summary = stores.conversations.summary(CONVERSATION)
        assert (summary.text, summary.version, summary.opted_out_at) == ("They met.", 1, NOW)

    def test_clearing_a_state_that_nobody_has_written_makes_no_item(
        self, make_stores: Callable[[int], Stores]
    ) -> None:
        stores = make_stores(7)
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=None)
        assert stores.left(CONVERSATION) == 0


class TestRefreshing:
    """Everything of an active person lives on, but nothing that goes away meanwhile comes back."""

    def refresh(self, stores: Stores) -> None:
        stores.clock.advance(days=2)
        DynamoRetention(
            stores.client,
            messages=stores.tables["messages"],
            summaries=stores.tables["summaries"],
            facts=stores.tables["facts"],
            now=stores.clock,
            retention_days=7,
        ).refresh(CONVERSATION)

    def test_a_message_that_is_deleted_meanwhile_stays_deleted(
        self, make_stores: Callable[[int], Stores]
    ) -> None:
        stores = make_stores(7)
        stores.put_first_message()
        other = somebody_else(stores)
        just_before(stores, "UpdateItem", lambda: other.conversations.delete_messages(CONVERSATION, 1))
        self.refresh(stores)
        held = stores.client.scan(TableName=stores.tables["messages"], ConsistentRead=True)
        assert held["Items"] == []

    def test_a_fact_that_is_deleted_meanwhile_stays_deleted(self, make_stores: Callable[[int], Stores]) -> None:
        stores = make_stores(7)
        stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)])
        other = somebody_else(stores)
        just_before(stores, "UpdateItem", lambda: other.facts.erase(CONVERSATION))
        self.refresh(stores)
        held = stores.client.scan(TableName=stores.tables["facts"], ConsistentRead=True)
        assert held["Items"] == []

    def test_a_message_that_has_ended_meanwhile_stays_gone(self, make_stores: Callable[[int], Stores]) -> None:
        stores = make_stores(7)
        stores.put_first_message()
        other = somebody_else(stores)
        just_before(stores, "UpdateItem", lambda: expire(other, "messages", MESSAGE))
        self.refresh(stores)
        assert stores.conversations.newest_messages(CONVERSATION, 1) == []

    def test_a_fact_that_has_ended_meanwhile_stays_gone(self, make_stores: Callable[[int], Stores]) -> None:
        stores = make_stores(7)
        stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)])
        other = somebody_else(stores)
        key = {"conversation": {"S": CONVERSATION}, "key": {"S": "fact#name"}}
        just_before(stores, "UpdateItem", lambda: expire(other, "facts", key))
        self.refresh(stores)
        assert stores.facts.facts(CONVERSATION) == []


class TestExpiredMessages:
    def test_no_fact_comes_from_one(self, stores: Stores) -> None:
        stores.put_first_message()
        expire(stores, "messages", MESSAGE)
        with pytest.raises(MessagesGone):
            stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)], while_there=message())

    def test_none_is_revised(self, stores: Stores) -> None:
        stores.put_first_message()
        expire(stores, "messages", MESSAGE)
        assert not stores.conversations.revise(message(), text="", kind="deleted")

    def test_no_summary_stands_for_one(self, stores: Stores) -> None:
        stores.put_first_message()
        expire(stores, "messages", MESSAGE)
        for event_id in ("", "evt_1"):
            with pytest.raises(MessagesGone):
                stores.compact(newest_event_id=event_id)
