"""The compaction answer's form: what is asked for, and what is believed."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatsapp_agent.errors import ModelAnswerUnusable
from whatsapp_agent.memory.records import FactChange
from whatsapp_agent.model.schema import allowed_keys, compaction_schema, read_compaction

GOOD = {"action": "set", "key": "name", "value": "Maya", "stated": True, "confidence": 1, "evidence": 3}


def answer(summary="She said her name.", **changes) -> str:
    return json.dumps({"summary": summary, "changes": [GOOD | changes]})


def test_a_good_answer_becomes_a_summary_and_changes():
    summary, changes = read_compaction(answer(), ["name"])
    assert summary == "She said her name."
    assert changes == (FactChange("set", "name", "Maya", True, 1.0, 3),)


def test_note_can_always_be_named_and_is_named_once():
    assert allowed_keys(["name", "city"]) == ["name", "city", "note"]
    assert allowed_keys(["note", "name"]) == ["note", "name"]


def test_every_object_of_the_schema_requires_all_of_its_properties_and_no_others():
    def check(part) -> int:
        if isinstance(part, list):
            return sum(map(check, part))
        if not isinstance(part, dict):
            return 0
        objects = 0
        if part.get("type") == "object":
            assert set(part["required"]) == set(part["properties"])
            assert part["additionalProperties"] is False
            objects = 1
        return objects + sum(map(check, part.values()))

    assert check(compaction_schema(["name"])) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "null",
        "[]",
        "I cannot do that.",
        '{"summary": "half of',
        '{"summary": "x"}',
        '{"changes": []}',
        '{"summary": "", "changes": []}',
        '{"summary": " \\n", "changes": []}',
        '{"summary": 7, "changes": []}',
        '{"summary": "x", "changes": {}}',
        '{"summary": "x", "changes": [7]}',
        '{"summary": "x", "changes": [{}]}',
        "[" * 100_000,
        answer(action="delete"),
        answer(key="city"),
        answer(key=["name"]),
        answer(value=None),
        answer(stated="yes"),
        answer(confidence="high"),
        answer(confidence=True),
        answer(confidence=float("nan")),
        answer(confidence=float("inf")),
        answer(evidence="3"),
        answer(evidence=3.5),
        answer(evidence=True),
    ],
)
def test_an_answer_of_another_shape_is_unusable_and_is_not_repeated_in_the_error(text):
    with pytest.raises(ModelAnswerUnusable) as raised:
        read_compaction(text, ["name"])
    assert "cannot do that" not in str(raised.value)
    assert raised.value.__cause__ is None


@pytest.mark.parametrize(("given_", "kept"), [(7, 1.0), (-1, 0.0), (0.4, 0.4), (10**400, 1.0)])
def test_confidence_is_kept_between_0_and_1(given_, kept):
    _, (change,) = read_compaction(answer(confidence=given_), ["name"])
    assert change.confidence == kept


def test_half_an_emoji_in_an_answer_becomes_a_character_that_can_be_stored():
    summary, (change,) = read_compaction(answer("She \ud83d laughed", value="\udc00"), ["name"])
    assert (summary, change.value) == ("She \ufffd laughed", "\ufffd")


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(),
    lambda part: st.lists(part) | st.dictionaries(st.sampled_from(["summary", "changes", *GOOD]), part),
)


@given(JSON)
def test_no_json_at_all_raises_anything_else(value):
    try:
        summary, changes = read_compaction(json.dumps(value), ["name"])
    except ModelAnswerUnusable:
        return
    assert summary.strip()
    assert all(change.key in ("name", "note") for change in changes)
