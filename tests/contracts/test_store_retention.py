"""Retention: silence forgets, activity keeps, and nothing that has gone comes back."""

from collections.abc import Callable
from datetime import timedelta

from tests.builders import CONVERSATION, NOW, fact, message, turn
from tests.contracts.stores import Stores
from whatsapp_agent.memory.records import FactUpdate, PastFact

DAYS = 30

Make = Callable[[int], Stores]


def filled(make_stores: Make, days: int = DAYS) -> Stores:
    """A compacted conversation with three messages, a fact, one with an end of its own, and a former value."""
    stores = make_stores(days)
    stores.put([message(1), message(2), message(3)], [])
    mood = fact("mood", "tired", expires_at=NOW + timedelta(days=35))
    stores.compact(
        FactUpdate("city", "", 0, fact("city", "Quito"), PastFact(fact("city", "Lima"), NOW, "changed", 1)),
        FactUpdate("mood", "", 0, mood, None),
    )
    return stores


def kept(stores: Stores) -> tuple[list[int], set[str], int, str]:
    return (
        [each.seq for each in stores.conversations.newest_messages(CONVERSATION, 10)],
        {each.value for each in stores.facts.facts(CONVERSATION)},
        len([past for past in stores.facts.history(CONVERSATION) if past.reason == "changed"]),
        stores.conversations.summary(CONVERSATION).text,
    )


EVERYTHING = ([1, 2, 3], {"Quito", "tired"}, 1, "They talked.")
NOTHING: tuple[list[int], set[str], int, str] = ([], set(), 0, "")


def test_silence_forgets(make_stores: Make) -> None:
    stores = filled(make_stores)
    stores.clock.advance(days=29)
    assert kept(stores) == EVERYTHING
    stores.clock.advance(days=2)
    assert kept(stores) == NOTHING


def test_activity_keeps_everything_but_facts_that_end_by_themselves(make_stores: Make) -> None:
    stores = filled(make_stores)
    stores.clock.advance(days=20)
    assert stores.retention.refresh(CONVERSATION) >= 6
    stores.clock.advance(days=20)
    assert kept(stores) == ([1, 2, 3], {"Quito"}, 1, "They talked.")
    stores.clock.advance(days=11)
    assert kept(stores) == NOTHING


def test_activity_is_noted_and_does_not_touch_the_summary(make_stores: Make) -> None:
    stores = filled(make_stores)
    before = stores.conversations.summary(CONVERSATION)
    assert before.active_at is None
    stores.clock.advance(days=1)
    stores.retention.refresh(CONVERSATION)
    after = stores.conversations.summary(CONVERSATION)
    assert (after.active_at, after.text, after.version) == (stores.clock(), before.text, before.version)
    stores.clock.advance(minutes=50)
    assert stores.retention.refresh(CONVERSATION) == 0


def test_a_person_who_was_never_compacted_is_kept_too(make_stores: Make) -> None:
    stores = make_stores(DAYS)
    stores.put([message(1)], [])
    stores.clock.advance(days=20)
    stores.retention.refresh(CONVERSATION)
    stores.clock.advance(days=20)
    assert [each.seq for each in stores.conversations.newest_messages(CONVERSATION, 10)] == [1]
    assert stores.conversations.summary(CONVERSATION).version == 0


def test_a_compaction_after_an_active_day_keeps_the_day(make_stores: Make) -> None:
    stores = filled(make_stores)
    stores.clock.advance(days=1)
    stores.retention.refresh(CONVERSATION)
    noted = stores.clock()
    stores.clock.advance(hours=1)
    stores.compact(expected_version=1)
    assert stores.conversations.summary(CONVERSATION).active_at == noted


def test_nothing_that_has_expired_comes_back(make_stores: Make) -> None:
    stores = filled(make_stores)
    stores.clock.advance(days=31)
    stores.retention.refresh(CONVERSATION)
    assert kept(stores) == NOTHING
    assert stores.conversations.summary(CONVERSATION).version == 0


def test_nothing_that_was_erased_comes_back(make_stores: Make) -> None:
    stores = filled(make_stores)
    stores.put([], [turn()])
    stores.conversations.erase(CONVERSATION)
    stores.facts.erase(CONVERSATION)
    stores.retention.refresh(CONVERSATION)
    assert kept(stores) == NOTHING


def test_without_a_retention_nothing_is_written(make_stores: Make) -> None:
    stores = filled(make_stores, days=0)
    assert stores.retention.refresh(CONVERSATION) == 0
    assert stores.conversations.summary(CONVERSATION).active_at is None
    stores.clock.advance(days=10_000)
    assert kept(stores) == ([1, 2, 3], {"Quito"}, 1, "They talked.")


def test_one_persons_activity_keeps_nobody_else(make_stores: Make) -> None:
    stores = filled(make_stores)
    other = "sales#+34600999888"
    stores.put([message(1, conversation=other)], [])
    stores.clock.advance(days=20)
    stores.retention.refresh(CONVERSATION)
    stores.clock.advance(days=20)
    assert stores.conversations.newest_messages(other, 10) == []
