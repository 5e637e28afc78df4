"""Rounds of tools, as the Responses API has them.

Nothing is stored at the service, so each round gives back everything that the model wrote in the one before:
the calls, and its reasoning, which comes encrypted when it is asked for. Reasoning models need it to go on from
where they were.
"""

from collections.abc import Sequence
from typing import Any

from whatsapp_agent.model.answer import Answer
from whatsapp_agent.model.text import repaired
from whatsapp_agent.ports.model import Toolbox

MOST_CALLS = 8
"""Tools that run in one round; further calls are answered with an error."""

_TOO_MANY = '{"ok": false, "error": "too many calls at once: this one was not run"}'


def offer(tools: Toolbox, *, reasons: bool) -> dict[str, Any]:
    """The parts of a request that offer the tools; `reasons` for a model that thinks before it answers."""
    offered: dict[str, Any] = {
        "tools": [
            {
                "type": "function",
                "name": spec.name,
                "description": spec.description,
                "parameters": dict(spec.parameters),
                "strict": True,
            }
            for spec in tools.specs
        ]
    }
    if reasons:
        offered["include"] = ["reasoning.encrypted_content"]
    return offered


def run(answer: Answer, tools: Toolbox) -> list[dict[str, Any]]:
    """The input items of the next round: what the model wrote, then what its calls gave."""
    outputs = []
    for place, call in enumerate(answer.tool_calls):
        said = tools.call(call.name, call.arguments) if place < MOST_CALLS else _TOO_MANY
        outputs.append({"type": "function_call_output", "call_id": call.call_id, "output": repaired(said)})
    return [*_given_back(answer.output), *outputs]


def _given_back(output: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    # Reasoning without its encrypted content is only a name of something that the service did not keep.
    return [item for item in output if item.get("type") != "reasoning" or item.get("encrypted_content")]
