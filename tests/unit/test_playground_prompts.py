"""The page reads the model's requests as the product's own prompt layout."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.builders import fact, message
from tools.local.playground.prompts import asked_of, belongs, shared_chars
from tools.local.simulated_model.control import Control
from whatsapp_agent.agents import load_agent
from whatsapp_agent.memory.exchange import Prompt
from whatsapp_agent.memory.prompt import compaction_prompt, reply_prompt
from whatsapp_agent.memory.records import Summary
from whatsapp_agent.model.request import input_items

AGENTS = Path(__file__).resolve().parents[2] / "layers" / "agents"
PROFILE = load_agent(AGENTS, "companion")
NOW = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
CONVERSATION = "companion#+34600111222"
TALK = (
    message(seq=1, role="user", text="Hola, me llamo Maya."),
    message(seq=2, role="assistant", text="¡Hola, Maya!"),
    message(seq=3, role="user", text="Tengo un gato."),
)
FACTS = (fact(key="name", value="Maya"),)
SUMMARY = Summary(CONVERSATION, "Maya contó que vive en Sevilla.", through_seq=0, version=1)


def entry(prompt: Prompt, number: int = 1, **body: Any) -> dict[str, Any]:
    """A request as the simulated model's log has it, answered."""
    control = Control()
    request = {"model": "gpt-6-luna", "instructions": prompt.instructions, **body}
    request["input"] = input_items(prompt.items, marks=True)
    logged = control.record("/v1/responses", request, None)
    usage = {"input_tokens": 900, "input_tokens_details": {"cached_tokens": 512}, "output_tokens": 7}
    said = {"type": "message", "content": [{"type": "output_text", "text": "Hola"}]}
    control.complete(logged, 200, {"output": [said], "usage": usage})
    return {**logged, "number": number}


def a_reply_prompt() -> Prompt:
    return reply_prompt(PROFILE, FACTS, SUMMARY, TALK, NOW)


def test_the_parts_of_a_reply_have_the_kinds_that_the_prompt_gave_them():
    prompt = a_reply_prompt()
    asked = asked_of(entry(prompt), PROFILE)
    assert asked is not None
    assert [part.kind for part in asked.parts] == ["instructions", *(item.kind for item in prompt.items)]
    assert asked.purpose == "reply"
    assert asked.usage == {"input": 900, "cached": 512, "output": 7}
    assert asked.answer == "Hola"
    assert asked.chars == prompt.chars


def test_the_parts_of_a_compaction_have_the_kinds_that_the_prompt_gave_them():
    prompt = compaction_prompt(PROFILE, FACTS, SUMMARY, TALK, NOW)
    asked = asked_of(entry(prompt, text={"format": {"type": "json_schema"}}), PROFILE)
    assert asked is not None
    assert [part.kind for part in asked.parts] == ["instructions", *(item.kind for item in prompt.items)]
    assert asked.purpose == "memory"
    assert belongs(asked, {one.text for one in TALK})


def test_a_call_belongs_only_to_the_talk_that_holds_all_that_is_said_in_it():
    asked = asked_of(entry(a_reply_prompt()), PROFILE)
    assert asked is not None
    texts = {one.text for one in TALK}
    assert belongs(asked, texts)
    assert not belongs(asked, texts - {"Tengo un gato."})
    assert not belongs(asked, set())


def test_what_two_prompts_begin_with_is_counted_over_their_parts():
    first = asked_of(entry(a_reply_prompt()), PROFILE)
    longer = (*TALK, message(seq=4, role="assistant", text="¿Cómo se llama?"), message(seq=5, text="Misi."))
    second = asked_of(
        entry(reply_prompt(PROFILE, FACTS, SUMMARY, longer, NOW + timedelta(hours=1)), 2), PROFILE
    )
    assert first is not None
    assert second is not None
    alike = sum(len(part.text) for part in first.parts if part.kind not in ("notes", "new"))
    # The notes of the first prompt stand where the second goes on with the talk.
    assert alike <= shared_chars(second, first) < alike + 20
    assert shared_chars(second, None) == 0


def test_other_requests_are_passed_over():
    assert asked_of({"number": 1, "path": "/v1/embeddings", "body": {"input": "x"}}, PROFILE) is None
    assert asked_of({"number": 1, "path": "/v1/responses", "body": None}, PROFILE) is None
