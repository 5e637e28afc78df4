"""How a prompt becomes input items, marks and a cache key."""

import pytest

from whatsapp_agent.memory.exchange import PromptItem
from whatsapp_agent.model.request import MAX_MARKS, cache_key, input_items, lower_effort, takes_marks


def item(kind="message", text="hello", role="user") -> PromptItem:
    return PromptItem(role, kind, text)


def marked(items) -> list[int]:
    built = input_items(items, marks=True)
    return [place for place, message in enumerate(built) if isinstance(message["content"], list)]


@pytest.mark.parametrize(
    ("model", "takes"),
    [
        ("gpt-6-luna", True),
        ("gpt-5.6", True),
        ("gpt-5.6-sol", True),
        ("gpt-6.1-sol", True),
        ("gpt-10", True),
        ("ft:gpt-6-luna:acme", True),
        ("gpt-5.5", False),
        ("gpt-5", False),
        ("gpt-4o", False),
        ("gpt-4.1-mini", False),
        ("o3", False),
        ("llama-9", False),
    ],
)
def test_marks_are_for_models_from_gpt_5_6_on(model, takes):
    assert takes_marks(model) is takes


def test_what_recurs_is_marked_and_this_turns_own_items_are_not():
    items = [
        item("facts"),
        item("summary"),
        item("message"),
        item("message", role="assistant"),
        item("message"),
        item("notes"),
        item("new"),
    ]
    assert marked(items) == [1, 2, 4]


def test_no_more_marks_than_the_service_looks_up_and_the_newest_win():
    places = marked([item() for _ in range(MAX_MARKS + 20)])
    assert places == list(range(20, MAX_MARKS + 20))


def test_marks_change_nothing_of_the_text_and_the_next_turn_begins_with_the_same_items():
    first = [item("facts"), item("message", "a"), item("notes", "day 1"), item("new", "b")]
    second = [
        item("facts"),
        item("message", "a"),
        item("message", "b"),
        item("notes", "day 2"),
        item("new", "c"),
    ]
    assert input_items(first, marks=True)[:2] == input_items(second, marks=True)[:2]


def test_assistant_items_go_back_as_plain_messages_without_ids():
    (built,) = input_items([item(role="assistant", text="Hi!")], marks=False)
    assert built == {"type": "message", "role": "assistant", "content": "Hi!"}


def test_newer_models_are_told_that_the_assistants_messages_were_answers():
    (built,) = input_items([item(role="assistant", text="Hi!")], marks=True)
    assert built["phase"] == "final_answer"


@pytest.mark.parametrize(
    ("effort", "none_allowed", "lower"),
    [
        ("max", True, "low"),
        ("medium", False, "low"),
        ("low", True, "none"),
        ("low", False, "low"),
        ("none", True, "none"),
        (None, True, None),
    ],
)
def test_a_second_try_thinks_less(effort, none_allowed, lower):
    assert lower_effort(effort, none_allowed=none_allowed) == lower


def test_a_persons_cache_key_stays_over_turns_and_tells_nothing_of_what_was_said():
    first = cache_key("sales", [item("facts", "Maya, +34600111222"), item("notes", "day 1"), item("new", "a")])
    second = cache_key(
        "sales", [item("facts", "Maya, +34600111222"), item("message", "a"), item("notes", "day 2")]
    )
    assert first == second
    assert len(first) == len("sales-00")
    assert len({cache_key("sales", [item(text=str(n))]) for n in range(2000)}) <= 256


def test_a_cache_key_is_never_longer_than_the_service_takes():
    assert len(cache_key("a" * 100, [item()])) <= 64
