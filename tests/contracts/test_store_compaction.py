"""The contract of a compaction's commit: fake and DynamoDB."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, fact, message, summary, turn
from tests.contracts.stores import Stores
from whatsapp_agent.errors import MessagesGone, SummaryMoved
from whatsapp_agent.memory.records import Fact, FactUpdate, PastFact


def new(record: Fact) -> FactUpdate:
    return FactUpdate(record.key, record.item, 0, record, None)


def changed(old: Fact, value: str) -> FactUpdate:
    """The old fact gets a new value and goes to the history."""
    current = replace(old, value=value, version=old.version + 1, updated_at=NOW + timedelta(days=1))
    return FactUpdate(old.key, old.item, old.version, current, past(old))


def removed(old: Fact) -> FactUpdate:
    return FactUpdate(old.key, old.item, old.version, None, past(old, "obsolete"))


def past(old: Fact, reason: str = "changed") -> PastFact:
    return PastFact(old, NOW + timedelta(days=1), reason, 9)


def items(count: int) -> list[Fact]:
    return [fact("interest", f"thing {n}", item=f"i{n:03}") for n in range(count)]


class TestSummary:
    def test_summary_and_facts_are_written(self, stores: Stores):
        stores.put_first_message()
        stores.compact(new(fact()), text="Maya said hello.")
        assert stores.conversations.summary(CONVERSATION) == summary(
            text="Maya said hello.", through_seq=1, version=1, updated_at=NOW
        )
        assert stores.facts.facts(CONVERSATION) == [fact()]

    def test_a_compaction_leaves_the_state_alone(self, stores: Stores):
        stores.put_first_message()
        until = NOW + timedelta(hours=1)
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=until)
        stores.compact()
        stored = stores.conversations.summary(CONVERSATION)
        assert (stored.version, stored.opted_out_at, stored.paused_until) == (1, NOW, until)

    def test_the_second_of_two_compactions_of_one_history_does_nothing(self, stores: Stores):
        stores.put_first_message()
        stores.compact(new(fact()), text="first")
        with pytest.raises(SummaryMoved):
            stores.compact(new(fact("city", "Lima")), text="second")
        assert stores.conversations.summary(CONVERSATION).text == "first"
        assert stores.facts.facts(CONVERSATION) == [fact()]

    def test_ten_compactions_leave_one_summary(self, stores: Stores):
        stores.put_first_message()
        for version in range(10):
            stores.compact(expected_version=version, text=f"summary {version + 1}")
        assert stores.conversations.summary(CONVERSATION).text == "summary 10"
        assert stores.left(CONVERSATION) == 2

    def test_a_summary_that_an_erasure_removed_is_not_written_back(self, stores: Stores):
        stores.put_first_message()
        stores.compact()
        stores.conversations.erase(CONVERSATION)
        with pytest.raises(SummaryMoved):
            stores.compact(new(fact()), expected_version=1)
        assert stores.left(CONVERSATION) == 0

    def test_a_compaction_whose_messages_were_erased_writes_nothing(self, stores: Stores):
        stores.put_first_message()
        stores.conversations.erase(CONVERSATION)
        with pytest.raises(MessagesGone):
            stores.compact(new(fact()))
        assert stores.left(CONVERSATION) == 0

    def test_a_message_written_after_the_erasure_does_not_stand_in_for_the_erased_one(self, stores: Stores):
        stores.ledger.claim(turn("evt_old"), message(1, "old", event_id="evt_old"))
        stores.conversations.erase(CONVERSATION)
        stores.ledger.claim(turn("evt_new"), message(1, "new", event_id="evt_new"))
        with pytest.raises(MessagesGone):
            stores.compact(new(fact()), newest_event_id="evt_old")
        assert stores.facts.facts(CONVERSATION) == []
        stores.compact(new(fact()), newest_event_id="evt_new")
        assert stores.facts.facts(CONVERSATION) == [fact()]

    def test_expired_messages_are_not_compacted(self, make_stores: Callable[[int], Stores]):
        stores = make_stores(7)
        stores.put_first_message()
        stores.clock.advance(days=7)
        with pytest.raises(MessagesGone):
            stores.compact(new(fact()))
        assert stores.facts.facts(CONVERSATION) == []

    def test_an_expired_summary_has_no_version(self, make_stores: Callable[[int], Stores]):
        stores = make_stores(7)
        stores.put_first_message()
        stores.compact(text="old")
        stores.clock.advance(days=7)
        stores.put_first_message()
        with pytest.raises(SummaryMoved):
            stores.compact(expected_version=1)
        stores.compact(text="new")
        assert stores.conversations.summary(CONVERSATION).text == "new"

    def test_an_empty_text_is_an_empty_summary(self, stores: Stores):
        stores.put_first_message()
        stores.compact(text="something")
        stores.compact(expected_version=1, text="")
        stored = stores.conversations.summary(CONVERSATION)
        assert (stored.text, stored.version) == ("", 2)


class TestFacts:
    def test_a_changed_fact_goes_to_the_history(self, stores: Stores):
        stores.put_first_message()
        lima = fact("city", "Lima")
        stores.compact(new(lima), new(fact()))
        stores.compact(changed(lima, "Quito"), expected_version=1)
        assert [(each.key, each.value) for each in stores.facts.facts(CONVERSATION)] == [
            ("city", "Quito"),
            ("name", "Maya"),
        ]
        assert stores.facts.history(CONVERSATION) == [past(lima)]

    def test_an_obsolete_fact_is_only_in_the_history(self, stores: Stores):
        stores.put_first_message()
        stores.compact(new(fact()))
        stores.compact(removed(fact()), expected_version=1)
        assert stores.facts.facts(CONVERSATION) == []
        assert stores.facts.history(CONVERSATION) == [past(fact(), "obsolete")]

    @pytest.mark.parametrize("make", [lambda old: changed(old, "Mia"), removed])
    def test_a_fact_changed_meanwhile_stops_everything(self, stores: Stores, make: Callable):
        stores.put_first_message()
        stores.compact(new(fact(version=2)))
        with pytest.raises(SummaryMoved):
            stores.compact(make(fact(version=1)), new(fact("city", "Lima")), expected_version=1)
        assert stores.facts.facts(CONVERSATION) == [fact(version=2)]
        assert stores.facts.history(CONVERSATION) == []
        assert stores.conversations.summary(CONVERSATION).version == 1

    def test_a_fact_that_is_there_already_is_not_new(self, stores: Stores):
        stores.put_first_message()
        stores.compact(new(fact()))
        with pytest.raises(SummaryMoved):
            stores.compact(new(fact(value="Mia")), expected_version=1)
        assert stores.facts.facts(CONVERSATION) == [fact()]

    def test_an_expired_fact_may_be_written_anew(self, stores: Stores):
        stores.put_first_message()
        mood = fact("mood", "happy", expires_at=NOW + timedelta(days=7), version=3)
        stores.compact(new(mood))
        stores.clock.advance(days=7)
        later = fact("mood", "tired", expires_at=stores.clock() + timedelta(days=7))
        stores.compact(new(later), expected_version=1)
        assert stores.facts.facts(CONVERSATION) == [later]

    def test_removing_what_is_not_there_changes_nothing(self, stores: Stores):
        stores.put_first_message()
        stores.compact(FactUpdate("city", "", 0, None, None))
        assert stores.facts.facts(CONVERSATION) == []


class TestMoreThanOneTransaction:
    def test_150_changes_are_written_with_their_history(self, stores: Stores):
        stores.put_first_message()
        old = items(150)
        stores.compact(*(new(each) for each in old))
        assert stores.facts.facts(CONVERSATION) == old
        stores.compact(*(changed(each, "else") for each in old), expected_version=1)
        assert {each.value for each in stores.facts.facts(CONVERSATION)} == {"else"}
        assert len(stores.facts.history(CONVERSATION)) == 150
        assert stores.conversations.summary(CONVERSATION).version == 2

    def test_the_summary_is_not_written_before_the_last_slice(self, stores: Stores):
        stores.put_first_message()
        stores.compact(new(fact()))
        stale = changed(fact(version=9), "Mia")
        with pytest.raises(SummaryMoved):
            stores.compact(*(new(each) for each in items(150)), stale, expected_version=1)
        assert stores.conversations.summary(CONVERSATION).version == 1

    def test_no_slice_is_written_on_a_summary_that_has_moved(self, stores: Stores):
        stores.put_first_message()
        stores.compact()
        with pytest.raises(SummaryMoved):
            stores.compact(*(new(each) for each in items(150)))
        assert stores.facts.facts(CONVERSATION) == []

    def test_no_slice_is_written_on_erased_messages(self, stores: Stores):
        with pytest.raises(MessagesGone):
            stores.compact(*(new(each) for each in items(150)))
        assert stores.left(CONVERSATION) == 0

    def test_two_updates_of_one_fact_are_written_one_after_the_other(self, stores: Stores):
        stores.put_first_message()
        stores.compact(new(fact()), changed(fact(), "Mia"))
        assert [each.value for each in stores.facts.facts(CONVERSATION)] == ["Mia"]
        assert stores.facts.history(CONVERSATION) == [past(fact())]
