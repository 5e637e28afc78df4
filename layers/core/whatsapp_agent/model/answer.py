"""Reads the body of a Responses API answer, whatever shape it has.

Plain dictionaries instead of the client's own classes: those are filled without validation, so that an
unexpected shape would surface as an AttributeError somewhere else.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from whatsapp_agent.errors import ModelUnavailable
from whatsapp_agent.memory.quoting import is_blank
from whatsapp_agent.memory.records import Usage
from whatsapp_agent.model.errors import from_code
from whatsapp_agent.model.text import repaired


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool that the model asks for; `arguments` should be JSON, and is whatever the model wrote."""

    call_id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What the model said.

    Attributes:
        text: Its words; may be blank.
        refusal: Its words where it declined; otherwise empty.
        cut_by: Why it broke off: `max_output_tokens`, `content_filter`, …; empty for a whole answer.
        tool_calls: The tools that it asks for. A broken off answer has none: half an argument is no argument.
        output: Everything that it consists of, as the next round has to give it back.
        requests: How many requests it took.
    """

    text: str
    refusal: str
    cut_by: str
    usage: Usage
    tool_calls: tuple[ToolCall, ...] = ()
    output: tuple[dict[str, Any], ...] = ()
    requests: int = 1

    @property
    def blank(self) -> bool:
        """Whether there is nothing in it that a person could read."""
        return is_blank(self.text) and is_blank(self.refusal)


def read_answer(body: Any) -> Answer:
    """The answer in a response body.

    Reasoning and unknown items are kept for the next round and otherwise passed over.

    Raises:
        ModelUnavailable, ModelRefused, ContextTooLong: The body reports a failure, by its code.
        ModelUnavailable: The body is no response, or one that is not finished.
    """
    if not isinstance(body, dict):
        raise ModelUnavailable("the model's service sent something that is no response")
    error, status = body.get("error"), body.get("status", "completed")
    if error or status == "failed":
        raise from_code(error.get("code") if isinstance(error, dict) else None)
    if status not in ("completed", "incomplete"):
        raise ModelUnavailable("the model's service sent an unfinished response")
    output = body.get("output")
    if not isinstance(output, list):
        raise ModelUnavailable("the model's service sent a response without output")
    details = body.get("incomplete_details")
    reason = details.get("reason") if isinstance(details, dict) else None
    messages = [item for item in output if isinstance(item, dict) and item.get("type") == "message"]
    # Newer models may think aloud in messages marked as commentary; they are not meant for the person.
    final = [item for item in messages if item.get("phase") != "commentary"]
    parts = [part for item in final or messages for part in _parts(item)]
    items = tuple(item for item in output if isinstance(item, dict))
    return Answer(
        text="".join(_texts(parts, "output_text", "text")),
        refusal="".join(_texts(parts, "refusal", "refusal")),
        cut_by=(reason if isinstance(reason, str) else "unknown") if status == "incomplete" else "",
        usage=_usage(body.get("usage")),
        tool_calls=() if status == "incomplete" else tuple(_calls(items)),
        output=items,
    )


def _calls(items: tuple[dict[str, Any], ...]) -> Iterator[ToolCall]:
    for item in items:
        call_id, name, arguments = (item.get(field) for field in ("call_id", "name", "arguments"))
        if item.get("type") != "function_call" or not isinstance(call_id, str) or not isinstance(name, str):
            continue
        yield ToolCall(call_id, name, repaired(arguments) if isinstance(arguments, str) else "")


def _parts(item: dict[str, Any]) -> list[dict[str, Any]]:
    content = item.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def _texts(parts: list[dict[str, Any]], kind: str, name: str) -> list[str]:
    return [
        repaired(part[name]) for part in parts if part.get("type") == kind and isinstance(part.get(name), str)
    ]


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage()
    return Usage(
        input_tokens=_count(usage, "input_tokens"),
        cached_tokens=_count(usage.get("input_tokens_details"), "cached_tokens"),
        output_tokens=_count(usage, "output_tokens"),
    )


def _count(table: Any, name: str) -> int:
    value = table.get(name) if isinstance(table, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0
