"""Answers a compaction's prompt: the new summary, and what is to be changed in the facts."""

import re
from collections.abc import Sequence
from typing import Any

from tools.local.simulated_model.extract import Learned, learn, same
from tools.local.simulated_model.language import plain
from tools.local.simulated_model.rules import SINGLE, SLOT_KEYS, UNTOLD
from tools.local.simulated_model.summarise import summarise
from tools.local.simulated_model.view import Said, View
from tools.local.simulated_model.wishes import wish

_NO_LONGER = re.compile(
    r"\b(?:i no longer (?:like|love|want)|i don't (?:like|want) (?=.*\banymore)|ya no (?:me gustan?|quiero)|"
    r"non mi piac(?:e|ciono) piu)\s+(.+?)(?:\s+anymore)?[.!]*$"
)


def is_compaction(schema: Any) -> bool:
    """Whether a JSON schema is one of a summary with changes."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return isinstance(properties, dict) and {"summary", "changes"} <= properties.keys()


def compact(view: View, schema: dict[str, Any]) -> dict[str, Any]:
    """The answer in the form of the schema; it names only keys that the schema lists."""
    return {"summary": summarise(view), "changes": _changes(view, _keys(schema))}


def _keys(schema: dict[str, Any]) -> tuple[str, ...]:
    key = schema["properties"]["changes"].get("items", {}).get("properties", {}).get("key", {})
    return tuple(key.get("enum", ()))


def _changes(view: View, keys: Sequence[str]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for line in view.transcript:
        if line.role != "user":
            continue
        if (forget := wish(line.text)).kind == "forget":
            unwanted = plain(forget.about)
            found = {place: each for place, each in found.items() if plain(each["value"]) not in unwanted}
            continue
        gone = _no_longer(line, view)
        found.update({(change["key"], plain(change["value"])): change for change in gone})
        for learned in () if gone else learn(line.text):
            key = _key(learned, keys)
            if not key:
                continue
            place = (key, "" if _is_single(learned, key) else plain(learned.value))
            found.pop(place, None)
            found[place] = _change("set", key, learned.value, line.seq)
    return [change for change in found.values() if not _on_record(change, view)]


def _key(learned: Learned, keys: Sequence[str]) -> str:
    """Where the agent keeps such a thing; `note` where it has no key for it; empty where it is not kept."""
    own = next((key for key in SLOT_KEYS[learned.slot] if key in keys), "")
    return own or ("note" if "note" in keys and learned.slot not in UNTOLD else "")


def _is_single(learned: Learned, key: str) -> bool:
    return learned.slot in SINGLE and key not in ("note", "important_dates", "plans", "goals")


def _no_longer(line: Said, view: View) -> list[dict[str, Any]]:
    match = _NO_LONGER.search(plain(line.text.replace("’", "'")))
    if not match:
        return []
    return [
        _change("obsolete", key, value, line.seq)
        for key, value in view.facts
        if plain(value) in match[1] or match[1] in plain(value)
    ]


def _on_record(change: dict[str, Any], view: View) -> bool:
    return change["action"] == "set" and any(
        key == change["key"] and same(value, change["value"]) for key, value in view.facts
    )


def _change(action: str, key: str, value: str, seq: int) -> dict[str, Any]:
    return {"action": action, "key": key, "value": value, "stated": True, "confidence": 1.0, "evidence": seq}
