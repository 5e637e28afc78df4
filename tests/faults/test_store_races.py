"""What the conditions of the store are for, where it takes somebody else at the wrong moment to see it."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, PERSON, fact
from tests.contracts.stores import Stores
from tests.faults.races import MESSAGE, SUMMARY, expire, just_before, somebody_else
from whatsapp_agent.errors import FactMoved, SummaryMoved
from whatsapp_agent.memory.records import FactUpdate
from whatsapp_agent.store.retention import DynamoRetention


class TestLargeCompactions:
    """Of a compaction that one transaction does not hold, no share is written where the last could not be."""

    @pytest.mark.parametrize("compacted", [1, 2])
    def test_no_share_is_written_on_a_summary_that_moved_or_expired(
        self, stores: Stores, compacted: int
    ) -> None:
        stores.put_first_message()
        for version in range(compacted):
            stores.compact(expected_version=version)
        if compacted == 1:
            expire(stores, "summaries", SUMMARY)
        notes = [fact("note", f"note {index}", item=str(index)) for index in range(110)]
        with pytest.raises(SummaryMoved):
            stores.compact(
                *(FactUpdate("note", note.item, 0, note, None) for note in notes), expected_version=1
            )
        assert stores.facts.facts(CONVERSATION) == []


class TestFactsThatMoved:
    """A change holds only while the fact is as it was judged, or is not there."""

    def test_a_removal_in_a_compaction(self, stores: Stores) -> None:
        stores.put_first_message()
        stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)])
        with pytest.raises(SummaryMoved):
            stores.compact(FactUpdate("name", "", 0, None, None))
        assert [each.value for each in stores.facts.facts(CONVERSATION)] == ["Maya"]

    def test_a_change_outside_of_one(self, stores: Stores) -> None:
        stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)])
        stores.facts.write(CONVERSATION, [FactUpdate("name", "", 1, fact(value="Maia", version=2), None)])
        with pytest.raises(FactMoved):
            stores.facts.write(CONVERSATION, [FactUpdate("name", "", 1, fact(value="May", version=2), None)])
        assert [each.value for each in stores.facts.facts(CONVERSATION)] == ["Maia"]

    def test_a_removal_outside_of_one(self, stores: Stores) -> None:
        stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)])
        with pytest.raises(FactMoved):
            stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, None, None)])
        assert [each.value for each in stores.facts.facts(CONVERSATION)] == ["Maya"]


class TestAddressesAndNumbers:
    """Two who write at once: what the second has read is no longer true."""

    @pytest.mark.parametrize("known", [(), ("es.1",)])
    def test_no_address_falls_off_the_list(self, stores: Stores, known: tuple[str, ...]) -> None:
        for alias in known:
            stores.directory.alias_person(alias, PERSON)
        other = somebody_else(stores)
        just_before(stores, "TransactWriteItems", lambda: other.directory.alias_person("es.2", PERSON))
        stores.directory.alias_person("es.3", PERSON)
        assert sorted(stores.directory.aliases(PERSON)) == [*known, "es.2", "es.3"]

    @pytest.mark.parametrize("known", [(), ("es.1",)])
    def test_nor_when_the_person_moves(self, stores: Stores, known: tuple[str, ...]) -> None:
        for alias in known:
            stores.directory.alias_person(alias, PERSON)
        other = somebody_else(stores)
        just_before(stores, "TransactWriteItems", lambda: other.directory.alias_person("es.2", PERSON))
        stores.directory.move_person(PERSON, "+34699000001", NOW)
        assert stores.directory.aliases(PERSON) == ["+34699000001", *known, "es.2"]

    @pytest.mark.parametrize("agents", [(), ("sales",)])
    def test_a_new_number_inherits_the_agent_of_the_moment(
        self, stores: Stores, agents: tuple[str, ...]
    ) -> None:
        for agent in agents:
            stores.directory.assign_number("+15550100", agent)
        other = somebody_else(stores)
        just_before(stores, "TransactWriteItems", lambda: other.directory.assign_number("+15550100", "support"))
        stores.directory.replace_number("+15550100", "+15550123", "", NOW)
        assert stores.directory.resolve("+15550123", PERSON).agent == "support"

    @pytest.mark.parametrize("agents", [(), ("sales",)])
    def test_of_two_replacements_of_a_number_the_later_stays(
        self, stores: Stores, agents: tuple[str, ...]
    ) -> None:
        for agent in agents:
            stores.directory.assign_number("+15550100", agent)
        stores.directory.replace_number("+15550100", "+15550123", "", NOW + timedelta(hours=1))
        stores.directory.replace_number("+15550100", "+15550145", "", NOW)
        key = {"id": {"S": "number#+15550100"}}
        item = stores.client.get_item(TableName=stores.tables["directory"], Key=key, ConsistentRead=True)[
            "Item"
        ]
        assert item["replaced_by"]["S"] == "+15550123"


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

    def test_a_summary_that_somebody_has_written_anew_is_not_deleted(
        self, make_stores: Callable[[int], Stores]
    ) -> None:
        stores = make_stores(7)
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        other = somebody_else(stores, 7)
        just_before(stores, "DeleteItem", lambda: other.compact(text="They met."))
        self.refresh(stores)
        assert stores.conversations.summary(CONVERSATION).text == "They met."

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
