"""The scripted model and the real adapter behind one handle, so that one suite can hold both to the port."""

import json
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.model import ScriptedModel, use
from tools.local.simulated_model.control import Failure
from tools.local.simulated_model.server import SimulatedModel
from whatsapp_agent.errors import (
    ContextTooLong,
    ModelAnswerUnusable,
    ModelRefused,
    ModelUnavailable,
)
from whatsapp_agent.memory.arguments import ToolSpec
from whatsapp_agent.memory.exchange import CompactionAnswer, ModelReply, Prompt, PromptItem
from whatsapp_agent.memory.records import FactChange
from whatsapp_agent.model.responses import OpenAIModel
from whatsapp_agent.ports.model import MOST_TOOL_ROUNDS, Model

API_KEY = "sk-test-not-a-secret"

# What goes wrong: how the simulated service shows it, and what the port promises for it.
TROUBLES: dict[str, tuple[Failure, Exception]] = {
    "rate_limited": (
        Failure(status=429, code="rate_limit_exceeded", retry_after=7),
        ModelUnavailable("busy", retry_after=7),
    ),
    "overloaded": (Failure(status=503), ModelUnavailable("busy")),
    "failed_within": (Failure(kind="failed", code="server_error"), ModelUnavailable("failed")),
    "no_quota": (
        Failure(status=429, code="insufficient_quota"),
        ModelRefused("no quota", code="insufficient_quota"),
    ),
    "wrong_key": (Failure(status=401, code="invalid_api_key"), ModelRefused("key", code="unauthorized")),
    "unknown_model": (
        Failure(status=404, code="model_not_found"),
        ModelRefused("model", code="model_not_found"),
    ),
    "too_long": (
        Failure(status=400, code="context_length_exceeded"),
        ContextTooLong("long", code="context_length_exceeded"),
    ),
    "filtered": (Failure(kind="content_filter"), ModelAnswerUnusable("filtered")),
    "nothing": (Failure(kind="empty"), ModelAnswerUnusable("nothing")),
    "blank": (Failure(kind="blank"), ModelAnswerUnusable("nothing")),
    "no_room": (Failure(kind="incomplete", times=2), ModelAnswerUnusable("no room")),
}


def prompt(*said: str, instructions: str = "You are Max.") -> Prompt:
    texts = said or ("Hi! I'm Maya.",)
    return Prompt(instructions, tuple(PromptItem("user", "new", text) for text in texts))


def transcript(*said: str) -> Prompt:
    lines = [f'[{seq}] 2026-11-07 Saturday user: "{text}"' for seq, text in enumerate(said, start=1)]
    return Prompt("Keep the memory.", (PromptItem("user", "new", "\n".join(lines)),))


@dataclass
class KeptTools:
    """A toolbox that keeps what it was called with; `says` is its answer to everything."""

    says: str = '{"ok": true}'
    calls: list[tuple[str, Any]] = field(default_factory=list)

    @property
    def specs(self) -> list[ToolSpec]:
        properties = {"key": {"type": "string", "enum": ["name", "city"]}, "value": {"type": "string"}}
        schema = {
            "type": "object",
            "properties": properties,
            "required": ["key", "value"],
            "additionalProperties": False,
        }
        return [ToolSpec("remember_fact", "Writes a fact down.", schema)]

    def call(self, name: str, arguments: str) -> str:
        self.calls.append((name, json.loads(arguments)))
        return self.says


@dataclass
class ScriptedRig:
    scripted: ScriptedModel = field(default_factory=ScriptedModel)

    @property
    def model(self) -> Model:
        return self.scripted

    def will_answer(self, times: int = 1) -> None:
        self.scripted.will_reply(*["Hi Maya!"] * times)

    def will_remember(self, key: str, value: str) -> None:
        self.scripted.will_reply(use("remember_fact", key=key, value=value), "Noted!")

    def will_insist_on_tools(self) -> None:
        self.scripted.will_reply(*[use("unknown_tool")] * MOST_TOOL_ROUNDS, "Well then.")

    def will_count(self) -> None:
        self.scripted.counts = lambda prompt: prompt.chars // 4

    def will_refuse(self) -> None:
        self.scripted.will_reply(ModelReply("I cannot help with that.", refused=True))

    def will_compact(self) -> None:
        change = FactChange("set", "name", "Maya", evidence_seq=1)
        self.scripted.will_compact(CompactionAnswer("She said her name.", (change,)))

    def will_fail(self, trouble: str, *, compacting: bool) -> None:
        error = TROUBLES[trouble][1]
        (self.scripted.will_compact if compacting else self.scripted.will_reply)(error)

    def close(self) -> None:
        self.scripted.assert_done()


@dataclass
class ServiceRig:
    server: SimulatedModel
    model: OpenAIModel

    def will_answer(self, times: int = 1) -> None:
        """The simulated service answers by itself."""

    def will_remember(self, key: str, value: str) -> None:
        """The simulated service calls the tool by itself."""

    def will_insist_on_tools(self) -> None:
        self.server.control.fail(Failure(kind="function_call", times=-1))

    def will_count(self) -> None:
        """The simulated service counts by itself."""

    def will_refuse(self) -> None:
        self.server.control.fail(Failure(kind="refusal"))

    def will_compact(self) -> None:
        """The simulated service answers by itself."""

    def will_fail(self, trouble: str, *, compacting: bool) -> None:
        failure = TROUBLES[trouble][0]
        self.server.control.fail(
            Failure(failure.status, failure.code, failure.kind, failure.times, failure.retry_after)
        )

    def close(self) -> None:
        self.model.close()
        self.server.close()


def service(**settings: object) -> ServiceRig:
    server = SimulatedModel()
    return ServiceRig(server, OpenAIModel(API_KEY, "gpt-6-luna", base_url=server.url, **settings))  # type: ignore[arg-type]
