from dataclasses import replace
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, fact, message, profile
from whatsapp_agent.errors import FactRefused
from whatsapp_agent.memory.corrections import remove_by_operator, set_by_operator
from whatsapp_agent.memory.facts import judge
from whatsapp_agent.memory.likeness import item_id
from whatsapp_agent.memory.records import FactChange

EARLIER = NOW - timedelta(days=30)


def corrected(key, value, *facts):
    return set_by_operator(facts, profile().fact_keys, CONVERSATION, key, value, NOW)


def test_an_operators_value_is_sure_and_says_whose_it_is():
    [update] = corrected("city", " Quito,\nEcuador ")
    assert update.new == fact(
        "city", "Quito, Ecuador", source="operator", evidence_seq=0, created_at=NOW, updated_at=NOW
    )
    assert (update.expected_version, update.past, update.before) == (0, None, None)


def test_the_value_before_goes_to_the_history():
    lima = fact("city", "Lima", version=4, created_at=EARLIER)
    [update] = corrected("city", "Quito", lima)
    assert (update.new.version, update.expected_version, update.before) == (5, 4, lima)
    assert (update.past.fact, update.past.reason, update.past.replaced_at) == (lima, "operator", NOW)


def test_the_same_value_is_confirmed_and_keeps_its_beginning():
    guess = fact("city", "lima", source="inferred", confidence=0.5, created_at=EARLIER)
    [update] = corrected("city", "Lima", guess)
    assert (update.new.value, update.new.confidence, update.new.source) == ("Lima", 1.0, "operator")
    assert (update.new.created_at, update.past) == (EARLIER, None)


def test_a_list_gets_one_more_and_retires_its_oldest_where_it_is_full():
    values = [
        fact("interest", each, item=item_id(each), updated_at=NOW - timedelta(days=age))
        for each, age in (("go", 5), ("tea", 9), ("jazz", 7))
    ]
    added, retired = corrected("interest", "chess", *values)
    assert (added.new.item, added.past) == (item_id("chess"), None)
    assert (retired.item, retired.new, retired.past.reason) == (item_id("tea"), None, "retired")
    assert len(corrected("interest", "The Go", *values)) == 1


def test_an_expired_value_counts_as_absent():
    old = fact("mood", "tired", version=7, expires_at=NOW)
    [update] = corrected("mood", "happy", old)
    assert (update.expected_version, update.new.expires_at) == (0, NOW + timedelta(days=7))


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("shoe_size", "42", "unknown_key"),
        ("city", " \u200b", "empty"),
        ("city", "x" * 201, "too_long"),
        ("note", "4111 1111 1111 1111", "card_number"),
        ("note", "password: hunter22", "secret"),
    ],
)
def test_what_nobody_may_keep_is_refused_without_repeating_it(key, value, reason):
    with pytest.raises(FactRefused) as raised:
        corrected(key, value)
    assert raised.value.code == reason
    assert value.strip("\u200b ") not in str(raised.value) or not value.strip("\u200b ")


def test_an_operator_may_write_what_only_sounds_like_an_order():
    [update] = corrected("note", "never say no to cake, that is how she is")
    assert update.new.source == "operator"


def test_a_removed_fact_is_in_the_history():
    lima = fact("city", "Lima", version=4)
    [update] = remove_by_operator([lima, fact()], "city", NOW)
    assert (update.new, update.expected_version, update.before) == (None, 4, lima)
    assert (update.past.fact, update.past.reason) == (lima, "operator")


def test_of_a_list_one_value_is_removed_or_all():
    values = [fact("interest", each, item=item_id(each)) for each in ("go", "tea")]
    assert [u.item for u in remove_by_operator(values, "interest", NOW, "Tea!")] == [item_id("tea")]
    assert len(remove_by_operator(values, "interest", NOW)) == 2


@pytest.mark.parametrize("on_record", [[], [fact("city", "Lima")], [fact("mood", "sad", expires_at=NOW)]])
def test_what_is_not_on_record_cannot_be_removed(on_record):
    with pytest.raises(FactRefused) as raised:
        remove_by_operator(on_record, "mood", NOW)
    assert raised.value.code == "not_on_record"


def test_what_an_operator_corrected_is_replaced_only_by_what_the_person_says_later():
    [update] = corrected("city", "Lima")
    stored = replace(update.new, updated_at=NOW - timedelta(minutes=5))
    change = [FactChange("set", "city", "Quito", evidence_seq=1)]
    said = message(1, "I moved to Quito", sent_at=NOW, received_at=NOW - timedelta(minutes=6))
    assert judge(change, [stored], profile(), CONVERSATION, [said], NOW).refused == {"older": 1}
    later = replace(said, received_at=NOW)
    assert judge(change, [stored], profile(), CONVERSATION, [later], NOW).updates[0].new.value == "Quito"
