"""The form in which the memory model answers: its JSON schema, and the reader that believes nothing."""

import json
import math
from collections.abc import Iterable
from typing import Any, Never

from whatsapp_agent.errors import ModelAnswerUnusable
from whatsapp_agent.memory.records import FactChange
from whatsapp_agent.model.text import repaired

NOTE = "note"
"""The key that every agent has: where a fact goes that fits no other."""

_CHANGE_FIELDS = ("action", "key", "value", "stated", "confidence", "evidence")


def compaction_schema(keys: Iterable[str]) -> dict[str, object]:
    """The strict schema of a compaction answer that can only name `keys` and `note`.

    Strict mode wants every property required and no others; limits on lengths and numbers are left to
    the reader and to `memory.facts`, because not every model enforces them.
    """
    change = {
        "type": "object",
        "properties": {
            "action": {
                "type": "string",
                "enum": ["set", "obsolete"],
                "description": "set: the value is true now. obsolete: it is no longer true.",
            },
            "key": {"type": "string", "enum": allowed_keys(keys)},
            "value": {"type": "string", "description": "One short line, in the person's language."},
            "stated": {
                "type": "boolean",
                "description": "true: the person said so themselves. false: it was concluded.",
            },
            "confidence": {"type": "number", "description": "From 0 to 1; 1 for what the person stated."},
            "evidence": {"type": "integer", "description": "The seq of the person's message that shows it."},
        },
        "required": list(_CHANGE_FIELDS),
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {
            "summary": {"type": "string", "description": "The whole new summary, under 200 words."},
            "changes": {"type": "array", "items": change},
        },
        "required": ["summary", "changes"],
        "additionalProperties": False,
    }


def allowed_keys(keys: Iterable[str]) -> list[str]:
    """`keys` in their order, and `note` where it is not among them."""
    return list(dict.fromkeys([*keys, NOTE]))


def read_compaction(text: str, keys: Iterable[str]) -> tuple[str, tuple[FactChange, ...]]:
    """The summary and the proposed changes of an answer in the form of `compaction_schema`.

    Raises:
        ModelAnswerUnusable: The text is no such JSON, or its summary is blank. Says what was wrong, never
            what was answered.
    """
    try:
        answer = json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise ModelAnswerUnusable("the compaction answer is not JSON") from None
    fields = _fields(answer, ("summary", "changes"), "the compaction answer")
    summary, changes = fields["summary"], fields["changes"]
    if not isinstance(summary, str) or not summary.strip():
        raise ModelAnswerUnusable("the compaction answer has no summary")
    if not isinstance(changes, list):
        raise ModelAnswerUnusable("the compaction answer's changes are no list")
    known = frozenset(allowed_keys(keys))
    return repaired(summary).strip(), tuple(_change(change, known) for change in changes)


def _change(change: Any, known: frozenset[str]) -> FactChange:
    fields = _fields(change, _CHANGE_FIELDS, "a fact change")
    action, key, value = fields["action"], fields["key"], fields["value"]
    stated, confidence, evidence = fields["stated"], fields["confidence"], fields["evidence"]
    if action not in ("set", "obsolete"):
        raise ModelAnswerUnusable("a fact change has an unknown action")
    if not isinstance(key, str) or key not in known:
        raise ModelAnswerUnusable("a fact change names a key that was not offered")
    if not isinstance(value, str) or not isinstance(stated, bool):
        raise ModelAnswerUnusable("a fact change has a field of the wrong type")
    if isinstance(confidence, bool) or not isinstance(confidence, int | float):
        raise ModelAnswerUnusable("a fact change's confidence is no number")
    if isinstance(evidence, bool) or not isinstance(evidence, int):
        raise ModelAnswerUnusable("a fact change's evidence is no whole number")
    # min/max before float(): an integer too large for a float would raise OverflowError there.
    bounded = float(min(max(confidence, 0), 1))
    if math.isnan(bounded):
        raise ModelAnswerUnusable("a fact change's confidence is no number")
    return FactChange(action, key, repaired(value), stated, bounded, evidence)


def _fields(value: Any, names: tuple[str, ...], what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ModelAnswerUnusable(f"{what} is no object")
    missing = [name for name in names if name not in value]
    if missing:
        raise ModelAnswerUnusable(f"{what} lacks {', '.join(missing)}")
    return value


def _no_constant(_name: str) -> Never:
    raise ValueError("NaN and Infinity are no JSON")
