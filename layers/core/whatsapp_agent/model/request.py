"""Builds the body of a Responses API call from a prompt.

Prompt caching. Models before GPT-5.6 reuse any shared prefix by themselves. From GPT-5.6 on a prefix is
matched only where both requests mark its end, a write costs 1.25 times the input price, and the mark that
the service sets by itself lies after the newest message: behind this turn's notes, which never occur again.
Left alone, such a model would pay for a write each turn and never read one. So these models get explicit
marks at what will recur: the end of the memory block and of every remembered message of the person. The
service writes the newest four and looks up the newest 80, more than a window holds. Marks can stand on
input text only, not on what the assistant said.
"""

import hashlib
import re
from collections.abc import Sequence
from typing import Any

from whatsapp_agent.memory.exchange import PromptItem
from whatsapp_agent.model.text import repaired

MAX_MARKS = 80
"""So many marks of one request are looked up by the service."""

_GPT = re.compile(r"(?:ft:)?gpt-(\d+)(?:\.(\d+))?(?![0-9.])")
_EFFORTS = ("none", "low", "medium", "high", "xhigh", "max")


def takes_marks(model: str) -> bool:
    """Whether the model, by its name, is of the GPT-5.6 family or later."""
    match = _GPT.match(model)
    return match is not None and (int(match[1]), int(match[2] or 0)) >= (5, 6)


def lower_effort(effort: str | None, *, none_allowed: bool) -> str | None:
    """A reasoning effort that leaves more of the budget for the answer; None stays None.

    `none` is only offered to models that are known to take it.
    """
    if effort not in _EFFORTS or effort == "none":
        return effort
    return "none" if effort == "low" and none_allowed else "low"


def cache_key(prefix: str, items: Sequence[PromptItem]) -> str:
    """`prefix` and one of 256 buckets, so that one person's turns reach the same cache.

    The service spreads a key's requests over machines beyond some 15 a minute. The bucket is one byte of a
    hash over the first lasting item; it stays until the memory changes, many people share it, and it says
    nothing about any of them.
    """
    lasting = next((item.text for item in items if item.kind != "notes"), "")
    bucket = hashlib.sha256(lasting.encode("utf-8", "surrogatepass")).hexdigest()[:2]
    return f"{prefix}-{bucket}"[-64:]


def input_items(items: Sequence[PromptItem], *, marks: bool) -> list[dict[str, Any]]:
    """The prompt's items as input messages. What the assistant said goes back as a plain message: the
    service keeps nothing (`store` is false), so there is no id that it could refer to.
    """
    marked = set(_recurring(items)[-MAX_MARKS:]) if marks else set()
    built: list[dict[str, Any]] = []
    for index, item in enumerate(items):
        text = repaired(item.text)
        if item.role == "assistant":
            message: dict[str, Any] = {"role": "assistant", "content": text}
            if marks:
                # These models read unlabelled assistant messages as less than an answer.
                message["phase"] = "final_answer"
        elif index in marked:
            part = {"type": "input_text", "text": text, "prompt_cache_breakpoint": {"mode": "explicit"}}
            message = {"role": "user", "content": [part]}
        else:
            message = {"role": "user", "content": text}
        built.append({"type": "message", **message})
    return built


def _recurring(items: Sequence[PromptItem]) -> list[int]:
    """Places of the items after which a prefix ends that the next turn will have too."""
    memory = [index for index, item in enumerate(items) if item.kind in ("facts", "summary")]
    messages = [index for index, item in enumerate(items) if item.kind == "message" and item.role == "user"]
    return memory[-1:] + messages
