"""What every implementation of `ports.Model` promises."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from tests.contracts.model_rigs import (
    API_KEY,
    TROUBLES,
    KeptTools,
    ScriptedRig,
    ServiceRig,
    prompt,
    service,
    transcript,
)
from whatsapp_agent.errors import PermanentError, TransientError
from whatsapp_agent.memory.profile import FactKey

KEYS = {"name": FactKey("name", "What the person is called")}


@pytest.fixture(params=["scripted", "openai"])
def rig(request) -> Iterator[ScriptedRig | ServiceRig]:
    made = ScriptedRig() if request.param == "scripted" else service()
    yield made
    made.close()


def test_a_reply_has_text_and_is_no_refusal(rig):
    rig.will_answer()
    reply = rig.model.reply(prompt("Hi! I'm Maya."), seconds=20)
    assert "Maya" in reply.text
    assert not reply.refused


def test_a_tool_is_called_before_the_answer(rig):
    rig.will_remember("city", "Lima")
    tools = KeptTools()
    reply = rig.model.reply(prompt("I live in Lima"), seconds=20, tools=tools)
    assert tools.calls == [("remember_fact", {"key": "city", "value": "Lima"})]
    assert reply.text
    assert reply.calls == 2


def test_a_model_that_goes_on_calling_tools_has_to_answer_in_the_end(rig):
    rig.will_insist_on_tools()
    tools = KeptTools()
    reply = rig.model.reply(prompt("hello"), seconds=20, tools=tools)
    assert len(tools.calls) == 4
    assert reply.text
    assert reply.calls == 5


def test_tokens_are_counted_without_an_answer(rig):
    rig.will_count()
    short, long = (rig.model.count_tokens(prompt(text), seconds=20) for text in ("hello", "hello " * 100))
    assert 0 < short < long


def test_a_refusal_is_told_in_the_models_own_words(rig):
    rig.will_refuse()
    reply = rig.model.reply(prompt(), seconds=20)
    assert (reply.text, reply.refused) == ("I cannot help with that.", True)


def test_a_compaction_gives_a_summary_and_changes_of_offered_keys_only(rig):
    rig.will_compact()
    answer = rig.model.compact(transcript("My name is Maya", "I live in Lima"), KEYS, seconds=20)
    assert answer.summary.strip()
    assert ("set", "name", "Maya", 1) in [(c.action, c.key, c.value, c.evidence_seq) for c in answer.changes]
    assert {change.key for change in answer.changes} <= {"name", "note"}


@pytest.mark.parametrize("compacting", [False, True], ids=["reply", "compact"])
@pytest.mark.parametrize("trouble", TROUBLES)
def test_what_goes_wrong_has_its_own_error(rig, trouble, compacting):
    rig.will_fail(trouble, compacting=compacting)
    expected = TROUBLES[trouble][1]
    compact = partial(rig.model.compact, transcript("My name is Maya"), KEYS)
    ask = compact if compacting else partial(rig.model.reply, prompt())
    with pytest.raises(type(expected)) as raised:
        ask(seconds=20)
    if isinstance(expected, TransientError):
        assert raised.value.retry_after == expected.retry_after
    if isinstance(expected, PermanentError):
        assert raised.value.code == expected.code
    assert "sk-" not in str(raised.value)
    assert API_KEY not in repr(raised.value)


def test_a_failure_leaves_the_next_call_unharmed(rig):
    rig.will_fail("overloaded", compacting=False)
    rig.will_answer()
    with pytest.raises(TransientError):
        rig.model.reply(prompt(), seconds=20)
    assert rig.model.reply(prompt(), seconds=20).text


def test_many_people_are_answered_at_once(rig):
    rig.will_answer(times=8)
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda _: rig.model.reply(prompt("I'm Maya"), seconds=20).text, range(8)))
    assert all("Maya" in text for text in texts)
