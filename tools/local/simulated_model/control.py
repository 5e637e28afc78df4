"""What the tests and the playground steer and read: failures to come, delays, and the requests so far."""

import threading
from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

KEPT = 200
"""So many requests are kept for reading; older ones go."""


_CACHED = 50


@dataclass(slots=True)
class Failure:
    """A way in which the next calls go wrong.

    Attributes:
        status: An HTTP status, with `code` in the error; or
        kind: One of `failures.KINDS`: what goes wrong with HTTP 200, or below HTTP.
        times: How many calls are left; -1 for all.
        path: Only calls of this path; empty for all.
    """

    status: int = 0
    code: str = ""
    kind: str = ""
    times: int = 1
    retry_after: float | None = None
    path: str = ""


class Control:
    """Shared by all requests; every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._failures: list[Failure] = []
        self._delay = 0.0
        self._requests: deque[dict[str, Any]] = deque(maxlen=KEPT)
        self._prompts: deque[tuple[str, str]] = deque(maxlen=_CACHED)
        self._count = 0

    def fail(self, failure: Failure) -> None:
        """Adds a failure; they are used up in the order in which they were added."""
        with self._lock:
            self._failures.append(failure)

    def next_failure(self, path: str) -> Failure | None:
        """The failure that this call meets, counted down; None where it goes well."""
        with self._lock:
            for failure in self._failures:
                if failure.path in ("", path):
                    failure.times -= failure.times > 0
                    if failure.times == 0:
                        self._failures.remove(failure)
                    return failure
        return None

    def delay(self, seconds: float) -> None:
        """Lets every later call take so long."""
        with self._lock:
            self._delay = seconds

    @property
    def seconds(self) -> float:
        """How long a call is to take."""
        with self._lock:
            return self._delay

    def record(self, path: str, body: Any, prompt: Any) -> dict[str, Any]:
        """Keeps a request; the entry that comes back is completed with `status`, `answer` and `ended_at` by
        `complete`.
        """
        with self._lock:
            self._count += 1
            entry = {"number": self._count, "at": _now(), "path": path, "prompt": prompt, "body": body}
            self._requests.append(entry)
            return entry

    def complete(self, entry: dict[str, Any], status: int, answer: Any) -> None:
        """Adds what was answered."""
        with self._lock:
            entry["status"], entry["answer"], entry["ended_at"] = status, answer, _now()

    def requests(self, limit: int = KEPT, path: str = "", after: int = 0) -> list[dict[str, Any]]:
        """The newest requests beyond number `after`, oldest first."""
        with self._lock:
            chosen = [
                dict(entry)
                for entry in self._requests
                if path in ("", entry["path"]) and entry["number"] > after
            ]
        return chosen[-limit:] if limit > 0 else []

    def shared_prefix(self, kind: str, text: str) -> int:
        """Characters that a prompt has in common with one of the newest of its kind; then it is one of them.

        It tells how much a prompt cache could have reused; no answer depends on it.
        """
        with self._lock:
            shared = [_shared(text, seen) for other, seen in self._prompts if other == kind]
            self._prompts.append((kind, text))
        return max(shared, default=0)

    def reset(self) -> None:
        """Forgets failures, delay and requests."""
        with self._lock:
            self._failures.clear()
            self._requests.clear()
            self._prompts.clear()
            self._delay = 0.0
            self._count = 0


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _shared(one: str, other: str) -> int:
    """How many characters both begin with."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((place for place, (left, right) in pairs if left != right), min(len(one), len(other)))
