"""The tools that a model may use while it answers one person: offered, checked, run, counted."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory.arguments import ToolSpec, WrongArguments, checked
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.ports.model import Toolbox
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.context import Context


class Tool(Protocol):
    """One tool, made for one turn."""

    @property
    def spec(self) -> ToolSpec:
        """What the model is told of it."""

    def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        """Does it and returns what the model is told. `arguments` fit the spec's parameters.

        Raises:
            WrongArguments: They fit, and still mean nothing; the model is told why.
            AgentError: It could not be done; the model is told that much.
        """


ToolMaker = Callable[[Context, AgentProfile], Toolbox | None]
"""Makes the tools for one turn; None where the agent has none."""

ToolFamily = Callable[[Context, AgentProfile], Sequence[Tool]]
"""Makes those tools of one kind that the agent is allowed."""


class Tools:
    """Implements `ports.Toolbox` over some tools. For one turn, and for one thread."""

    def __init__(self, tools: Sequence[Tool], telemetry: Telemetry) -> None:
        self._tools = {tool.spec.name: tool for tool in tools}
        self._telemetry = telemetry

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """See `ports.Toolbox.specs`."""
        return [tool.spec for tool in self._tools.values()]

    def call(self, name: str, arguments: str) -> str:
        """See `ports.Toolbox.call`: a JSON object with `ok`, and with `error` where that is false."""
        tool = self._tools.get(name)
        if tool is None:
            return self._said("unknown", {"error": "there is no such tool"})
        try:
            return self._said(name, tool.run(checked(arguments, tool.spec.parameters)))
        except WrongArguments as error:
            return self._said(name, {"error": str(error)})
        except AgentError as error:
            self._telemetry.warning("tool_failed", tool=name, error=type(error).__name__)
            return self._said(name, {"error": "this could not be done now; do not claim that it was"})

    def _said(self, name: str, said: Mapping[str, Any]) -> str:
        well = "error" not in said
        self._telemetry.count("ToolCalled", tool=name, result="ok" if well else "error")
        return json.dumps({"ok": well, **said}, ensure_ascii=False)


def maker(families: Sequence[ToolFamily], telemetry: Telemetry) -> ToolMaker:
    """Puts the tools of several families into one toolbox."""

    def make(context: Context, profile: AgentProfile) -> Toolbox | None:
        tools = [tool for family in families for tool in family(context, profile)]
        return Tools(tools, telemetry) if tools else None

    return make
