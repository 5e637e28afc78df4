"""Ranking by words in every script, fusion, floors, neighbours, and what an exchange becomes."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import CONVERSATION, NOW, message
from whatsapp_agent.memory.episodes import MOST_CHARS, episodes, place_of
from whatsapp_agent.memory.keywords import KeywordIndex, best, features, folded
from whatsapp_agent.memory.passages import Candidates, Found, Passage, RecallRules
from whatsapp_agent.memory.recall import choose, rank

FILLER = {f"f{number}": f"quite another matter, number {number}" for number in range(20)}


def first(question: str, text: str) -> str:
    ranking = best(KeywordIndex({**FILLER, "right": text, "wrong": "lorem ipsum"}).match(question))
    return ranking[0] if ranking else ""


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where is the ladder?", "I lent my ladder to the neighbour."),
        ("¿Tienes gatos?", "Mi gato se llama Luna."),
        ("dove sono le scale", "La scala è in cantina."),
        ("أين كتابي", "الكتاب على الطاولة"),
        ("猫は好きですか", "私は猫が大好きです"),
        ("我的猫在哪里", "他养了一只猫叫小白"),
        ("แมวของฉัน", "ฉันมีแมวสองตัว"),
        ("где моя кошка", "У меня есть кошки и собаки"),
        ("मेरी बिल्ली", "बिल्ली सो रही है"),
        ("η γάτα μου", "Οι γάτες κοιμούνται"),
        ("ＬＡＤＤＥＲ", "a ladder"),
        ("crème brûlée", "CREME BRULEE for two"),
    ],
)
def test_words_are_found_in_every_script_inflected_and_however_they_are_typed(question: str, text: str):
    assert first(question, text) == "right"


@pytest.mark.parametrize(
    "typed", ["QX-7731-B", "qx7731b", "QX 7731 B", "qx_7731/b", "QX-٧٧٣١-B", "ＱＸ-7731-B"]
)
def test_a_rare_code_is_found_however_its_marks_are_typed(typed: str):
    others = {f"o{number}": f"The parcel QX-77{number:02}-B left on Monday." for number in range(31)}
    index = KeywordIndex({**others, "right": "The parcel QX-7731-B left on Tuesday."})

    assert best(index.match(f"When did {typed} leave?"))[0] == "right"


def test_what_everybody_says_counts_little_and_what_only_one_says_counts_much():
    index = KeywordIndex({**{f"c{n}": "the order is late" for n in range(30)}, "rare": "the zebra is late"})

    matches = index.match("is the zebra late")

    assert best(matches)[0] == "rare"
    assert matches["rare"].share > 0.8
    assert matches["c1"].share < 0.5


def test_nothing_in_common_is_no_match():
    assert KeywordIndex({"a": "returns take 45 days"}).match("zzz") == {}
    assert KeywordIndex({}).match("anything") == {}
    assert KeywordIndex({"a": "words"}).match("") == {}


def test_what_was_said_before_helps_and_counts_less_than_the_question():
    index = KeywordIndex({**FILLER, "bakery": "the bakery opens at five", "bank": "the bank opens at nine"})

    with_context = best(index.match("when does it open", "I need the bakery", context_weight=0.5))
    against = best(index.match("when does the bank open", "I need the bakery", context_weight=0.5))

    assert with_context[0] == "bakery"
    assert against[0] == "bank"


@given(st.text(max_size=200))
def test_any_text_has_features_and_folding_is_stable(text: str):
    features(text)
    assert folded(folded(text)) == folded(text)


def chunk(place: int, text: str, source: str = "m.md") -> Passage:
    return Passage("sales", place, text, source=source)


def candidates(*passages: Passage, near: dict[int, float] | None = None) -> Candidates:
    return Candidates(
        {each.key: each for each in passages},
        {each.key: near[each.place] for each in passages if near and each.place in near},
    )


def places(passages: object) -> list[int]:
    return [each.place for each in passages]  # type: ignore[attr-defined]


def test_what_both_rankings_speak_for_comes_first():
    given_ = candidates(
        chunk(1, "the lamp is blue"),
        chunk(2, "the lamp has a shade of paper"),
        chunk(3, "bright light"),
        near={1: 0.2, 2: 0.5, 3: 0.6},
    )

    ranked = rank(given_, "shade of the lamp")

    assert ranked[0].passage.place == 2
    assert [each.score for each in ranked] == sorted((each.score for each in ranked), reverse=True)


def test_without_vectors_the_words_decide_alone():
    ranked = rank(candidates(chunk(1, "blue lamp"), chunk(2, "red chair")), "chair")

    assert places(each.passage for each in ranked) == [2]
    assert ranked[0].score == 1.0


def test_only_what_passes_one_of_the_floors_is_shown():
    given_ = candidates(chunk(1, "alpha"), chunk(2, "beta"), near={1: 0.25, 2: 0.6})
    rules = RecallRules(similarity_floor=0.5, neighbours=0)

    assert places(choose(Found(knowledge=given_), rules, "something else").knowledge) == [2]


def test_no_more_than_the_count_and_no_more_than_the_room():
    many = [chunk(place, f"lamp number {place} " + "x" * 100) for place in range(20)]

    by_count = choose(Found(knowledge=candidates(*many)), RecallRules(count=3, neighbours=0), "lamp").knowledge
    by_room = choose(
        Found(knowledge=candidates(*many)), RecallRules(count=20, chars=400, neighbours=0), "lamp"
    ).knowledge

    assert len(by_count) == 3
    assert sum(len(each.text) for each in by_room) <= 400


def test_neighbours_come_along_in_reading_order_and_never_across_documents():
    line = [chunk(place, text) for place, text in enumerate(["before", "the zebra", "after", "far away"])]
    other = chunk(2, "of another document", source="n.md")

    chosen = choose(Found(knowledge=candidates(*line, other)), RecallRules(), "zebra").knowledge

    assert [each.text for each in chosen] == ["before", "the zebra", "after"]


def test_a_neighbour_never_takes_the_room_of_a_hit():
    line = [chunk(0, "zebra one"), chunk(1, "x" * 50), chunk(2, "zebra two")]

    chosen = choose(Found(knowledge=candidates(*line)), RecallRules(chars=40), "zebra").knowledge

    assert places(chosen) == [0, 2]


def test_an_exchange_is_kept_word_by_word_with_its_date_and_its_end():
    talk = [
        message(1, "Do you deliver?"),
        message(2, "To Lisbon?"),
        message(3, "Yes.", "assistant"),
        message(4, "Great", kind="voice"),
    ]

    one, two = episodes(talk, days=30)

    assert one.text == "Do you deliver?\nTo Lisbon?\n→ Yes."
    assert (one.owner, one.place, one.sent_at) == (CONVERSATION, place_of(1), talk[0].sent_at)
    assert one.expires_at == talk[0].received_at + timedelta(days=30)
    assert two.text == "[voice] Great"
    assert two.place == place_of(4)


def test_the_same_exchange_has_the_same_key_wherever_a_compaction_is_cut():
    talk = [message(seq, f"text {seq}", "user" if seq % 2 else "assistant") for seq in range(1, 21)]

    whole = {each.key: each for each in episodes(talk, 30)}
    part = {each.key: each for each in episodes(talk[:12], 30)}

    assert part.items() <= whole.items()


def test_a_long_exchange_becomes_several_passages_in_order():
    (*parts,) = episodes([message(5, "word " * 1000)], 30)

    assert len(parts) == 4
    assert places(parts) == [place_of(5, part) for part in range(4)]
    assert all(len(each.text) <= MOST_CHARS for each in parts)
    assert " ".join(each.text for each in parts).split() == ["word"] * 1000


def test_a_silent_message_is_no_episode():
    assert episodes([message(1, "  \u200b ")], 30) == []
    assert NOW
