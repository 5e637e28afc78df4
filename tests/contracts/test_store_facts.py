"""The contract of facts: fake and DynamoDB."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, fact, message
from tests.contracts.stores import Stores
from whatsapp_agent.errors import FactMoved, MessagesGone
from whatsapp_agent.memory.records import Fact, FactUpdate, PastFact

OTHER = "sales#+34600999888"
A_WEEK = timedelta(days=7)


def keep(stores: Stores, *facts: Fact, history: tuple[PastFact, ...] = ()) -> None:
    """Writes facts and former values to a conversation of which nothing is stored."""
    stores.put([message(1), message(1, conversation=OTHER)], [])
    before = [FactUpdate(each.fact.key, each.fact.item, 0, None, each) for each in history]
    stores.compact(*before, *(FactUpdate(each.key, each.item, 0, each, None) for each in facts))


def changed(old: Fact | None, new: Fact | None) -> FactUpdate:
    """The change from one fact to another, with its history."""
    fact_then = old or new
    assert fact_then is not None
    went = PastFact(old, NOW, "operator", 0) if old else None
    return FactUpdate(fact_then.key, fact_then.item, old.version if old else 0, new, went, old)


def past(record: Fact, days: int, **changes: object) -> PastFact:
    went = PastFact(record, NOW + timedelta(days=days), "changed", 5)
    return replace(went, **changes)


def test_a_fact_comes_back_as_it_was(stores: Stores):
    inferred = fact(
        "job",
        'said "nurse" 🏥',
        confidence=0.1 + 0.2,
        source="inferred",
        evidence_seq=0,
        version=12,
        updated_at=NOW + timedelta(milliseconds=1),
        expires_at=NOW + A_WEEK,
    )
    keep(stores, inferred)
    assert stores.facts.facts(CONVERSATION) == [inferred]


def test_facts_come_by_key_and_item(stores: Stores):
    keep(
        stores,
        fact("pet", item="b"),
        fact("pet", item="a"),
        fact("pet_food"),
        fact("age"),
        fact("pet", item="#odd#item"),
    )
    assert [(each.key, each.item) for each in stores.facts.facts(CONVERSATION)] == [
        ("age", ""),
        ("pet", "#odd#item"),
        ("pet", "a"),
        ("pet", "b"),
        ("pet_food", ""),
    ]


def test_nobody_reads_the_facts_of_another(stores: Stores):
    keep(stores, fact(), history=(past(fact("city", "Lima"), 1),))
    assert stores.facts.facts(OTHER) == []
    assert stores.facts.history(OTHER) == []


def test_an_expired_fact_is_gone_before_it_is_deleted(stores: Stores):
    keep(stores, fact("mood", "happy", expires_at=NOW + A_WEEK), fact())
    stores.clock.advance(days=7)
    assert [each.key for each in stores.facts.facts(CONVERSATION)] == ["name"]


def test_the_history_says_when_a_fact_expired_though_nobody_was_there(stores: Stores):
    mood = fact("mood", "happy", expires_at=NOW + A_WEEK)
    stores.facts.write(CONVERSATION, [changed(None, mood)])
    stores.clock.advance(days=7, microseconds=-1000)
    assert stores.facts.history(CONVERSATION) == []
    stores.clock.advance(microseconds=1000)
    assert stores.facts.history(CONVERSATION) == [PastFact(mood, NOW + A_WEEK, "expired", 0)]


def test_a_fact_that_is_heard_again_did_not_expire(stores: Stores):
    mood = fact("mood", "happy", expires_at=NOW + A_WEEK)
    later = replace(mood, version=2, expires_at=NOW + 2 * A_WEEK)
    stores.facts.write(CONVERSATION, [changed(None, mood)])
    stores.facts.write(CONVERSATION, [FactUpdate("mood", "", 1, later, None, mood)])
    stores.clock.advance(days=8)
    assert (stores.facts.facts(CONVERSATION), stores.facts.history(CONVERSATION)) == ([later], [])
    stores.clock.advance(days=6)
    assert stores.facts.history(CONVERSATION) == [PastFact(later, NOW + 2 * A_WEEK, "expired", 0)]


def test_a_fact_that_was_changed_in_time_did_not_expire(stores: Stores):
    mood = fact("mood", "happy", expires_at=NOW + A_WEEK)
    stores.facts.write(CONVERSATION, [changed(None, mood)])
    stores.facts.write(CONVERSATION, [changed(mood, None)])
    stores.clock.advance(days=30)
    assert stores.facts.history(CONVERSATION) == [PastFact(mood, NOW, "operator", 0)]


def test_a_fact_that_follows_an_expired_one_leaves_its_end_in_the_history(stores: Stores):
    mood = fact("mood", "happy", expires_at=NOW + A_WEEK)
    stores.facts.write(CONVERSATION, [changed(None, mood)])
    stores.clock.advance(days=8)
    stores.facts.write(CONVERSATION, [changed(None, fact("mood", "tired"))])
    assert [each.value for each in stores.facts.facts(CONVERSATION)] == ["tired"]
    assert stores.facts.history(CONVERSATION) == [PastFact(mood, NOW + A_WEEK, "expired", 0)]


def test_a_fact_is_written_changed_and_removed_with_its_history(stores: Stores):
    lima, quito = fact("city", "Lima"), fact("city", "Quito", version=2)
    stores.facts.write(CONVERSATION, [changed(None, lima)])
    assert stores.facts.facts(CONVERSATION) == [lima]
    stores.facts.write(CONVERSATION, [changed(lima, quito)])
    assert stores.facts.facts(CONVERSATION) == [quito]
    stores.facts.write(CONVERSATION, [changed(quito, None)])
    assert stores.facts.facts(CONVERSATION) == []
    assert [each.fact.value for each in stores.facts.history(CONVERSATION)] == ["Lima", "Quito"]


def test_a_change_of_another_version_is_refused_and_nothing_of_it_written(stores: Stores):
    lima = fact("city", "Lima", version=3)
    stores.facts.write(CONVERSATION, [changed(None, lima)])
    for stale in (changed(replace(lima, version=2), None), changed(None, fact("city", "Quito"))):
        with pytest.raises(FactMoved):
            stores.facts.write(CONVERSATION, [changed(None, fact("name")), stale])
    assert stores.facts.facts(CONVERSATION) == [lima]
    assert stores.facts.history(CONVERSATION) == []


def test_the_history_of_one_fact_can_be_forgotten(stores: Stores):
    keep(
        stores,
        fact("city", "Bogotá", version=3),
        history=(
            past(fact("city", "Lima"), 1),
            past(fact("city", "Quito", version=2), 2),
            past(fact("pet", "Rex", item="a"), 1),
            past(fact("pet", "Tom", item="ab"), 1),
            past(fact("city_born", "Cusco"), 1),
        ),
    )
    assert stores.facts.forget_history(CONVERSATION, "city", "") == 2
    assert stores.facts.forget_history(CONVERSATION, "pet", "a") == 1
    assert stores.facts.forget_history(CONVERSATION, "pet", "a") == 0
    assert [each.fact.value for each in stores.facts.history(CONVERSATION)] == ["Cusco", "Tom"]
    assert [each.value for each in stores.facts.facts(CONVERSATION)] == ["Bogotá"]


def test_nothing_is_written_where_there_is_nothing_to_write(stores: Stores):
    stores.facts.write(CONVERSATION, [])
    assert stores.left(CONVERSATION) == 0


def test_more_changes_than_a_transaction_holds_are_all_written(stores: Stores):
    many = [fact("interest", f"thing {n}", item=f"{n:03}", expires_at=NOW + A_WEEK) for n in range(80)]
    stores.facts.write(CONVERSATION, [changed(None, each) for each in many])
    assert stores.facts.facts(CONVERSATION) == many


def test_a_change_is_written_only_while_its_message_is_there(stores: Stores):
    first = message(1)
    with pytest.raises(MessagesGone):
        stores.facts.write(CONVERSATION, [changed(None, fact())], while_there=first)
    stores.put([message(1, event_id="evt_after_the_erasure")], [])
    with pytest.raises(MessagesGone):
        stores.facts.write(CONVERSATION, [changed(None, fact())], while_there=first)
    assert stores.facts.facts(CONVERSATION) == []
    stores.put([first], [])
    stores.facts.write(CONVERSATION, [changed(None, fact())], while_there=first)
    assert stores.facts.facts(CONVERSATION) == [fact()]


def test_a_fact_goes_at_its_own_end_or_at_that_of_the_retention(make_stores: Callable[[int], Stores]):
    stores = make_stores(30)
    short, long = fact("mood", expires_at=NOW + A_WEEK), fact("trip", expires_at=NOW + 10 * A_WEEK)
    keep(stores, short, long, fact("name"))
    assert stores.facts.facts(CONVERSATION) == [short, fact("name"), long]
    stores.clock.advance(days=7)
    assert stores.facts.facts(CONVERSATION) == [fact("name"), long]
    stores.clock.advance(days=23)
    assert stores.facts.facts(CONVERSATION) == []


def test_the_history_comes_oldest_first(stores: Stores):
    went = (
        past(fact("city", "Quito", version=2), 3),
        past(fact("city", "Lima"), 1, reason="operator", evidence_seq=0),
        past(fact("pet", "Rex", item="a#b", source="inferred", confidence=0.5), 2, reason="retired"),
    )
    keep(stores, fact("city", "Bogotá", version=3), history=went)
    assert stores.facts.history(CONVERSATION) == [went[1], went[2], went[0]]
    assert [each.value for each in stores.facts.facts(CONVERSATION)] == ["Bogotá"]


def test_the_history_of_one_key_leaves_out_longer_keys(stores: Stores):
    keep(stores, history=(past(fact("city", "Lima"), 1), past(fact("city_born", "Cusco"), 2)))
    assert [each.fact.value for each in stores.facts.history(CONVERSATION, "city")] == ["Lima"]


def test_the_history_goes_with_the_retention_not_with_the_fact(make_stores: Callable[[int], Stores]):
    stores = make_stores(30)
    keep(stores, history=(past(fact("mood", "happy", expires_at=NOW + A_WEEK), 1),))
    stores.clock.advance(days=29)
    assert len(stores.facts.history(CONVERSATION)) == 1
    stores.clock.advance(days=1)
    assert stores.facts.history(CONVERSATION) == []


def test_an_erasure_removes_facts_and_history(stores: Stores):
    keep(stores, fact(), fact("pet", item="a"), history=(past(fact("city", "Lima"), 1),))
    stores.conversations.erase(CONVERSATION)
    assert stores.facts.erase(CONVERSATION) == 3
    assert stores.left(CONVERSATION) == 0
    assert stores.left(OTHER) == 1
    assert stores.facts.erase(CONVERSATION) == 0
