from hypothesis import given
from hypothesis import strategies as st

from tests.builders import message
from whatsapp_agent.memory.records import Usage
from whatsapp_agent.memory.window import (
    CUT_MARK,
    Budget,
    budget_for,
    choose,
    compactable,
    compaction_due,
    unanswered,
)

BUDGET = Budget(12_000, 60)


def talk(roles: str, text: str = "hello"):
    names = {"u": "user", "a": "assistant", "o": "owner"}
    return [message(seq, text, names[role]) for seq, role in enumerate(roles, start=1)]


def seqs(messages):
    return [m.seq for m in messages]


def chars(messages):
    return sum(len(m.text) for m in messages)


conversations = st.lists(
    st.tuples(st.sampled_from(["user", "assistant", "owner"]), st.text(max_size=60)), max_size=30
).map(lambda said: [message(seq, text, role) for seq, (role, text) in enumerate(said, start=1)])


# What is new


def test_unanswered_messages_are_those_after_the_last_reply():
    assert seqs(unanswered(talk("uauu"))) == [3, 4]


def test_a_reply_by_hand_answers_too():
    assert unanswered(talk("uo")) == []


def test_before_the_first_reply_everything_is_unanswered():
    assert seqs(unanswered(talk("uu"))) == [1, 2]


# The budget


def test_without_tokens_the_budget_is_in_characters():
    assert budget_for(12_000, 60, 0, [reply(100, 10)]) == Budget(12_000, 60)


def reply(prompt_chars, input_tokens, seq=1):
    return message(seq, "ok", "assistant", prompt_chars=prompt_chars, usage=Usage(input_tokens=input_tokens))


def test_tokens_become_characters_by_the_median_of_the_newest_five_replies():
    replies = [reply(5_000, 1_000)] * 9 + [reply(c, 1_000) for c in (2_000, 2_500, 4_000, 4_000, 1_500)]
    assert budget_for(12_000, 60, 1_000, replies).chars == 2_500


def test_unknown_calibration_counts_three_characters_a_token():
    assert budget_for(12_000, 60, 1_000, talk("uaua")).chars == 3_000
    assert budget_for(12_000, 60, 1_000, [reply(0, 9), reply(9, 0)]).chars == 3_000


def test_a_calibration_beyond_reason_is_clamped():
    assert budget_for(1, 60, 1_000, [reply(90_000, 1_000)]).chars == 6_000
    assert budget_for(1, 60, 1_000, [reply(10, 1_000)]).chars == 1_000


# The window


def test_everything_that_fits_is_shown_as_it_is():
    pending = talk("uauau")
    assert choose(pending, BUDGET) == pending


def test_the_newest_messages_are_kept_in_order():
    assert seqs(choose(talk("uauau", "x" * 10), Budget(30, 60))) == [3, 4, 5]
    assert seqs(choose(talk("uauau"), Budget(12_000, 2))) == [4, 5]


def test_a_gap_is_never_left_for_the_sake_of_a_shorter_older_message():
    pending = [message(1, "hi"), message(2, "x" * 70, "assistant"), message(3, "y" * 50)]
    assert seqs(choose(pending, Budget(100, 60))) == [3]


def test_the_newest_message_goes_in_however_long_cut_around_a_mark():
    text = "begin " + "x" * 60_000 + " end"
    [shown] = choose([message(1, text)], BUDGET)
    assert len(shown.text) <= BUDGET.full
    assert shown.text.startswith("begin ")
    assert shown.text.endswith(" end")
    assert CUT_MARK in shown.text


def test_a_long_message_is_cut_the_same_way_once_it_is_history():
    long = message(1, "x" * 60_000)
    [then] = choose([long], BUDGET)
    later = choose([long, message(2, "I see", "assistant"), message(3, "and?")], BUDGET)
    assert later[0] == then


def test_a_long_unanswered_message_before_the_newest_is_cut_to_the_room_left():
    window = choose([message(1, "x" * 9_000), message(2, "y" * 9_000)], BUDGET)
    assert seqs(window) == [1, 2]
    assert chars(window) <= BUDGET.chars


def test_a_cut_does_not_open_a_composed_character():
    family = "👨\u200d👩\u200d👧"
    [shown] = choose([message(1, family * 400 + "e\u0301" * 400)], Budget(300, 60))
    head, tail = shown.text.split(CUT_MARK)
    assert head.endswith("👧")
    assert tail.startswith("e")


@given(conversations, st.integers(1, 400), st.integers(1, 40))
def test_the_budget_holds_and_the_window_is_an_unbroken_run_to_the_newest(pending, room, count):
    window = choose(pending, Budget(room, count))
    assert chars(window) <= room
    assert len(window) <= count
    assert seqs(window) == seqs(pending)[len(pending) - len(window) :]
    assert bool(window) == bool(pending)


# Compaction


def test_compaction_is_due_at_the_count():
    assert not compaction_due(talk("ua" * 19 + "u"), 40, BUDGET)
    assert compaction_due(talk("ua" * 20), 40, BUDGET)


def test_compaction_is_due_past_three_quarters_of_the_text_budget():
    assert not compaction_due(talk("ua", "x" * 4_500), 40, BUDGET)
    assert compaction_due(talk("uau", "x" * 3_001), 40, BUDGET)


def test_nothing_falls_between_the_window_and_compaction():
    pending = []
    for seq in range(1, 200):
        pending.append(message(seq, "x" * 400, "user" if seq % 2 else "assistant"))
        if compaction_due(pending, 40, BUDGET):
            pending = pending[len(compactable(pending, 20, BUDGET)) :]
        assert choose(pending, BUDGET) == pending


def test_all_but_the_newest_are_compacted():
    assert seqs(compactable(talk("ua" * 20), 20)) == list(range(1, 21))


def test_a_question_stays_with_its_answer():
    assert seqs(compactable(talk("uauuaua"), 4)) == [1, 2]
    assert seqs(compactable(talk("uuaauaua"), 5)) == []
    assert seqs(compactable(talk("uuaoua"), 2)) == [1, 2, 3, 4]


def test_few_messages_are_left_alone():
    assert compactable(talk("uaua"), 20) == []
    assert compactable([], 20) == []


def test_large_messages_leave_fewer_than_asked_and_room_to_grow():
    pending = talk("ua" * 10, "x" * 1_000)
    kept = pending[len(compactable(pending, 20, BUDGET)) :]
    assert 0 < chars(kept) <= BUDGET.chars // 2
    assert kept[0].role == "user"


def test_the_last_exchange_stays_however_large():
    pending = talk("uaua", "x" * 20_000)
    assert seqs(compactable(pending, 20, BUDGET)) == [1, 2]
    assert compactable(talk("ua", "x" * 20_000), 20, BUDGET) == []


def test_unanswered_messages_are_not_compacted_for_their_size():
    assert compactable(talk("uu", "x" * 20_000), 20, BUDGET) == []
    assert seqs(compactable(talk("uauu", "x" * 20_000), 20, BUDGET)) == [1, 2]


def test_a_long_run_of_one_side_is_cut_inside_rather_than_never():
    assert seqs(compactable(talk("u" * 50), 20)) == list(range(1, 31))
    assert seqs(compactable(talk("o" * 50), 20)) == list(range(1, 31))


def test_keeping_nothing_compacts_a_finished_talk():
    assert seqs(compactable(talk("uaua"), 0)) == [1, 2, 3, 4]
    assert seqs(compactable(talk("uauau"), 0)) == [1, 2, 3, 4]


@given(conversations, st.integers(0, 30), st.integers(1, 2_000))
def test_compaction_takes_the_oldest_and_never_parts_a_question_from_its_answer(pending, keep, room):
    old = compactable(pending, keep, Budget(room, 60))
    assert old == pending[: len(old)]
    if 0 < len(old) < len(pending):
        assert not (old[-1].role == "user" and pending[len(old)].role != "user")
