"""One HTTP request and its answer, without the server around them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Request:
    """Header names in lower case, `path` still percent-encoded."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any] | None:
        """The body where it is a JSON object."""
        try:
            value = json.loads(self.body or b"{}")
        except ValueError:
            return None
        return value if isinstance(value, dict) else None


@dataclass(frozen=True, slots=True)
class Response:
    """`drop` closes the connection without a word."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    drop: bool = False


def json_response(status: int, value: Any, **headers: str) -> Response:
    body = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
    names = {name.replace("_", "-"): text for name, text in headers.items() if text}
    return Response(status, body, {"Content-Type": "application/json", **names})


class BadRequest(ValueError):
    """A control request that cannot be carried out; the text says why."""


def text_of(fields: dict[str, Any], name: str, default: str = "") -> str:
    value = fields.get(name, default)
    if not isinstance(value, str):
        raise BadRequest(f"{name} must be a text")
    return value


def count_of(fields: dict[str, Any], name: str) -> int:
    value = fields.get(name, 0)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10_000:
        raise BadRequest(f"{name} must be a whole number from 0 to 10000")
    return value
