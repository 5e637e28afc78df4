"""What can go wrong at a call: the process dies, or the call fails."""

import json
from dataclasses import dataclass
from typing import Any

KILL_BEFORE = "killed before"
KILL_AFTER = "killed after"
KILLS = (KILL_BEFORE, KILL_AFTER)

LOST_REQUEST = "request lost"
LOST_ANSWER = "answer lost"


@dataclass(frozen=True, order=True)
class Point:
    """A call of a run: the `nth` with this `label` in the invocation number `invocation`."""

    invocation: int
    label: str
    nth: int

    def __str__(self) -> str:
        times = f" #{self.nth}" if self.nth > 1 else ""
        return f"{self.invocation}: {self.label}{times}"


@dataclass(frozen=True)
class Trouble:
    """One thing that goes wrong.

    Attributes:
        kind: One of `KILLS`, `LOST_…`, or a name of `FAILURES`.
        times: How many calls of the label fail, from the point on; the SDK's own retries count.
    """

    point: Point
    kind: str
    times: int = 1

    def __str__(self) -> str:
        return f"{self.kind} {self.point}" + (f" x{self.times}" if self.times > 1 else "")

    def meets(self, invocation: int, label: str, nth: int) -> bool:
        point = self.point
        here = (point.invocation, point.label) == (invocation, label)
        return here and point.nth <= nth < point.nth + self.times


@dataclass(frozen=True)
class Reply:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()


def _aws(status: int, code: str, **more: Any) -> Reply:
    body = {"__type": f"com.amazonaws#{code}", "message": "as scripted", **more}
    return Reply(status, json.dumps(body).encode(), (("x-amzn-errortype", code),))


def _json(status: int, value: Any, *headers: tuple[str, str]) -> Reply:
    return Reply(status, json.dumps(value).encode(), (("Content-Type", "application/json"), *headers))


def _openai(status: int, code: str, *headers: tuple[str, str]) -> Reply:
    return _json(
        status, {"error": {"message": "sk-secret", "type": code, "code": code, "param": None}}, *headers
    )


_NOTHING_SAID = {
    "id": "resp_x",
    "object": "response",
    "created_at": 0,
    "status": "incomplete",
    "error": None,
    "incomplete_details": {"reason": "max_output_tokens"},
    "instructions": None,
    "model": "m",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "usage": None,
}

FAILURES: dict[str, dict[str, Reply]] = {
    "dynamodb": {
        "throttled": _aws(400, "ProvisionedThroughputExceededException"),
        "internal error": _aws(500, "InternalServerError"),
    },
    "sqs": {"unavailable": _aws(503, "ServiceUnavailable")},
    "secretsmanager": {"throttled": _aws(400, "ThrottlingException")},
    "provider": {
        "overloaded": _json(503, {"error": {"code": "internal"}}),
        "rate limited": _json(429, {"error": {"code": "rate_limited"}}, ("Retry-After", "1")),
    },
    "model": {
        "rate limited": _openai(429, "rate_limit_exceeded", ("Retry-After", "1")),
        "failing": _openai(500, "server_error"),
        "out of quota": _openai(429, "insufficient_quota"),
        "without an answer": _json(200, _NOTHING_SAID),
        "unreadable": Reply(200, b"<html>a proxy</html>", (("Content-Type", "text/html"),)),
    },
}
"""By service, what it can answer instead of doing what it was asked."""


def conflict(actions: int) -> Reply:
    """A transaction that met another one on its first item."""
    return _cancelled("TransactionConflict", 0, actions)


def refused(place: int, actions: int) -> Reply:
    """A transaction of which the condition of the action at `place` did not hold."""
    return _cancelled("ConditionalCheckFailed", place, actions)


def _cancelled(code: str, place: int, actions: int) -> Reply:
    reasons = [{"Code": code if index == place else "None"} for index in range(actions)]
    return _aws(400, "TransactionCanceledException", CancellationReasons=reasons)
