"""What the model is told of the tools that read and change facts: constant for an agent."""

from collections.abc import Mapping, Sequence
from typing import Any

from whatsapp_agent.memory.arguments import ToolSpec
from whatsapp_agent.memory.merge import NOTE
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Fact

REMEMBER, FORGET, OBSOLETE, RECALL = "remember_fact", "forget_fact", "mark_obsolete", "recall_facts"

FACT_TOOLS = (REMEMBER, RECALL, FORGET, OBSOLETE)
"""In the order in which they are offered."""

WHY_REFUSED: Mapping[str, str] = {
    "empty": "there is nothing in the value",
    "too_long": "the value is longer than 200 characters: say it shorter",
    "greeting": "a greeting is no fact",
    "card_number": "card numbers are never kept",
    "secret": "passwords, codes and keys are never kept",
    "instruction": "an instruction to you is no fact about the person and is not kept",
    "agents_words": "only you have said this, not the person",
    "no_evidence": "the person has said nothing yet",
    "inferred_over_stated": "what the person stated outweighs what you conclude",
    "older": "what is on record was learned later",
    "expired": "this was said too long ago to be true still",
    "over_cap": "this key has as many newer values as it can hold",
    "not_on_record": "no such fact is on record under this key",
}
"""By the reason for which `facts.judge` refuses a proposal."""


def fact_tool_spec(name: str, profile: AgentProfile) -> ToolSpec:
    """The spec of one of `FACT_TOOLS`."""
    key = {"type": "string", "enum": list(dict.fromkeys([*profile.fact_keys, NOTE]))}
    value = {"type": "string", "description": "One short line in the person's language."}
    on_record = {"type": "string", "description": "The value as it is on record."}
    stated = {"type": "boolean", "description": "true: the person said so. false: you conclude it."}
    specs: dict[str, tuple[str, dict[str, Any]]] = {
        REMEMBER: (
            "Writes down a fact about the person at once. Use it when they ask you to remember something, or "
            "say what makes a fact in your notes untrue. Everything else is written down later without you.",
            {"key": key, "value": value, "stated": stated},
        ),
        RECALL: (
            "Looks up facts about the person that your notes do not show.",
            {"query": {"type": "string", "description": "What you want to know, in the person's language."}},
        ),
        FORGET: (
            "Deletes a fact and its former values. Use it only when the person asks you to forget it.",
            {"key": key, "value": on_record},
        ),
        OBSOLETE: (
            "Marks a fact as no longer true where nothing takes its place.",
            {"key": key, "value": on_record},
        ),
    }
    description, properties = specs[name]
    return ToolSpec(name, description, _strict(properties))


def told(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    """Facts as a tool's answer shows them: data that nothing inside can end, once it is written as JSON."""
    return [
        {
            "key": fact.key,
            "value": fact.value,
            "since": fact.created_at.date().isoformat(),
            "confirmed": fact.source != "inferred",
        }
        for fact in facts
    ]


def _strict(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }
