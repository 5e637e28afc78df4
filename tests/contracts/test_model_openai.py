"""The OpenAI adapter over real HTTP: what it sends, and what it makes of every way to go wrong."""

import traceback
from collections.abc import Iterator

import pytest

from tests.builders import NOW, fact, message, profile, summary
from tests.contracts.model_rigs import API_KEY, KeptTools, ServiceRig, prompt, service, transcript
from tools.local.simulated_model.control import Failure
from whatsapp_agent.errors import (
    ConfigurationError,
    ModelAnswerUnusable,
    ModelRefused,
    ModelUnavailable,
)
from whatsapp_agent.memory.exchange import Prompt, PromptItem
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.prompt import compaction_prompt, reply_prompt
from whatsapp_agent.model.responses import OpenAIModel

KEYS = {"name": FactKey("name", "What the person is called")}


@pytest.fixture
def rig() -> Iterator[ServiceRig]:
    made = service(cache_prefix="sales")
    yield made
    made.close()


def bodies(rig: ServiceRig) -> list[dict]:
    return [entry["body"] for entry in rig.server.control.requests()]


def test_nothing_is_stored_at_the_service_and_no_tools_are_offered(rig):
    rig.model.reply(prompt(), seconds=20)
    rig.model.compact(transcript("I'm Maya"), KEYS, seconds=20)
    assert [body["store"] for body in bodies(rig)] == [False, False]
    assert not any("tools" in body for body in bodies(rig))


def test_a_round_gives_back_what_the_model_wrote_and_the_tools_answer(rig):
    reply = rig.model.reply(prompt("I live in Lima"), seconds=20, tools=KeptTools('{"ok": true, "n": 7}'))
    first, second = bodies(rig)
    assert second["input"][: len(first["input"])] == first["input"]
    call, output = second["input"][len(first["input"]) :]
    assert (call["type"], call["name"]) == ("function_call", "remember_fact")
    assert output == {
        "type": "function_call_output",
        "call_id": call["call_id"],
        "output": '{"ok": true, "n": 7}',
    }
    assert first["tools"] == second["tools"]
    assert [body["store"] for body in (first, second)] == [False, False]
    usages = [entry["answer"]["usage"] for entry in rig.server.control.requests()]
    assert reply.usage.input_tokens == sum(usage["input_tokens"] for usage in usages)
    assert reply.usage.output_tokens == sum(usage["output_tokens"] for usage in usages)


def test_tools_are_offered_strictly_and_reasoning_comes_back_encrypted(rig):
    rig.model.reply(prompt("hello"), seconds=20, tools=KeptTools())
    (body,) = bodies(rig)
    (tool,) = body["tools"]
    assert (tool["type"], tool["name"], tool["strict"]) == ("function", "remember_fact", True)
    assert body["include"] == ["reasoning.encrypted_content"]


def test_the_last_round_keeps_the_tools_in_the_request_and_forbids_them(rig):
    rig.server.control.fail(Failure(kind="function_call", times=-1))
    rig.model.reply(prompt("hello"), seconds=20, tools=KeptTools())
    sent = bodies(rig)
    assert [body.get("tool_choice") for body in sent] == [None] * 4 + ["none"]
    assert all(body["tools"] for body in sent)


def test_no_further_round_is_begun_when_time_runs_out(rig):
    rig.server.control.fail(Failure(kind="function_call", times=-1))
    rig.model.reply(prompt("hello"), seconds=6, tools=KeptTools())
    assert [body.get("tool_choice") for body in bodies(rig)] == [None, "none"]


def test_an_empty_toolbox_is_not_offered(rig):
    class Nothing(KeptTools):
        specs = ()

    rig.model.reply(prompt(), seconds=20, tools=Nothing())
    assert "tools" not in bodies(rig)[0]


def test_a_count_asks_for_the_prompt_alone(rig):
    rig.model.count_tokens(Prompt("", (PromptItem("user", "new", "hello"),)), seconds=20)
    (entry,) = rig.server.control.requests()
    assert entry["path"] == "/v1/responses/input_tokens"
    assert "instructions" not in entry["body"]


@pytest.mark.parametrize("failure", [Failure(status=503), Failure(status=404, code="not_found")])
def test_a_service_that_cannot_count_says_so(rig, failure):
    rig.server.control.fail(failure)
    with pytest.raises((ModelUnavailable, ModelRefused)):
        rig.model.count_tokens(prompt(), seconds=20)


def test_roles_and_order_of_the_prompt_reach_the_service(rig):
    items = (
        PromptItem("user", "message", "I live in Lima"),
        PromptItem("assistant", "message", "How nice!"),
        PromptItem("user", "new", "where do I live?"),
    )
    reply = rig.model.reply(Prompt("You are Max.", items), seconds=20)
    seen = rig.server.control.requests()[0]["prompt"]
    assert seen["instructions"] == "You are Max."
    assert [(item["role"], item["text"]) for item in seen["items"]] == [(i.role, i.text) for i in items]
    assert "Lima" in reply.text


def test_the_products_own_prompts_are_taken_and_answered_from_memory(rig):
    facts = [fact("name", "Maya"), fact("city", "Lima")]
    window = [message(1, "hello"), message(2, "Hi!", role="assistant"), message(3, "where do I live?")]
    reply = rig.model.reply(reply_prompt(profile(), facts, summary(), window, NOW), seconds=20)
    assert "Lima" in reply.text
    asked = [message(1, "My name is Maya"), message(2, "Hi!", role="assistant"), message(3, "I live in Quito")]
    answer = rig.model.compact(
        compaction_prompt(profile(), facts, summary(), asked, NOW), profile().fact_keys, seconds=20
    )
    assert [(change.key, change.value, change.evidence_seq) for change in answer.changes] == [
        ("city", "Quito", 3)
    ]
    assert "Maya" in answer.summary


def test_usage_comes_back_with_the_cached_share(rig):
    long = prompt("Hi! I'm Maya.", instructions="You are Max. " * 800)
    first = rig.model.reply(long, seconds=20).usage
    second = rig.model.reply(long, seconds=20).usage
    assert first.input_tokens == second.input_tokens > 1024
    assert first.output_tokens > 0
    assert (first.cached_tokens, second.cached_tokens > 1024) == (0, True)


def test_an_answer_without_room_is_asked_for_once_more_with_more_room_and_less_thinking(rig):
    rig.server.control.fail(Failure(kind="incomplete"))
    reply = rig.model.reply(prompt(), seconds=20)
    asked = bodies(rig)
    assert "Maya" in reply.text
    assert [body["max_output_tokens"] for body in asked] == [2000, 8000]
    assert [body["reasoning"]["effort"] for body in asked] == ["low", "none"]
    one_call = rig.model.reply(prompt(), seconds=20).usage
    assert reply.usage.input_tokens == 2 * one_call.input_tokens


def test_without_time_for_a_second_try_the_first_is_unusable(rig):
    rig.server.control.fail(Failure(kind="incomplete"))
    with pytest.raises(ModelAnswerUnusable):
        rig.model.reply(prompt(), seconds=1.5)
    assert len(bodies(rig)) == 1


def test_a_reply_that_broke_off_is_cut_after_its_last_whole_sentence(rig):
    rig.server.control.fail(Failure(kind="incomplete_text"))
    assert rig.model.reply(prompt(), seconds=20).text == "This is a whole sentence."


def test_a_compaction_that_broke_off_is_tried_once_with_more_room_and_never_used_in_part(rig):
    rig.server.control.fail(Failure(kind="incomplete_json"))
    assert rig.model.compact(transcript("I'm Maya"), KEYS, seconds=20).summary
    rig.server.control.fail(Failure(kind="incomplete_json", times=2))
    with pytest.raises(ModelAnswerUnusable):
        rig.model.compact(transcript("I'm Maya"), KEYS, seconds=20)


@pytest.mark.parametrize("kind", ["refusal", "wrong_shape", "empty", "blank", "content_filter"])
def test_a_compaction_answer_of_another_shape_is_unusable(rig, kind):
    rig.server.control.fail(Failure(kind=kind))
    with pytest.raises(ModelAnswerUnusable):
        rig.model.compact(transcript("I'm Maya"), KEYS, seconds=20)


def test_a_call_of_a_tool_that_was_not_offered_is_passed_over(rig):
    rig.server.control.fail(Failure(kind="function_call"))
    assert "Maya" in rig.model.reply(prompt(), seconds=20).text


@pytest.mark.parametrize("kind", ["failed", "error"])
@pytest.mark.parametrize("code", ["server_error", "rate_limit_exceeded", "something_new"])
def test_a_failure_inside_http_200_is_tried_again_later(rig, kind, code):
    rig.server.control.fail(Failure(kind=kind, code=code))
    with pytest.raises(ModelUnavailable):
        rig.model.reply(prompt(), seconds=20)


def test_a_prompt_that_breaks_the_services_policy_is_refused_for_good(rig):
    rig.server.control.fail(Failure(kind="failed", code="invalid_prompt"))
    with pytest.raises(ModelRefused) as raised:
        rig.model.reply(prompt(), seconds=20)
    assert raised.value.code == "invalid_prompt"


@pytest.mark.parametrize("kind", ["drop", "not_json"])
def test_a_broken_connection_and_a_proxys_page_are_tried_again_later(rig, kind):
    rig.server.control.fail(Failure(kind=kind))
    with pytest.raises(ModelUnavailable):
        rig.model.reply(prompt(), seconds=20)


def test_nobody_listening_is_tried_again_later():
    gone = service()
    gone.server.close()
    with pytest.raises(ModelUnavailable):
        gone.model.reply(prompt(), seconds=20)
    gone.model.close()


def test_a_service_that_hangs_is_given_up_in_time(rig):
    rig.server.control.delay(1.0)
    with pytest.raises(ModelUnavailable):
        rig.model.reply(prompt(), seconds=0.2)


def test_a_service_that_drips_blanks_is_given_up_in_time(rig):
    rig.server.control.fail(Failure(kind="drip"))
    with pytest.raises(ModelUnavailable):
        rig.model.reply(prompt(), seconds=0.5)


def test_the_client_does_not_retry_behind_the_callers_back(rig):
    rig.server.control.fail(Failure(status=500))
    with pytest.raises(ModelUnavailable):
        rig.model.reply(prompt(), seconds=20)
    assert len(bodies(rig)) == 1


def test_neither_the_error_nor_its_traceback_holds_the_services_words(rig):
    for failure in (Failure(status=401, code="invalid_api_key"), Failure(status=500), Failure(kind="failed")):
        rig.server.control.fail(failure)
        with pytest.raises((ModelRefused, ModelUnavailable)) as raised:
            rig.model.reply(prompt(), seconds=20)
        shown = "".join(traceback.format_exception(raised.value))
        assert "sk-" not in shown
        assert "simulated failure" not in shown


def test_half_an_emoji_does_not_stop_the_reply(rig):
    assert "Maya" in rig.model.reply(prompt("I'm Maya \ud83d"), seconds=20).text


@pytest.mark.parametrize("key", ["", " ", "sk-ké", "sk-a b", "sk-a\n"])
def test_a_key_that_no_header_can_carry_is_a_configuration_error_that_does_not_show_it(key):
    with pytest.raises(ConfigurationError) as raised:
        OpenAIModel(key, "gpt-6-luna")
    assert "sk-" not in str(raised.value)


def test_models_that_do_not_reason_are_not_sent_an_effort():
    rig = service(effort=None)
    rig.model.reply(prompt(), seconds=20)
    assert "reasoning" not in bodies(rig)[0]
    rig.close()


def test_models_of_the_marking_kind_get_marks_where_the_prompt_will_recur(rig):
    items = (
        PromptItem("user", "facts", 'label\nFacts:\n- name: "Maya"'),
        PromptItem("user", "message", "I live in Lima"),
        PromptItem("assistant", "message", "How nice!"),
        PromptItem("user", "notes", "For this message only:\n- Date and hour: 2026-11-29"),
        PromptItem("user", "new", "where do I live?"),
    )
    rig.model.reply(Prompt("You are Max.", items), seconds=20)
    body = bodies(rig)[0]
    marked = [isinstance(item["content"], list) for item in body["input"]]
    assert marked == [True, True, False, False, False]
    assert body["prompt_cache_options"] == {"mode": "explicit"}
    assert body["prompt_cache_key"].startswith("sales-")


def test_older_models_and_other_services_get_no_marks():
    rig = service(marks=False)
    rig.model.reply(prompt(), seconds=20)
    body = bodies(rig)[0]
    assert "prompt_cache_options" not in body
    assert all(isinstance(item["content"], str) for item in body["input"])
    rig.close()


def test_the_key_goes_into_the_header_and_nowhere_else(rig):
    rig.model.reply(prompt(), seconds=20)
    assert API_KEY not in str(rig.server.control.requests())
