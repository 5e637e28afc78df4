"""Money is tokens times the list's prices, and nothing where the list knows no price."""

import re

import pytest

from tests.architecture.template import ROOT, template
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.memory.exchange import ModelReply
from whatsapp_agent.memory.records import Usage
from whatsapp_agent.prices import AS_OF, MODELS, model_price


def test_cached_tokens_are_cheaper_and_are_counted_once() -> None:
    price = MODELS["gpt-6-luna"]
    assert price.dollars(Usage(1_000_000, 0, 0)) == pytest.approx(0.10)
    assert price.dollars(Usage(1_000_000, 1_000_000, 0)) == pytest.approx(0.01)
    assert price.dollars(Usage(0, 0, 1_000_000)) == pytest.approx(0.50)


def test_a_dated_version_costs_what_its_model_costs_and_an_unknown_one_nothing_known() -> None:
    assert model_price("gpt-5.6-luna-2026-07-09") == MODELS["gpt-5.6-luna"]
    assert model_price("my-own-model") is None
    assert model_price("gpt-6-lunatic") is None


@pytest.mark.parametrize("parameter", ["ReplyModel", "MemoryModel"])
def test_the_models_that_are_deployed_by_default_have_a_price(parameter: str) -> None:
    assert model_price(template()["Parameters"][parameter]["Default"]) is not None


def test_the_list_has_a_date_and_prices_stand_nowhere_else() -> None:
    assert AS_OF.year >= 2026
    core = ROOT / "layers" / "core" / "whatsapp_agent"
    dollars = re.compile(r"0\.0000|/ MILLION|dollars per", re.I)
    named = {path.name for path in core.rglob("*.py") if dollars.search(path.read_text("utf-8"))}
    assert named == {"prices.py"}


def test_a_reply_counts_what_it_cost() -> None:
    usage = Usage(10_000, 0, 1_000)
    with ScriptedModel([ModelReply("hello", usage)]) as model:
        world = World(model, price=MODELS["gpt-6-luna"])
        world.say("evt_1", "hi")
        world.run()
    assert world.telemetry.counts["ReplyMicrodollars"] == pytest.approx(1_500)
    steps = {fields["step"] for name, _, fields in world.telemetry.measured if name == "StepMilliseconds"}
    assert steps >= {"read", "claim", "model", "commit", "send"}
    assert any(name == "AnswerMilliseconds" for name, _, _ in world.telemetry.measured)
