"""An agent's [recall] and its search tool."""

import json
from pathlib import Path

import pytest

from tests.builders import profile
from tests.fakes.model import ScriptedModel, use
from tests.fakes.world import World
from whatsapp_agent.agents import load_agent
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.memory.passages import Passage, RecallRules


def agent(folder: Path, recall: str) -> Path:
    (folder / "shop").mkdir()
    (folder / "shop" / "agent.toml").write_text(f'name = "Max"\nlanguage = "en"\n{recall}\n')
    (folder / "shop" / "persona.md").write_text("You are Max.")
    return folder


def test_an_agent_says_how_much_it_recalls(tmp_path: Path):
    text = "[recall]\ncount = 2\nsimilarity_floor = 0.4\nchars = 900\nneighbours = 0"

    rules = load_agent(agent(tmp_path, text), "shop").recall

    assert rules == RecallRules(count=2, similarity_floor=0.4, chars=900, neighbours=0)


def test_without_a_word_about_it_the_defaults_hold(tmp_path: Path):
    assert load_agent(agent(tmp_path, ""), "shop").recall == RecallRules()


@pytest.mark.parametrize(
    "wrong",
    ["count = -1", "count = 2.5", "similarity_floor = 1.5", 'chars = "many"', "neighbours = true", "floor = 1"],
)
def test_a_mistake_names_the_file_and_the_key(tmp_path: Path, wrong: str):
    key = wrong.partition(" ")[0]

    with pytest.raises(ConfigurationError, match=rf"agents/shop/agent\.toml: recall\.{key}"):
        load_agent(agent(tmp_path, f"[recall]\n{wrong}"), "shop")


def test_a_model_that_may_search_gets_passages_as_data_with_their_source():
    searching = profile(tools=frozenset({"search_knowledge"}))
    with ScriptedModel([use("search_knowledge", query="refunds"), "On Friday."]) as model:
        world = World(model, profiles={"sales": searching})
        world.recall.put([Passage("sales", 0, "Refunds arrive on\nFriday.", source="manual.md", title="Money")])
        world.catalogue.publish("sales", 1)
        world.say("evt_1", "hello")
        world.run()

    (answered,) = model.tool_answers
    assert json.loads(answered) == {
        "ok": True,
        "passages": [{"from": '"manual.md › Money"', "text": "Refunds arrive on Friday."}],
    }
