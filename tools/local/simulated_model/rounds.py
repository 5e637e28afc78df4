"""Whether a tool is to be called first, and with what: the simulated model's part of a tool round."""

from collections.abc import Mapping
from typing import Any

from tools.local.simulated_model.extract import learn
from tools.local.simulated_model.instance import instance
from tools.local.simulated_model.recall import is_about_me, is_question
from tools.local.simulated_model.rules import SLOT_KEYS
from tools.local.simulated_model.view import View

_ASKED = ("recall_facts", "search_knowledge")


def call(body: Mapping[str, Any], view: View) -> tuple[str, dict[str, Any]] | None:
    """`(name, arguments)` of the function to call now, or None where the words are to be written.

    A question is looked up, a statement is remembered, once; a tool that the request demands is called.
    """
    functions = {
        tool["name"]: tool
        for tool in body.get("tools") or ()
        if tool.get("type") == "function" and "name" in tool
    }
    choice = body.get("tool_choice", "auto")
    if not functions or choice == "none" or view.outputs:
        return None
    text = " ".join(view.new)
    name = _wanted(text, tuple(functions))
    if isinstance(choice, dict) and choice.get("name") in functions:
        name = choice["name"]
    elif choice == "required":
        name = name or next(iter(functions))
    return (name, _arguments(functions[name], text)) if name else None


def _wanted(text: str, names: tuple[str, ...]) -> str:
    if is_question(text):
        own = _ASKED if is_about_me(text) else _ASKED[1:]
        return next((name for name in own if name in names), "")
    return "remember_fact" if "remember_fact" in names and learn(text) else ""


def _arguments(tool: Mapping[str, Any], text: str) -> dict[str, Any]:
    schema = tool.get("parameters") or {}
    found = instance(schema) if schema else {}
    learned = next(iter(learn(text)), None)
    for name, part in schema.get("properties", {}).items():
        if part.get("type") != "string":
            continue
        if name == "key" and learned:
            offered = part.get("enum") or SLOT_KEYS[learned.slot]
            found[name] = next((key for key in SLOT_KEYS[learned.slot] if key in offered), offered[-1])
        elif name == "value" and learned:
            found[name] = learned.value
        elif "enum" not in part and (name in found or name in ("query", "text", "question")):
            found[name] = text[:300]
    return found
