import math
from collections import Counter
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import CONVERSATION, NOW, fact, message, profile
from whatsapp_agent.memory.facts import for_prompt, judge
from whatsapp_agent.memory.likeness import item_id, same
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.records import FactChange

MESSAGES = [message(seq, f"message {seq}", "user" if seq % 2 else "assistant", sent_at=NOW - timedelta(hours=1),
                    received_at=NOW - timedelta(hours=1)) for seq in range(10, 20)]  # fmt: skip
SAID_AT = NOW - timedelta(hours=1)


def change(key="city", value="Quito", action="set", **changes):
    return replace(FactChange(action, key, value, evidence_seq=11), **changes)


def verdict(changes, facts=(), messages=MESSAGES, agent=None, now=NOW):
    return judge(changes, facts, agent or profile(), CONVERSATION, messages, now)


def only(changes, facts=(), **others):
    result = verdict(changes, facts, **others)
    assert not result.refused
    [update] = result.updates
    return update


def refused(changes, facts=(), **others):
    result = verdict(changes, facts, **others)
    assert result.updates == ()
    return result.refused


# A new fact


def test_a_new_fact_is_written_where_there_was_none():
    update = only([change()])
    assert (update.key, update.item, update.expected_version, update.past) == ("city", "", 0, None)
    assert update.new == fact(
        "city", "Quito", evidence_seq=11, created_at=SAID_AT, updated_at=SAID_AT, version=1
    )


def test_a_value_is_kept_on_one_clean_line():
    assert only([change(value=" Quito,\nEcuador\u202e\x00 ")]).new.value == "Quito, Ecuador"


def test_another_key_is_never_touched():
    assert [u.key for u in verdict([change()], [fact("name"), fact("mood", "fine")]).updates] == ["city"]


def test_a_key_in_another_case_is_that_key():
    assert only([change("City ")]).key == "city"


def test_what_fits_no_key_becomes_a_note_that_says_what_it_is():
    update = only([change("pet_name", "Rex")])
    assert (update.key, update.item, update.new.value) == ("note", item_id("pet name: Rex"), "pet name: Rex")


def test_an_agent_without_a_note_key_still_takes_notes():
    agent = profile(fact_keys={"name": FactKey("name", "…")})
    assert only([change("pet", "Rex")], agent=agent).key == "note"


def test_a_note_stays_as_it_is():
    assert only([change("note", "Has a dog")]).new.value == "Has a dog"


# The same again


@pytest.mark.parametrize("value", ["quito", "QUITO.", "  Quito!", "Ｑｕｉｔｏ", "“Quito”", "the Quito"])
def test_the_same_value_in_other_writing_changes_nothing(value):
    assert verdict([change(value=value)], [fact("city", "Quito")]) == verdict([])


@pytest.mark.parametrize(
    ("one", "other"), [("C", "C++"), ("plan A", "plan B"), ("plan", "plan a"), ("👍", "👎")]
)
def test_different_values_stay_different(one, other):
    assert not same(one, other)


def test_a_concluded_fact_becomes_sure_when_the_person_says_it():
    guess = fact("city", "Quito", confidence=0.6, source="inferred", version=3)
    update = only([change()], [guess])
    assert (update.new.confidence, update.new.source, update.new.version) == (1.0, "stated", 4)
    assert update.new.created_at == guess.created_at
    assert (update.expected_version, update.past) == (3, None)


def test_older_evidence_for_what_is_known_is_no_refusal():
    assert verdict([change(evidence_seq=11)], [fact("city", "Quito", evidence_seq=12)]) == verdict([])


def test_a_passing_fact_that_is_heard_again_lasts_longer():
    old = fact("mood", "tired", expires_at=NOW + timedelta(days=1))
    update = only([change("mood", "Tired")], [old])
    assert (update.new.expires_at, update.new.value, update.past) == (
        SAID_AT + timedelta(days=7),
        "tired",
        None,
    )


def test_a_conclusion_does_not_prolong_what_was_said():
    old = fact("mood", "tired", expires_at=NOW + timedelta(days=1))
    assert verdict([change("mood", "tired", stated=False)], [old]).updates == ()


# A change


def test_a_single_value_is_replaced_and_the_old_one_kept():
    lima = fact("city", "Lima", version=2)
    update = only([change()], [lima])
    assert (update.new.value, update.new.version, update.expected_version) == ("Quito", 3, 2)
    assert (update.past.fact, update.past.reason, update.past.evidence_seq) == (lima, "changed", 11)
    assert update.past.replaced_at == NOW


def test_a_conclusion_never_overwrites_what_was_said():
    assert refused([change(stated=False)], [fact("city", "Lima")]) == {"inferred_over_stated": 1}
    by_hand = fact("city", "Lima", source="operator", updated_at=NOW - timedelta(days=1))
    assert refused([change(stated=False)], [by_hand]) == {"inferred_over_stated": 1}


def test_a_conclusion_may_replace_a_conclusion():
    assert only([change(stated=False)], [fact("city", "Lima", source="inferred")]).new.value == "Quito"


def test_of_several_values_for_one_key_the_last_wins_in_one_update():
    update = only([change(value="Quito"), change(value="Cuenca")], [fact("city", "Lima")])
    assert (update.new.value, update.past.fact.value) == ("Cuenca", "Lima")


def test_the_newest_evidence_wins_whatever_the_order_of_the_answer():
    update = only([change(value="Quito", evidence_seq=15), change(value="Lima", evidence_seq=11)])
    assert update.new.value == "Quito"


def test_there_and_back_within_one_answer_keeps_the_value():
    result = verdict([change(value="Quito"), change(value="Lima", evidence_seq=13)], [fact("city", "Lima")])
    assert [(u.new.value, u.past) for u in result.updates] == [("Lima", None)]


def test_older_evidence_does_not_undo_newer_knowledge():
    assert refused([change(evidence_seq=11)], [fact("city", "Lima", evidence_seq=12)]) == {"older": 1}


def test_what_an_operator_wrote_outweighs_what_was_said_before():
    corrected = fact("city", "Lima", source="operator", evidence_seq=0, updated_at=NOW - timedelta(minutes=5))
    assert refused([change()], [corrected]) == {"older": 1}
    later = replace(corrected, updated_at=NOW - timedelta(hours=2))
    assert only([change()], [later]).new.value == "Quito"


# Lists


def test_a_list_takes_one_more():
    update = only([change("interest", "chess")], [fact("interest", "go", item=item_id("go"))])
    assert (update.item, update.expected_version, update.past) == (item_id("Chess!"), 0, None)


def test_a_list_value_in_other_writing_is_found_whatever_its_id():
    assert verdict([change("interest", "The Go")], [fact("interest", "go", item="by-hand")]).updates == ()


def test_a_full_list_retires_its_oldest():
    values = [
        fact("interest", value, item=item_id(value), updated_at=NOW - timedelta(days=age))
        for value, age in (("go", 5), ("tea", 9), ("jazz", 7))
    ]
    gone, added = sorted(
        verdict([change("interest", "chess")], values).updates, key=lambda u: u.new is not None
    )
    assert (gone.item, gone.new, gone.past.reason, gone.past.evidence_seq) == (
        item_id("tea"),
        None,
        "retired",
        11,
    )
    assert added.new.value == "chess"


def test_more_new_values_than_a_list_holds_are_counted():
    result = verdict([change("interest", value, evidence_seq=11 + 2 * i) for i, value in enumerate("kqxz")])
    assert sorted(u.new.value for u in result.updates) == ["q", "x", "z"]
    assert result.refused == {"over_cap": 1}


# No longer true


def test_an_obsolete_fact_goes_to_history():
    lima = fact("city", "Lima", version=4)
    update = only([change(value="Lima", action="obsolete")], [lima])
    assert (update.new, update.expected_version) == (None, 4)
    assert (update.past.fact, update.past.reason) == (lima, "obsolete")


def test_an_obsolete_single_key_needs_no_exact_value():
    for value in ("", "the city of Lima"):
        assert only([change(value=value, action="obsolete")], [fact("city", "Lima")]).new is None


def test_an_obsolete_list_value_is_found_by_its_words():
    values = [fact("interest", v, item=item_id(v)) for v in ("playing chess", "jazz")]
    assert only([change("interest", "chess", "obsolete")], values).item == item_id("playing chess")


@pytest.mark.parametrize("value", ["Oslo", "a bakery"])
def test_a_value_that_is_not_on_record_cannot_become_obsolete(value):
    assert refused([change(value=value, action="obsolete")], [fact("city", "Lima")]) == {"not_on_record": 1}
    assert refused([change("interest", value, "obsolete")]) == {"not_on_record": 1}


def test_obsolete_and_set_in_one_answer_is_a_change():
    both = [change(value="Lima", action="obsolete"), change()]
    for changes in (both, both[::-1]):
        result = verdict(changes, [fact("city", "Lima")])
        assert [(u.new.value, u.past.reason) for u in result.updates] == [("Quito", "changed")]


def test_a_conclusion_does_not_make_what_was_said_obsolete():
    gone = change(value="Lima", action="obsolete", stated=False)
    assert refused([gone], [fact("city", "Lima")]) == {"inferred_over_stated": 1}


# Evidence, confidence, lifetime


@pytest.mark.parametrize("seq", [0, 12, 999, -1])
def test_evidence_that_is_no_message_of_the_person_becomes_their_newest(seq):
    assert only([change(evidence_seq=seq)]).new.evidence_seq == 19


def test_without_a_word_of_the_person_there_is_no_fact():
    assert refused([change()], messages=[message(1, "hi", "assistant")]) == {"no_evidence": 1}


@pytest.mark.parametrize(
    ("stated", "given", "kept"),
    [(True, 0.2, 1.0), (False, 0.5, 0.5), (False, 1.0, 0.9), (False, -3, 0.0), (False, math.nan, 0.0)],
)
def test_confidence_is_one_for_what_was_said_and_less_for_what_was_concluded(stated, given, kept):
    assert only([change(stated=stated, confidence=given)]).new.confidence == kept


def test_a_lifetime_counts_from_when_it_was_said():
    assert only([change("mood", "tired")]).new.expires_at == SAID_AT + timedelta(days=7)


def test_a_passing_fact_from_long_ago_is_not_written():
    long_ago = [message(11, "so tired", sent_at=NOW - timedelta(days=8))]
    assert refused([change("mood", "tired")], messages=long_ago) == {"expired": 1}


def test_nothing_is_learned_in_the_future():
    ahead = [message(11, "so tired", sent_at=NOW + timedelta(days=300))]
    assert only([change("mood", "tired")], messages=ahead).new.updated_at == NOW


def test_an_expired_fact_is_replaced_not_built_upon():
    old = fact("mood", "tired", version=5, expires_at=NOW - timedelta(seconds=1), evidence_seq=99)
    update = only([change("mood", "happy", stated=False)], [old])
    assert (update.expected_version, update.new.version, update.past.reason) == (5, 6, "expired")
    assert update.past.replaced_at == old.expires_at
    assert verdict([], [old]).updates == ()


# Whose words


def talk(*said):
    return [message(seq, text, role) for seq, (role, text) in enumerate(said, start=1)]


def test_what_only_the_agent_said_is_no_fact_about_the_person():
    messages = talk(("assistant", "You might enjoy the Rossi bakery."), ("user", "maybe"))
    assert refused([change("interest", "Rossi bakery")], messages=messages) == {"agents_words": 1}


def test_what_only_the_owner_said_is_none_either():
    messages = talk(("owner", "We deliver to Quito"), ("user", "good to know"))
    assert refused([change()], messages=messages) == {"agents_words": 1}


@pytest.mark.parametrize("answer", ["yes", "Sí, claro", "oui!", "はい", "是的", "نعم", "👍", "Exactly."])
def test_an_answer_yes_makes_the_agents_words_the_persons(answer):
    messages = talk(("assistant", "Do you live in Quito?"), ("user", answer))
    assert only([change(evidence_seq=2)], messages=messages).new.value == "Quito"


def test_what_both_said_is_the_persons():
    messages = talk(("user", "I moved to Quito"), ("assistant", "Quito is lovely"), ("user", "it is"))
    assert only([change()], messages=messages).new.value == "Quito"


def test_words_of_neither_are_taken_as_a_conclusion():
    messages = talk(("assistant", "How are you?"), ("user", "meh"))
    assert only([change("mood", "low spirits", stated=False)], messages=messages).new.value == "low spirits"


def test_a_password_from_the_talk_is_not_kept_in_other_words():
    messages = talk(("user", "my password is hunter22!"), ("assistant", "keep it safe"))
    assert refused([change("note", "uses hunter22 everywhere")], messages=messages) == {"secret": 1}


def test_one_refusal_does_not_cost_the_other_facts():
    result = verdict([change("note", ""), change(), change("note", "4111 1111 1111 1111")])
    assert [u.key for u in result.updates] == ["city"]
    assert result.refused == {"empty": 1, "card_number": 1}


# Whatever the model answers

KEYS = st.sampled_from(["name", "city", "mood", "interest", "note", "unheard_of", ""])
VALUES = st.one_of(
    st.sampled_from(["Lima", "lima", "Quito", "chess", "go", "jazz", "tea", ""]), st.text(max_size=220)
)
CHANGES = st.builds(
    FactChange,
    st.sampled_from(["set", "obsolete"]),
    KEYS,
    VALUES,
    st.booleans(),
    st.floats(),
    st.integers(0, 25),
)


def stored_facts():
    values = st.tuples(st.sampled_from(["name", "city", "mood", "interest", "note"]), VALUES.filter(str.strip))
    return st.lists(
        values, max_size=8, unique_by=lambda kv: (kv[0], kv[0] in "interest note" and item_id(kv[1]))
    ).map(
        lambda pairs: [
            fact(key, value, item=item_id(value) if key in ("interest", "note") else "", version=3)
            for key, value in pairs
        ]
    )


@given(st.lists(CHANGES, max_size=12), stored_facts())
def test_every_update_fits_the_store(changes, facts):
    result = verdict(changes, facts)
    versions = {(f.key, f.item): f.version for f in facts}
    assert max(Counter((u.key, u.item) for u in result.updates).values(), default=1) == 1
    for update in result.updates:
        assert update.expected_version == versions.get((update.key, update.item), 0)
        assert update.new is not None or update.past is not None
        if update.new is not None:
            assert (update.new.key, update.new.item) == (update.key, update.item)
            assert update.new.version == update.expected_version + 1
            assert 0 < len(update.new.value) <= 200
            assert update.new.value.isprintable() or not update.new.value.isascii()
            assert 0 <= update.new.confidence <= 1
        if update.past is not None:
            assert update.past.fact in facts
    assert len(result.updates) + sum(result.refused.values()) <= len(changes) + len(facts)


# What a prompt shows


def test_a_prompt_shows_no_expired_fact():
    assert for_prompt([fact(expires_at=NOW), fact("city", expires_at=NOW + timedelta(1))], profile(), NOW) == [
        fact("city", expires_at=NOW + timedelta(1))
    ]


def test_pinned_and_single_facts_come_first_then_the_newest():
    keys = {**profile().fact_keys, "allergy": FactKey("allergy", "…", kind="list", pinned=True)}
    listed = [
        fact(
            "note", f"n{i}", item=str(i), created_at=NOW - timedelta(days=i), updated_at=NOW - timedelta(days=i)
        )
        for i in range(40)
    ]
    facts = [*listed, fact("name"), fact("allergy", "nuts", item="x", updated_at=NOW - timedelta(days=900))]
    shown = for_prompt(facts, profile(fact_keys=keys), NOW)
    assert [f.key for f in shown[:2]] == ["allergy", "name"]
    assert [f.value for f in shown[2:]] == [f"n{i}" for i in range(27, -1, -1)]


def test_the_order_of_facts_does_not_depend_on_how_they_were_read():
    facts = [fact(key) for key in ("name", "city", "mood")]
    assert for_prompt(facts, profile(), NOW) == for_prompt(facts[::-1], profile(), NOW)
