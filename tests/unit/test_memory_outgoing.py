import re

import pytest
import regex
from hypothesis import assume, given
from hypothesis import strategies as st

from whatsapp_agent.memory.outgoing import split, to_whatsapp, utf16_units

# Markdown to WhatsApp


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        # bold, italic, struck
        ("**hello**", "*hello*"),
        ("say **hello**, please", "say *hello*, please"),
        ("__very important__", "*very important*"),
        ("*hello*", "_hello_"),
        ("_hello_", "_hello_"),
        ("~~gone~~", "~gone~"),
        ("***x***", "*_x_*"),
        ("**bold *it* x**", "*bold _it_ x*"),
        ("*it **b** x*", "_it *b* x_"),
        ("**a** and **b**", "*a* and *b*"),
        ("**¡Hola!** ¿*qué* tal?", "*¡Hola!* ¿_qué_ tal?"),
        ("这是**重要**的", "这是*重要*的"),
        ("**Price:** 5 €", "*Price:* 5 €"),
        # what only looks like it
        ("2*3*4", "2*3*4"),
        ("2 * 3 * 4", "2 * 3 * 4"),
        ("2**3**4", "2**3**4"),
        ("(2*3)*4 and (a)*(b)*(c)", "(2*3)*4 and (a)*(b)*(c)"),
        ("5 * 3 and *yes*", "5 * 3 and _yes_"),
        ("__init__", "__init__"),
        ("snake_case_name", "snake_case_name"),
        ("** no **", "** no **"),
        ("2 ~ 3 ~~ 4", "2 ~ 3 ~~ 4"),
        (r"\*x\*", "*x*"),
        (r"a \_ b", "a _ b"),
        ("#hashtag", "#hashtag"),
        ("1. one\n2. two", "1. one\n2. two"),
        # code keeps its characters
        ("`**x**`", "`**x**`"),
        ("``a`b``", "```a`b```"),
        ("**`x_y`**", "*`x_y`*"),
        ("```python\nx = **y**\n\n\n\n# no heading\n```", "```\nx = **y**\n\n\n\n# no heading\n```"),
        ("~~~\n* x *\n~~~", "```\n* x *\n```"),
        ("```\nnever closed **x**", "```\nnever closed **x**\n```"),
        ("````\n```\n````", "```\n'''\n```"),
        ("- step\n    ```sh\n    ls *\n    ```", "- step\n```\n    ls *\n```"),
        # lines
        ("# Title", "*Title*"),
        ("## **Bold** title ##", "*Bold title*"),
        ("# C#", "*C#*"),
        ("* item", "- item"),
        ("* **Item**: x\n  * sub", "- *Item*: x\n  - sub"),
        ("+ item", "- item"),
        ("+ 34 600 111 222", "+ 34 600 111 222"),
        ("- [ ] open\n- [x] done", "- ☐ open\n- ☑ done"),
        (">**quoted**", "> *quoted*"),
        ("a\n\n---\n\nb", "a\n\nb"),
        ("a<br>b", "a\nb"),
        # links
        ("[shop](http://e.example)", "shop (http://e.example)"),
        ("[http://e.example](http://e.example)", "http://e.example"),
        ('[shop](http://e.example/a_(b) "title")', "shop (http://e.example/a_(b))"),
        ("**[shop](http://e.example)**", "*shop (http://e.example)*"),
        ("[mail](mailto:a@e.example)", "mail (a@e.example)"),
        ("![menu](http://e.example/a_b_c.png)", "menu (http://e.example/a_b_c.png)"),
        ("<https://e.example/a_b_c>", "https://e.example/a_b_c"),
        ("see http://e.example/_a_/__b__", "see http://e.example/_a_/__b__"),
        ("[above](#part)", "above"),
        ("[not a link] (really)", "[not a link] (really)"),
        # tables
        (
            "| Plan | Price | Users |\n|:--|--:|---|\n| Basic | **5 €** | 3 |\n| Pro | 9 € |  |\n\nAsk!",
            "- *Basic* | Price: *5 €* | Users: 3\n- *Pro* | Price: 9 €\n\nAsk!",
        ),
        ("a | b", "a | b"),
        ("a | b\n---", "a | b"),
        # never nothing
        ("---", "---"),
        ("", ""),
    ],
)
def test_markdown_becomes_whatsapps_marks(markdown, shown):
    assert to_whatsapp(markdown) == shown


@given(st.text(st.sampled_from("ab 1.,!?\n()áñ你😀-"), max_size=60))
def test_plain_text_stays_but_for_lines_of_decoration(text):
    assume(not re.search(r"(?m)^\s*(-\s|[-\s]+$)|\n\n\n|^\n|\n$", text))
    assert to_whatsapp(text) == text


@given(st.text(st.sampled_from("ab *_~`#>|[]()\\-\n!<:\ufdd0\ufdd3"), max_size=80))
def test_no_text_breaks_the_conversion_and_its_letters_stay(text):
    shown = to_whatsapp(text)
    assert bool(shown.strip()) == bool(text.strip())
    assert not set(shown) & set("\ufdd1\ufdd2\ufdd4")


# Parts


def bare(text):
    return re.sub(r"\s|`", "", text)


@pytest.mark.parametrize(("length", "parts"), [(1, 1), (4096, 1), (4097, 2), (8200, 3), (50_000, 10)])
def test_parts_hold_at_most_4096_and_there_are_at_most_ten(length, parts):
    cut = split("a" * length)
    assert len(cut) == parts
    assert all(0 < utf16_units(part) <= 4096 for part in cut)


def test_text_beyond_the_last_part_ends_with_an_ellipsis():
    assert split("a" * 50_000)[-1].endswith("a…")
    assert not split("a" * 40_960)[-1].endswith("…")


def test_the_stricter_unit_counts():
    assert [utf16_units(part) for part in split("😀" * 4096)] == [4096, 4096]


@pytest.mark.parametrize(
    "text",
    ["a" * 4094 + "👨‍👩‍👧‍👦" + "Z", "🇧🇷" * 2100, "e\u0301" * 2100, "क्षि" * 1500, "👍🏽" * 1500, "👩‍🚀" * 1200],
)
def test_no_grapheme_is_cut(text):
    parts = split(text)
    assert "".join(parts) == text
    assert [g for part in parts for g in regex.findall(r"\X", part)] == regex.findall(r"\X", text)


def test_a_grapheme_longer_than_a_part_is_cut_all_the_same():
    assert "".join(split("e" + "\u0301" * 99, 64)) == "e" + "\u0301" * 99


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("first part here\n\nsecond. part here\nthird", ("first part here", "second. part here\nthird")),
        ("first. part here\nsecond part here.", ("first. part here", "second part here.")),
        ("One sentence. Another sentence here", ("One sentence.", "Another sentence here")),
        ("one two three four five six seven", ("one two three four five six", "seven")),
        ("Costs 3.50 and 1. no 2. yes, maybe", ("Costs 3.50 and 1. no 2.", "yes, maybe")),
        ("你好世界你好世界你好。世界你好世界你好世界", ("你好世界你好世界你好。", "世界你好世界你好世界")),
    ],
)
def test_the_best_place_is_a_paragraph_then_a_line_a_sentence_a_word(text, parts):
    assert split(text, 27 if text.isascii() else 16) == parts


def test_a_tiny_first_paragraph_does_not_make_a_tiny_part():
    assert len(split("Hi!\n\n" + "word " * 30, 100)) == 2


def test_a_marked_span_is_not_cut():
    assert split("some words before *a bold thing here* after", 30) == (
        "some words before",
        "*a bold thing here* after",
    )
    assert split("some words before `a code thing here` after", 30)[1] == "`a code thing here` after"


def test_a_code_block_that_is_cut_is_closed_and_opened_again():
    code = "Look:\n\n```\n" + "\n".join(f"    line {n}" for n in range(20)) + "\n```\n\nDone."
    parts = split(code, 100)
    assert len(parts) > 2
    assert all(part.count("```") == 2 for part in parts)
    assert "\n    line 9\n" in "\n".join(parts)
    assert parts[-1].endswith("```\n\nDone.")
    assert bare("".join(parts)) == bare(code)


def test_no_part_is_an_empty_code_block():
    for room in range(64, 90):
        for before in range(40, 80):
            parts = split("x" * before + "\n```\ncode here\n```\n" + "after " * 12, room)
            assert not any(re.search(r"```\s*```", part) for part in parts)


@pytest.mark.parametrize(
    "text", ["", " ", "\n\n", "\u200b", "\u3164", "\u2800 \ufe0f", "\u115f\n\u1160", "\u2060" * 9000, "\u0301"]
)
def test_nothing_makes_no_part(text):
    assert split(text) == ()


def test_a_part_of_which_nothing_can_be_seen_is_left_out():
    assert split("hello" + "\n" + "\u2800 " * 7 + "\u2800\nbye", 16) == ("hello", "bye")


@pytest.mark.parametrize(("limit", "parts"), [(15, 1), (100, 0)])
def test_limits_that_leave_no_room_are_refused(limit, parts):
    with pytest.raises(ValueError, match="room"):
        split("hello", limit, parts)


PIECES = st.sampled_from(
    [
        "a",
        "bb ",
        "\n",
        "\n\n",
        "```\n",
        "\n```\n",
        "*x y*",
        "😀",
        "👨‍👩‍👧",
        ". ",
        "e\u0301",
        "  ",
        "你好。",
        "_",
        "`c d`",
    ]
)
TEXTS = st.lists(PIECES, max_size=120).map("".join)


@given(TEXTS, st.integers(16, 200))
def test_the_parts_joined_are_the_text_but_for_space_at_cuts_and_fences(text, limit):
    parts = split(text, limit, 1_000)
    assert all(part.strip() and utf16_units(part) <= limit for part in parts)
    assert bare("".join(parts)) == bare(text)
    if "```" not in text:
        rest = text
        for part in parts:
            rest = rest.lstrip()
            assert rest.startswith(part)
            rest = rest[len(part) :]
        assert not rest.strip()


@given(TEXTS, st.integers(64, 200), st.integers(1, 3))
def test_every_part_is_complete_on_its_own(text, limit, most):
    assume(text.count("```") % 2 == 0)
    parts = split(text, limit, most)
    assert len(parts) <= most
    assert all(utf16_units(part) <= limit and part.count("```") % 2 == 0 for part in parts)


@given(TEXTS, st.integers(16, 100), st.integers(1, 3))
def test_what_was_left_out_shows(text, limit, most):
    parts = split(text, limit, most)
    if bare("".join(parts)) != bare(text):
        assert len(parts) == most
        assert parts[-1].endswith("…")
