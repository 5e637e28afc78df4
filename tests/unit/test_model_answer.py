"""Reading a response body, whatever shape it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatsapp_agent.errors import AgentError, ModelUnavailable
from whatsapp_agent.memory.records import Usage
from whatsapp_agent.model.answer import read_answer


def text(words, **item) -> dict:
    return {"type": "message", "content": [{"type": "output_text", "text": words}]} | item


def test_the_texts_of_all_messages_are_joined_and_reasoning_is_passed_over():
    body = {
        "status": "completed",
        "output": [{"type": "reasoning", "id": "rs_1"}, text("Hello "), text("there")],
    }
    assert read_answer(body).text == "Hello there"


def test_commentary_is_not_for_the_person_unless_there_is_nothing_else():
    commentary = text("let me think", phase="commentary")
    assert read_answer({"output": [commentary, text("Hi!", phase="final_answer")]}).text == "Hi!"
    assert read_answer({"output": [commentary]}).text == "let me think"


def test_usage_is_counted_with_the_cached_share():
    usage = {"input_tokens": 9, "output_tokens": 3, "input_tokens_details": {"cached_tokens": 4}}
    assert read_answer({"output": [], "usage": usage}).usage == Usage(9, 4, 3)


@pytest.mark.parametrize(
    "usage", [None, {}, [], {"input_tokens": "9"}, {"input_tokens": -1, "output_tokens": True}]
)
def test_usage_that_cannot_be_read_counts_as_none(usage):
    assert read_answer({"output": [], "usage": usage}).usage == Usage()


@pytest.mark.parametrize("status", ["queued", "in_progress", "cancelled", "", 7, None])
def test_an_unfinished_response_is_tried_again_later(status):
    with pytest.raises(ModelUnavailable):
        read_answer({"status": status, "output": [text("Hi!")]})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda part: st.lists(part, max_size=3) | st.dictionaries(
        st.sampled_from(["status", "error", "output", "type", "content", "text", "refusal", "usage", "code"])
        | st.text(max_size=3),
        part,
        max_size=4,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON, JSON, JSON)
def test_no_body_raises_anything_but_the_applications_errors(body, output, usage):
    for candidate in (
        body,
        {"output": output, "usage": usage},
        {"output": [{"type": "message", "content": body}]},
    ):
        try:
            answer = read_answer(candidate)
        except AgentError:
            continue
        assert isinstance(answer.text, str)
