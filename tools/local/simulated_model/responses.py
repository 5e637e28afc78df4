"""`POST /v1/responses`: checks a request as the service does, and answers it."""

import json
import re
from typing import Any

from tools.local.simulated_model.compact import compact, is_compaction
from tools.local.simulated_model.control import Control
from tools.local.simulated_model.failures import function_call, message
from tools.local.simulated_model.instance import instance
from tools.local.simulated_model.picture import seen
from tools.local.simulated_model.respond import reply
from tools.local.simulated_model.rounds import call
from tools.local.simulated_model.view import read, texts

CONTEXT_TOKENS = 922_000
"""The input that gpt-6-luna takes, by its model page of 2026-09."""
_CACHE_FROM, _CACHE_STEP = 1024, 128

_PARAMETERS = frozenset(
    [
        "background",
        "include",
        "input",
        "instructions",
        "max_output_tokens",
        "max_tool_calls",
        "metadata",
        "model",
        "parallel_tool_calls",
        "previous_response_id",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning",
        "safety_identifier",
        "service_tier",
        "store",
        "stream",
        "temperature",
        "text",
        "tool_choice",
        "tools",
        "top_logprobs",
        "top_p",
        "truncation",
        "user",
    ]
)
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
_ROLES = ("user", "assistant", "system", "developer")


class BadRequest(ValueError):
    """What the service would answer with HTTP 400.

    Attributes:
        code: The error's code; empty for none.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


def check(body: Any) -> dict[str, Any]:
    """The body, where the service would take it.

    Raises:
        BadRequest: It would not, and why.
    """
    if not isinstance(body, dict):
        raise BadRequest("the body is no JSON object")
    if unknown := body.keys() - _PARAMETERS:
        raise BadRequest(f"Unknown parameter: {min(unknown)}", "unknown_parameter")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise BadRequest("model is required", "missing_required_parameter")
    if not body.get("input"):
        raise BadRequest("input is required", "missing_required_parameter")
    if (body.get("reasoning") or {}).get("effort", "low") not in _EFFORTS:
        raise BadRequest("Unsupported reasoning effort", "unsupported_value")
    if (limit := body.get("max_output_tokens")) is not None and (not isinstance(limit, int) or limit < 16):
        raise BadRequest("max_output_tokens is below the minimum of 16", "integer_below_min_value")
    if isinstance(body["input"], list):
        for item in body["input"]:
            _check_item(item)
    output_format = _format(body)
    if output_format.get("type") == "json_schema" and output_format.get("strict"):
        _check_strict(output_format.get("schema"))
    if tokens(prompt_text(body)) > CONTEXT_TOKENS:
        raise BadRequest("Your input exceeds the context window of this model.", "context_length_exceeded")
    return body


def respond(body: dict[str, Any], control: Control) -> dict[str, Any]:
    """The response to a checked body."""
    view, output_format = read(body), _format(body)
    if (shown := seen(body)) is not None:
        return _response(body, message(shown), shown, control)
    if wanted := call(body, view):
        name, arguments = wanted
        item, text = function_call(name, json.dumps(arguments, ensure_ascii=False)), ""
    else:
        if output_format.get("type") == "json_schema":
            schema = output_format["schema"]
            answer = compact(view, schema) if is_compaction(schema) else instance(schema)
            text = json.dumps(answer, ensure_ascii=False)
        else:
            text = reply(view)
        item = message(text)
    return _response(body, item, text, control)


def _response(body: dict[str, Any], item: dict[str, Any], text: str, control: Control) -> dict[str, Any]:
    prompt = prompt_text(body)
    used, limit = tokens(text), body.get("max_output_tokens")
    details, status = None, "completed"
    if limit is not None and used > limit:
        used, status, details = limit, "incomplete", {"reason": "max_output_tokens"}
        item = message(text[: limit * 4], status="incomplete")
    shared = control.shared_prefix(f"{body['model']} {body.get('prompt_cache_key', '')}", prompt)
    cached = shared // 4 // _CACHE_STEP * _CACHE_STEP
    given = tokens(prompt)
    return {
        "id": "resp_simulated",
        "object": "response",
        "created_at": 0,
        "status": status,
        "error": None,
        "incomplete_details": details,
        "instructions": body.get("instructions"),
        "model": body["model"],
        "output": [item],
        "parallel_tool_calls": True,
        "store": body.get("store", True),
        "text": body.get("text") or {"format": {"type": "text"}},
        "tool_choice": body.get("tool_choice", "auto"),
        "tools": body.get("tools") or [],
        "usage": {
            "input_tokens": given,
            "input_tokens_details": {
                "cached_tokens": cached if cached >= _CACHE_FROM else 0,
                "cache_write_tokens": 0,
            },
            "output_tokens": used,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": given + used,
        },
    }


def prompt_text(body: dict[str, Any]) -> str:
    """Everything of a request that the model reads, as one text."""
    said = "\n".join(f"{role}: {text}" for role, text in texts(body))
    return f"{body.get('instructions') or ''}\n{said}"


def tokens(text: str) -> int:
    """About as many tokens as a real tokeniser counts: one for four bytes of UTF-8, at least one."""
    return max(1, -(-len(text.encode("utf-8", "replace")) // 4))


def _format(body: dict[str, Any]) -> dict[str, Any]:
    found = (body.get("text") or {}).get("format") or {}
    return found if isinstance(found, dict) else {}


def _check_item(item: Any) -> None:
    if not isinstance(item, dict):
        raise BadRequest("an input item is no object")
    if item.get("type", "message") != "message":
        return
    role, content = item.get("role"), item.get("content")
    if role not in _ROLES:
        raise BadRequest(f"Invalid role: {role!r}", "invalid_value")
    if not content or (isinstance(content, str) and not content.strip()):
        raise BadRequest("an input item has no content", "invalid_value")
    expected = re.compile("output_text|refusal" if role == "assistant" else "input_.*")
    for part in content if isinstance(content, list) else ():
        if not expected.fullmatch(part.get("type", "")):
            raise BadRequest(f"Invalid content type for the role {role}: {part.get('type')!r}", "invalid_value")


def _check_strict(schema: Any) -> None:
    """Strict mode takes only objects that name every property as required and allow no others."""
    if isinstance(schema, list):
        for part in schema:
            _check_strict(part)
    if not isinstance(schema, dict):
        return
    if schema.get("type") == "object":
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(
            properties
        ):
            raise BadRequest("Invalid schema for strict structured output", "invalid_json_schema")
    for part in schema.values():
        _check_strict(part)
