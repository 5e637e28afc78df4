import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import message
from whatsapp_agent.memory.condense import summary_text, transcript

CARD = "4111 1111 1111 1111"


def texts(messages):
    return [each.text for each in messages]


# What the memory model reads


def test_an_everyday_talk_is_read_as_it_is():
    talk = [message(seq, "word " * 40) for seq in range(1, 200)]
    assert transcript(talk) == talk


def test_one_pasted_wall_is_read_whole_while_it_fits():
    talk = [message(1, "hello"), message(2, "x" * 59_000)]
    assert transcript(talk) == talk


def test_ten_pasted_walls_cost_no_more_than_one_and_cost_nobody_else_a_word():
    walls = [message(seq, f"begin{seq} " + "x" * 60_000 + f" end{seq}") for seq in range(1, 11)]
    short = message(11, "I moved to Quito")
    read = transcript([*walls, short])
    assert sum(map(len, texts(read))) <= 60_000
    assert read[-1] == short
    assert all(t.startswith(f"begin{n} ") and t.endswith(f" end{n}") for n, t in enumerate(texts(read)[:-1], 1))


def test_nothing_is_read_of_nothing():
    assert transcript([]) == []


@given(st.lists(st.integers(0, 3000), max_size=60), st.integers(200, 5000))
def test_the_transcript_never_passes_its_bound_and_loses_no_message(lengths, most):
    talk = [message(seq, "x" * length) for seq, length in enumerate(lengths, start=1)]
    read = transcript(talk, most)
    assert sum(map(len, texts(read))) <= max(most, 2 * len(talk))
    assert [each.seq for each in read] == [each.seq for each in talk]
    whole = [len(each.text) for each, was in zip(read, talk, strict=True) if each == was]
    assert max(whole, default=0) <= max((len(t) for t in texts(read)), default=0)


# What is kept of its answer


def test_a_summary_of_usual_length_is_kept_as_it_is():
    text = "She started a new job. " * 50
    assert summary_text(text, []) == text.strip()


def test_an_over_long_summary_ends_after_a_whole_sentence():
    kept = summary_text("Se mudó a Berlín. " * 500, [])
    assert 3_900 < len(kept) <= 4_000
    assert kept.endswith("Berlín.")


@pytest.mark.parametrize("text", ["x" * 10_000, "word " * 2_000, "。" * 9_000])
def test_any_summary_is_bounded(text):
    assert 0 < len(summary_text(text, [])) <= 4_000


def test_a_summary_repeats_no_secret_of_the_talk():
    said = [message(1, "my password is Hunter22!"), message(2, f"and the card is {CARD}")]
    kept = summary_text(f"She said that her password is hunter22! and that her card is {CARD}.", said)
    assert "unter22" not in kept
    assert "4111" not in kept
    assert kept.startswith("She said that her password is […]")


def test_a_secret_is_found_in_the_summary_though_the_messages_are_cut_off():
    assert "482913" not in summary_text("Su código de verificación es 482913.", [])


@pytest.mark.parametrize(
    "text",
    [
        "She turned 40 on 2026-11-01 and lives at postal code 28001.",
        "Call her at +34 600 111 222.",
        "She forgot the password again.",
        "الرقم ١٢٣٤ هو رقم بيتها.",
    ],
)
def test_what_is_no_secret_stays(text):
    assert summary_text(text, []) == text
