"""The ways in which a call of the real service goes wrong, as answers."""

from typing import Any

from tools.local.simulated_model.control import Failure

_REASONING = {"type": "reasoning", "id": "rs_simulated", "summary": []}
_HALF_JSON = '{"summary": "On 2026-11-01 she told that her'

DROPPED = "drop"
"""The connection ends without an answer."""
NOT_JSON = "not_json"
"""HTTP 200 with a page of a proxy's."""
DRIPS = "drip"
"""Blanks for `DRIP_SECONDS`, as some services send them to keep a connection open, then the answer."""
DRIP_SECONDS, DRIP_EVERY = 3.0, 0.05
KINDS = (
    "incomplete",  # ran out of room while it was thinking
    "incomplete_text",  # ran out of room in the middle of a sentence
    "incomplete_json",  # the same, where JSON was asked for
    "content_filter",
    "refusal",
    "empty",
    "blank",
    "function_call",
    "failed",  # status failed, with `code`
    "error",  # an error object beside HTTP 200, with `code`
    "wrong_shape",  # JSON, but not of the schema
    NOT_JSON,
    DROPPED,
    DRIPS,
)


def http_error(status: int, code: str, message: str) -> dict[str, Any]:
    """The error body of the service."""
    kind = {401: "invalid_request_error", 429: "requests", 500: "server_error"}.get(
        status, "invalid_request_error"
    )
    return {"error": {"message": message, "type": code or kind, "param": None, "code": code or None}}


def broken(failure: Failure, response: dict[str, Any]) -> dict[str, Any]:
    """The response in the way that `failure.kind` breaks it."""
    kind = failure.kind
    if kind in ("incomplete", "incomplete_text", "incomplete_json"):
        text = {
            "incomplete_text": "This is a whole sentence. This one breaks off in the",
            "incomplete_json": _HALF_JSON,
        }
        output = [_REASONING, *([message(text[kind], status="incomplete")] if kind in text else [])]
        return response | {
            "status": "incomplete",
            "incomplete_details": {"reason": "max_output_tokens"},
            "output": output,
        }
    if kind == "content_filter":
        return response | {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}}
    if kind in ("failed", "error"):
        error = {"code": failure.code or "server_error", "message": "simulated failure, sk-simulated-secret"}
        status = "failed" if kind == "failed" else response["status"]
        return response | {"status": status, "error": error, "output": []}
    outputs: dict[str, list[dict[str, Any]]] = {
        "refusal": [message("I cannot help with that.", kind="refusal")],
        "empty": [],
        "blank": [message(" \u200b\n")],
        "function_call": [function_call("unknown_tool", "{}"), *response["output"]],
        "wrong_shape": [message('{"summary": 7, "changes": {}}')],
    }
    return response | {"output": outputs[kind]}


def message(text: str, *, kind: str = "output_text", status: str = "completed") -> dict[str, Any]:
    """A message item of an answer."""
    part = {"type": "refusal", "refusal": text}
    if kind == "output_text":
        part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}  # type: ignore[dict-item]
    return {"type": "message", "id": "msg_simulated", "role": "assistant", "status": status, "content": [part]}


def function_call(name: str, arguments: str) -> dict[str, Any]:
    """A call of a tool, as an item of an answer."""
    return {
        "type": "function_call",
        "id": "fc_simulated",
        "call_id": f"call_{name}",
        "name": name,
        "arguments": arguments,
        "status": "completed",
    }
