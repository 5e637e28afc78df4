"""Runs commands of `operate` against a world of fakes."""

import io
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tests.builders import NOW, PERSON, fact, profile
from tests.fakes.model import ScriptedModel
from tests.fakes.operating import FakeFigures, deployment_of
from tests.fakes.world import World
from tools.operate.app import main
from tools.operate.deployment import Deployment
from whatsapp_agent.memory.records import FactUpdate

PROFILES = {"sales": profile(), "companion": profile(agent_id="companion", name="Luna")}


@dataclass
class Ran:
    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Operator:
    """Says commands; `world` and `deployment` are what they work on."""

    world: World
    deployment: Deployment
    capsys: pytest.CaptureFixture[str]

    def say(self, *words: str, answer: str = "") -> Ran:
        """Runs a command; `answer` is what is typed when it asks, nothing where nobody is there."""
        self.capsys.readouterr()
        keyboard, sys.stdin = sys.stdin, io.StringIO(answer)
        try:
            status = main(words, opening=lambda _: self.deployment)
        finally:
            sys.stdin = keyboard
        written = self.capsys.readouterr()
        return Ran(status, written.out, written.err)

    def with_(self, **changes: Any) -> "Operator":
        return replace(self, deployment=replace(self.deployment, **changes))


def operator(
    capsys: pytest.CaptureFixture[str], model: ScriptedModel | None = None, **options: Any
) -> Operator:
    figures: FakeFigures | None = options.pop("figures", None)
    works_at_once: bool = options.pop("works_at_once", True)
    world = World(model or ScriptedModel(), profiles=PROFILES, archive=True, **options)
    return Operator(world, deployment_of(world, PROFILES, figures=figures, works_at_once=works_at_once), capsys)


def talk(world: World, model: ScriptedModel, *texts: str, prefix: str = "evt", person: str = PERSON) -> None:
    """Lets the person say something and the agent answer each time."""
    for place, text in enumerate(texts):
        model.will_reply(f"answer to {text}")
        world.say(f"{prefix}_{place}", text, person=person, address=person)
        world.run()


def know(world: World, conversation: str, *facts: tuple[str, str]) -> None:
    """Writes facts down as if a compaction had found them."""
    updates = [
        FactUpdate(key, "", 0, fact(key, value, conversation=conversation, created_at=NOW), None)
        for key, value in facts
    ]
    world.facts.write(conversation, updates)


Make = Callable[..., Operator]
