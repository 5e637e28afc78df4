"""What UTF-8 cannot carry, what cannot be seen, and where a broken answer is cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatsapp_agent.memory.quoting import is_blank
from whatsapp_agent.model.text import repaired, whole_sentences


@pytest.mark.parametrize(
    ("broken", "whole"),
    [
        ("One. Two. Thr", "One. Two."),
        ("¿Cómo estás? Bien, per", "¿Cómo estás?"),
        ("It costs 3.5 euros and 2.", "It costs 3.5 euros and 2."),
        ("She said “yes.” And th", "She said “yes.”"),
        ("你好。我很", "你好。"),
        ("no end at al", "no end at…"),
        ("word", "word…"),
    ],
)
def test_a_broken_answer_ends_with_its_last_whole_sentence_or_word(broken, whole):
    assert whole_sentences(broken) == whole


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t", "\u200b", "\u200f\u200e", "\ufeff \u2060", "\u3164", "\u2800", "\ufe0f"]
)
def test_text_that_nobody_can_see_is_blank(text):
    assert is_blank(text)


@pytest.mark.parametrize("text", ["a", "👍", " . ", "\u200bא"])
def test_text_that_can_be_seen_is_not_blank(text):
    assert not is_blank(text)


@given(st.text(st.characters(codec=None)))
def test_repaired_text_can_always_be_encoded_and_whole_text_stays_as_it_is(text):
    assert repaired(text).encode().decode() == repaired(text)
    assert repaired(repaired(text)) == repaired(text)
    if not any("\ud800" <= char <= "\udfff" for char in text):
        assert repaired(text) == text
