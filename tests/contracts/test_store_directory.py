"""The directory's contract: fake and DynamoDB."""

import itertools
from datetime import datetime, timedelta

import pytest

from tests.builders import CONVERSATION, NOW, NUMBER, PERSON
from tests.contracts.stores import HASH_KEY, Stores, stores_on
from tests.contracts.tables import items_of
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.ports.directory import Address
from whatsapp_agent.store.directory import DynamoDirectory

A, B, C, D = "+15550101", "+15550102", "+15550103", "+15550104"
NEW = "+34699000001"
LATER = NOW + timedelta(days=1)


def agent_of(stores: Stores, number: str) -> str:
    return stores.directory.resolve(number, PERSON).agent


def person_at(stores: Stores, address: str, sent_at: datetime | None = None) -> str:
    return stores.directory.resolve("", address, sent_at).person


class TestResolve:
    def test_unknown_number_and_person_stand_for_themselves(self, stores: Stores):
        assert stores.directory.resolve(NUMBER, PERSON) == Address("", PERSON)
        assert stores.directory.resolve("", PERSON) == Address("", PERSON)

    def test_a_number_belongs_to_its_agent(self, stores: Stores):
        stores.directory.assign_number(A, "sales")
        stores.directory.assign_number(B, "support")
        assert (agent_of(stores, A), agent_of(stores, B)) == ("sales", "support")
        stores.directory.assign_number(A, "support")
        assert agent_of(stores, A) == "support"


class TestReplaceNumber:
    def test_the_new_number_inherits_the_agent_and_the_old_one_keeps_it(self, stores: Stores):
        stores.directory.assign_number(A, "sales")
        stores.directory.replace_number(A, B, "Madrid", NOW)
        assert (agent_of(stores, A), agent_of(stores, B)) == ("sales", "sales")

    @pytest.mark.parametrize("order", [*itertools.permutations([(A, B, 0), (B, C, 1), (C, D, 2)])])
    def test_a_chain_keeps_its_agent_in_whatever_order_it_arrives(self, stores: Stores, order: tuple):
        stores.directory.assign_number(A, "sales")
        for old, new, days in order:
            stores.directory.replace_number(old, new, "", NOW + timedelta(days=days))
        assert [agent_of(stores, number) for number in (A, B, C, D)] == ["sales"] * 4

    def test_doing_it_again_changes_nothing(self, stores: Stores):
        stores.directory.assign_number(A, "sales")
        stores.directory.replace_number(A, B, "", NOW)
        stores.directory.assign_number(B, "support")
        stores.directory.replace_number(A, B, "", NOW)
        assert (agent_of(stores, A), agent_of(stores, B)) == ("sales", "support")

    def test_a_number_that_has_an_agent_stays_with_it(self, stores: Stores):
        stores.directory.assign_number(A, "sales")
        stores.directory.assign_number(B, "support")
        stores.directory.replace_number(A, B, "", NOW)
        assert agent_of(stores, B) == "support"

    def test_an_older_replacement_that_arrives_late_is_passed_over(self, stores: Stores):
        stores.directory.assign_number(A, "sales")
        stores.directory.replace_number(A, C, "", LATER)
        stores.directory.replace_number(A, B, "", NOW)
        assert (agent_of(stores, B), agent_of(stores, C)) == ("", "sales")

    def test_numbers_of_the_default_agent_stay_with_it(self, stores: Stores):
        stores.directory.replace_number(A, B, "", NOW)
        assert (agent_of(stores, A), agent_of(stores, B)) == ("", "")

    def test_a_circle_of_numbers_ends(self, stores: Stores):
        stores.directory.assign_number(A, "sales")
        for old, new in ((A, B), (B, A), (A, A)):
            stores.directory.replace_number(old, new, "", NOW)
        assert (agent_of(stores, A), agent_of(stores, B)) == ("sales", "sales")

    def test_the_table_tells_the_chain(self, dynamo: Stores):
        dynamo.directory.assign_number(A, "sales")
        dynamo.directory.replace_number(A, B, "Madrid", NOW)
        dynamo.directory.replace_number(B, C, "", LATER)
        items = {
            item["id"]["S"]: {name: value["S"] for name, value in item.items() if name != "id"}
            for item in items_of(dynamo.client, dynamo.tables["directory"])
        }
        assert items == {
            f"number#{A}": {
                "agent": "sales",
                "status": "retired",
                "replaced_by": B,
                "retired_at": "2026-11-29T10:00:00.000Z",
            },
            f"number#{B}": {
                "agent": "sales",
                "status": "retired",
                "replaces": A,
                "replaced_by": C,
                "label": "Madrid",
                "retired_at": "2026-11-30T10:00:00.000Z",
            },
            f"number#{C}": {"agent": "sales", "status": "active", "replaces": B},
        }


class TestAliases:
    def test_a_new_address_leads_to_the_person(self, stores: Stores):
        stores.directory.alias_person("US.1349", PERSON)
        assert stores.directory.resolve(NUMBER, "US.1349").person == PERSON
        assert stores.directory.resolve(NUMBER, PERSON).person == PERSON

    def test_an_alias_of_an_alias_leads_to_the_person(self, stores: Stores):
        stores.directory.alias_person("+1001001", PERSON)
        stores.directory.alias_person("+1001002", "+1001001")
        assert stores.directory.resolve(NUMBER, "+1001002").person == PERSON

    def test_a_person_who_comes_back_to_their_first_number_is_the_same(self, stores: Stores):
        stores.directory.alias_person("+1001001", PERSON)
        stores.directory.alias_person(PERSON, "+1001001")
        assert stores.directory.resolve(NUMBER, PERSON).person == PERSON
        assert stores.directory.resolve(NUMBER, "+1001001").person == PERSON

    def test_an_alias_that_is_the_person_changes_nothing(self, stores: Stores):
        stores.directory.alias_person(PERSON, PERSON)
        assert stores.directory.resolve(NUMBER, PERSON).person == PERSON

    def test_doing_it_again_changes_nothing(self, stores: Stores):
        for _ in range(2):
            stores.directory.alias_person("US.1349", PERSON)
        assert stores.directory.resolve(NUMBER, "US.1349").person == PERSON

    def test_a_number_that_was_given_up_leads_to_nobodys_memory(self, stores: Stores):
        stores.directory.move_person(PERSON, NEW, NOW)
        stranger = person_at(stores, PERSON, NOW + timedelta(days=90))
        assert stranger not in (PERSON, NEW)
        assert person_at(stores, PERSON) == stranger
        assert person_at(stores, NEW) == PERSON
        assert stores.directory.aliases(PERSON) == [NEW]
        assert stores.directory.aliases(stranger) == []

    def test_what_was_sent_before_it_was_given_up_is_its_owners(self, stores: Stores):
        stores.directory.move_person(PERSON, NEW, NOW)
        assert person_at(stores, PERSON, NOW) == PERSON
        assert person_at(stores, PERSON, NOW - timedelta(minutes=1)) == PERSON

    def test_a_move_that_is_told_again_changes_nothing(self, stores: Stores):
        stores.directory.move_person(PERSON, NEW, NOW)
        stranger = person_at(stores, PERSON)
        stores.directory.move_person(PERSON, NEW, NOW + timedelta(minutes=1))
        assert (person_at(stores, PERSON), person_at(stores, NEW)) == (stranger, PERSON)

    def test_a_person_who_moves_on_leaves_nothing_at_the_number_between(self, stores: Stores):
        stores.directory.move_person(PERSON, NEW, NOW)
        stores.directory.move_person(NEW, "+34699000002", NOW + timedelta(days=1))
        assert person_at(stores, "+34699000002") == PERSON
        assert len({PERSON, NEW, person_at(stores, NEW), person_at(stores, PERSON)}) == 4
        assert stores.directory.aliases(PERSON) == [NEW, "+34699000002"]

    def test_whoever_gets_the_number_can_move_too(self, stores: Stores):
        stores.directory.move_person(PERSON, NEW, NOW)
        stranger = person_at(stores, PERSON)
        stores.directory.move_person(PERSON, "+34699000002", NOW + timedelta(days=90))
        assert person_at(stores, "+34699000002") == stranger
        assert person_at(stores, PERSON) not in (PERSON, stranger)
        assert person_at(stores, NEW) == PERSON

    def test_a_person_who_comes_back_finds_their_memory(self, stores: Stores):
        stores.directory.move_person(PERSON, NEW, NOW)
        stores.directory.move_person(NEW, PERSON, NOW + timedelta(days=1))
        assert person_at(stores, PERSON) == PERSON
        assert person_at(stores, NEW) not in (PERSON, NEW)
        stores.directory.move_person(PERSON, NEW, NOW + timedelta(days=2))
        assert person_at(stores, NEW) == PERSON

    def test_a_move_to_the_same_number_changes_nothing(self, stores: Stores):
        stores.directory.move_person(PERSON, PERSON, NOW)
        assert person_at(stores, PERSON) == PERSON

    def test_a_user_id_that_changed_stays_its_owners(self, stores: Stores):
        stores.directory.move_person("US.1349", "US.2481", NOW)
        assert person_at(stores, "US.1349") == person_at(stores, "US.2481") == "US.1349"

    def test_forgetting_either_does_not_give_the_number_back(self, stores: Stores):
        stores.directory.move_person(PERSON, NEW, NOW)
        stranger = person_at(stores, PERSON)
        stores.directory.forget_person(stranger)
        assert person_at(stores, PERSON) == stranger
        assert stores.directory.forget_person(PERSON) == 1
        assert person_at(stores, PERSON) == stranger
        assert person_at(stores, PERSON, NOW) == PERSON
        assert person_at(stores, NEW) == NEW

    def test_forgetting_whoever_had_the_number_long_ago_leaves_it_to_whoever_gave_it_up(self, stores: Stores):
        stores.directory.alias_person(NEW, "US.1349")
        stores.directory.alias_person(NEW, PERSON)
        stores.directory.move_person(NEW, "+34699000002", NOW)
        stores.directory.forget_person("US.1349")
        assert person_at(stores, NEW, NOW) == PERSON

    def test_nothing_in_the_directory_is_a_phone_number_once_both_are_forgotten(self, dynamo: Stores):
        dynamo.directory.move_person(PERSON, NEW, NOW)
        dynamo.directory.forget_person(PERSON)
        kept = items_of(dynamo.client, dynamo.tables["directory"])
        assert len(kept) == 1
        assert not any(number.removeprefix("+") in str(kept) for number in (PERSON, NEW))

    def test_an_alias_can_move_to_another_person(self, stores: Stores):
        stores.directory.alias_person("US.1349", PERSON)
        stores.directory.alias_person("US.1349", "+34600999888")
        assert stores.directory.resolve(NUMBER, "US.1349").person == "+34600999888"


class TestErasures:
    def test_the_later_erasure_counts_in_whatever_order_they_are_recorded(self, stores: Stores):
        assert stores.directory.erased_at(CONVERSATION) is None
        for moment in (NOW, LATER, NOW):
            stores.directory.record_erasure(CONVERSATION, moment)
        assert stores.directory.erased_at(CONVERSATION) == LATER

    def test_an_erasure_concerns_one_conversation(self, stores: Stores):
        stores.directory.record_erasure(CONVERSATION, NOW)
        assert stores.directory.erased_at("support" + CONVERSATION.removeprefix("sales")) is None

    def test_the_table_holds_a_keyed_hash_and_no_phone_number(self, dynamo: Stores):
        dynamo.directory.record_erasure(CONVERSATION, NOW)
        (item,) = items_of(dynamo.client, dynamo.tables["directory"])
        assert PERSON.removeprefix("+") not in str(item)
        other_key = DynamoDirectory(
            dynamo.client, directory=dynamo.tables["directory"], hash_key=b"other", now=dynamo.clock
        )
        assert other_key.erased_at(CONVERSATION) is None

    def test_a_hash_without_a_key_is_refused(self):
        with pytest.raises(ConfigurationError):
            DynamoDirectory(None, directory="x", hash_key=b"", now=lambda: NOW)  # type: ignore[arg-type]


class TestCache:
    """Two processes on the same tables."""

    def test_another_process_sees_a_numbers_new_agent_after_the_cache_time(self, dynamo: Stores):
        reader = stores_on(dynamo.client, dynamo.tables)
        assert agent_of(reader, A) == ""
        dynamo.directory.assign_number(A, "sales")
        reader.clock.advance(seconds=59)
        assert agent_of(reader, A) == ""
        reader.clock.advance(seconds=1)
        assert agent_of(reader, A) == "sales"

    def test_a_persons_alias_is_seen_at_once(self, dynamo: Stores):
        reader = stores_on(dynamo.client, dynamo.tables)
        assert reader.directory.resolve(A, "US.1349").person == "US.1349"
        dynamo.directory.alias_person("US.1349", PERSON)
        assert reader.directory.resolve(A, "US.1349").person == PERSON

    def test_the_cache_stays_small(self, dynamo: Stores):
        small = DynamoDirectory(
            dynamo.client,
            directory=dynamo.tables["directory"],
            hash_key=HASH_KEY,
            now=dynamo.clock,
            cache_size=2,
        )
        for number in (A, B, C):
            small.resolve(number, PERSON)
        dynamo.directory.assign_number(A, "sales")
        dynamo.directory.assign_number(C, "sales")
        assert small.resolve(A, PERSON).agent == "sales"
        assert small.resolve(C, PERSON).agent == ""
