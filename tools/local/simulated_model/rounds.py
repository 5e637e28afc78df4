"""Whether a tool is to be called first, and with what: the simulated model's part of a tool round."""

from collections.abc import Mapping, Sequence
from typing import Any

from tools.local.simulated_model.extract import Learned, learn
from tools.local.simulated_model.instance import instance
from tools.local.simulated_model.language import plain
from tools.local.simulated_model.recall import fact_about, is_about_me, is_question
from tools.local.simulated_model.rules import SLOT_KEYS
from tools.local.simulated_model.view import View
from tools.local.simulated_model.wishes import Wish, wish

_ASKED = ("recall_facts", "search_knowledge")


def call(body: Mapping[str, Any], view: View) -> tuple[str, dict[str, Any]] | None:
    """`(name, arguments)` of the function to call now, or None where the words are to be written.

    A question is looked up, a statement is remembered, what is to be forgotten is forgotten, once; a tool that
    the request demands is called.
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
    asked = next((found for said in view.new if (found := wish(said)).kind), Wish())
    name = _wanted(text, asked, view, tuple(functions))
    if isinstance(choice, dict) and choice.get("name") in functions:
        name = choice["name"]
    elif choice == "required":
        name = name or next(iter(functions))
    return (name, _arguments(functions[name], text, asked, view)) if name else None


def _wanted(text: str, asked: Wish, view: View, names: tuple[str, ...]) -> str:
    if asked.kind == "forget":
        return "forget_fact" if "forget_fact" in names and fact_about(plain(asked.about), view)[0] else ""
    if is_question(text):
        own = _ASKED if is_about_me(text) else _ASKED[1:]
        return next((name for name in own if name in names), "")
    told = learn(text) or asked.kind == "remember"
    return "remember_fact" if "remember_fact" in names and told else ""


def _arguments(tool: Mapping[str, Any], text: str, asked: Wish, view: View) -> dict[str, Any]:
    schema = tool.get("parameters") or {}
    found = instance(schema) if schema else {}
    learned = next(iter(learn(text)), None)
    for name, part in schema.get("properties", {}).items():
        if name in ("key", "value"):
            key, value = _fact(asked, learned, view, part.get("enum") or ())
            if key or value:
                found[name] = key if name == "key" else value
        elif part.get("type") == "boolean" and name == "stated":
            found[name] = True
        elif (
            part.get("type") == "string"
            and "enum" not in part
            and (name in found or name in ("query", "text", "question"))
        ):
            found[name] = text[:300]
    return found


def _fact(asked: Wish, learned: Learned | None, view: View, offered: Sequence[str]) -> tuple[str, str]:
    """The key and the value that are meant."""
    if asked.kind == "forget":
        return fact_about(plain(asked.about), view)
    if learned:
        names = SLOT_KEYS[learned.slot]
        keys = offered or names
        return next((key for key in names if key in keys), keys[-1]), learned.value
    if asked.kind == "remember":
        return ("note" if "note" in offered or not offered else offered[-1]), asked.about[:200]
    return "", ""
