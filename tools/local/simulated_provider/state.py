"""What the simulated provider knows. One lock guards everything; ids come from one counter."""

import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

KEY_LIFETIME_SECONDS = 24 * 3600


def utc_now() -> datetime:
    return datetime.now(UTC)


def iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def same_person(one: str, other: str) -> bool:
    """Meta writes a phone without the plus sign that whasp gives it."""
    return one.removeprefix("+") == other.removeprefix("+")


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of the agent that the provider has taken."""

    id: str
    provider: str
    number: str
    person: str
    text: str
    key: str
    at: str
    reply_to: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Failure:
    """A scripted failure: after `skip` matching requests, the next `times` of them fail.

    Attributes:
        path: Only requests whose path contains this text.
        accept: Take the message first, then fail: the answer is lost, not the message.
        drop: Close the connection instead of answering.
    """

    status: int = 503
    times: int = 1
    skip: int = 0
    path: str = "messages"
    code: str = ""
    retry_after: str = ""
    accept: bool = False
    drop: bool = False


@dataclass(frozen=True, slots=True)
class Medium:
    id: str
    mime_type: str
    data: bytes


@dataclass
class State:
    """Everything that the two providers and the control API share."""

    now: Callable[[], datetime] = utc_now
    next_id: int = 1
    lock: threading.RLock = field(default_factory=threading.RLock)
    sent: list[Sent] = field(default_factory=list)
    typing: list[dict[str, str]] = field(default_factory=list)
    keys: dict[str, tuple[Sent, datetime]] = field(default_factory=dict)
    opted_out: set[str] = field(default_factory=set)
    closed_windows: set[str] = field(default_factory=set)
    successors: dict[str, str] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    media: dict[str, Medium] = field(default_factory=dict)
    requests: Counter[str] = field(default_factory=Counter)
    deliveries: list[dict[str, Any]] = field(default_factory=list)

    def new_id(self, prefix: str) -> str:
        """The next id, for example `evt_000001`; the counter never goes back, not even with `reset`: an id that
        came twice would be a redelivery to the agent.
        """
        with self.lock:
            number = self.next_id
            self.next_id += 1
        return f"{prefix}{number:06d}"

    def reset(self) -> None:
        """Forgets everything but the counter."""
        with self.lock:
            for store in (
                self.sent,
                self.typing,
                self.keys,
                self.opted_out,
                self.closed_windows,
                self.successors,
                self.failures,
                self.media,
                self.requests,
                self.deliveries,
            ):
                store.clear()

    def take_failure(self, path: str) -> Failure | None:
        """The scripted failure that this request runs into, if any."""
        with self.lock:
            for failure in self.failures:
                if failure.path not in path:
                    continue
                if failure.skip > 0:
                    failure.skip -= 1
                    return None
                failure.times -= 1
                if failure.times <= 0:
                    self.failures.remove(failure)
                return failure
        return None

    def accept(self, provider: str, prefix: str, fields: dict[str, str], key: str = "") -> Sent:
        """Takes a message; within 24 hours the same key answers the message that it first stood for."""
        with self.lock:
            earlier = self.by_key(key)
            if earlier is not None:
                return earlier
            sent = Sent(self.new_id(prefix), provider, key=key, at=iso(self.now()), **fields)
            self.sent.append(sent)
            if key:
                self.keys[key] = (sent, self.now())
            return sent

    def by_key(self, key: str) -> Sent | None:
        """The message that an idempotency key stands for."""
        with self.lock:
            sent, at = self.keys.get(key, (None, None))
            if at is None or (self.now() - at).total_seconds() >= KEY_LIFETIME_SECONDS:
                return None
            return sent

    def heard(self, person: str, text: str, *, stops: bool) -> None:
        """A person writes: blocks on them lift, and `STOP` sets one where the provider minds it."""
        with self.lock:
            self.closed_windows.discard(person.removeprefix("+"))
            self.opted_out.discard(person.removeprefix("+"))
            if stops and text.strip().strip(".!").casefold() == "stop":
                self.opted_out.add(person.removeprefix("+"))

    def is_opted_out(self, person: str) -> bool:
        with self.lock:
            return person.removeprefix("+") in self.opted_out
