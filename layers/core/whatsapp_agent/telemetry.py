"""Logs and metrics. No message text, phone number or secret passes: see `whatsapp_agent.redaction`."""

import hashlib
import hmac
import math
import os
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import IO, Protocol

from aws_lambda_powertools.logging import Logger
from aws_lambda_powertools.metrics.provider.cloudwatch_emf.cloudwatch import AmazonCloudWatchEMFProvider

from whatsapp_agent.errors import AgentError, PermanentError
from whatsapp_agent.redaction import FIELDS, HASHED, redact

NAMESPACE = "WhatsAppAgent"

_Dimensions = tuple[tuple[str, str], ...]

_CALLER = 4
"""Frames between the logging library and the caller, so that a line's `location` is the caller's."""


class Telemetry(Protocol):
    """Counts and writes down what happens. Safe to use from several threads; never raises."""

    def count(self, name: str, value: float = 1, **dimensions: object) -> None:
        """Adds to a metric. With dimensions, the metric is also kept without them, for alarms."""

    def measure(self, name: str, milliseconds: float, **dimensions: object) -> None:
        """Adds one measurement to a metric in milliseconds; dimensions as in `count`."""

    def step(self, step: str) -> AbstractContextManager[None]:
        """Measures how long the block takes, as `StepMilliseconds` of this step, also where it fails."""

    def info(self, event: str, **fields: object) -> None:
        """Writes a line about something that is as it should be; `event` is a fixed name."""

    def warning(self, event: str, **fields: object) -> None:
        """Writes a line about something that the application deals with by itself."""

    def error(self, event: str, **fields: object) -> None:
        """Writes a line about something that somebody must look at."""

    def conversation_hash(self, conversation: str) -> str:
        """A short name for a conversation or a person from which nobody can compute the phone number."""

    def flush(self) -> None:
        """Writes the metrics counted so far; called at the end of every invocation."""


class PowertoolsTelemetry:
    """Telemetry as JSON lines on stdout: Powertools' logger, and CloudWatch's embedded metric format.

    Args:
        function: Which function writes: `ingest`, `reply`, …; a field of every line.
        service: The dimension `service` of every metric, by which alarms find it. By default what
            Powertools reads from `POWERTOOLS_SERVICE_NAME`: the stack's name, for all of its functions.
        hash_key: Key of `conversation_hash`. Without one, a random key of this process is used: lines of
            one process can be compared, and nothing can be computed back.
        stream: Where log lines go instead of stdout.
    """

    def __init__(
        self, function: str, *, service: str = "", hash_key: bytes = b"", stream: IO[str] | None = None
    ) -> None:
        configured = AmazonCloudWatchEMFProvider(namespace=NAMESPACE, service=service or None).service
        self._service = configured or NAMESPACE
        self._function = function
        self._hash_key = hash_key or os.urandom(32)
        self._logger = Logger(service=self._service, stream=stream)
        self._lock = Lock()
        self._counts: dict[_Dimensions, dict[str, float]] = defaultdict(dict)
        self._measured: dict[_Dimensions, dict[str, list[float]]] = defaultdict(dict)

    def count(self, name: str, value: float = 1, **dimensions: object) -> None:
        """See `Telemetry.count`. Nothing is written before `flush`."""
        if not value or not math.isfinite(value):
            return
        key = self._key(dimensions)
        with self._lock:
            metrics = self._counts[key]
            metrics[name] = metrics.get(name, 0) + value

    def measure(self, name: str, milliseconds: float, **dimensions: object) -> None:
        """See `Telemetry.measure`. Nothing is written before `flush`."""
        if not math.isfinite(milliseconds):
            return
        key = self._key(dimensions)
        with self._lock:
            self._measured[key].setdefault(name, []).append(round(max(0.0, milliseconds), 1))

    @contextmanager
    def step(self, step: str) -> Iterator[None]:
        """See `Telemetry.step`."""
        began = time.monotonic()
        try:
            yield
        finally:
            self.measure("StepMilliseconds", 1000 * (time.monotonic() - began), step=step)

    def _key(self, dimensions: dict[str, object]) -> _Dimensions:
        fields = safe_fields(dimensions, self.conversation_hash)
        return tuple((field, str(text)[:100]) for field, text in sorted(fields.items()) if str(text).strip())

    def info(self, event: str, **fields: object) -> None:
        """See `Telemetry.info`."""
        self._write(self._logger.info, event, fields)

    def warning(self, event: str, **fields: object) -> None:
        """See `Telemetry.warning`."""
        self._write(self._logger.warning, event, fields)

    def error(self, event: str, **fields: object) -> None:
        """See `Telemetry.error`."""
        self._write(self._logger.error, event, fields)

    def _write(self, write: Callable[..., None], event: str, fields: dict[str, object]) -> None:
        extra = {"function": self._function, **safe_fields(fields, self.conversation_hash)}
        write(redact(event), extra=extra, stacklevel=_CALLER)

    def conversation_hash(self, conversation: str) -> str:
        """See `Telemetry.conversation_hash`: 16 hexadecimal digits."""
        return hmac.new(self._hash_key, conversation.encode(), hashlib.sha256).hexdigest()[:16]

    def flush(self) -> None:
        """See `Telemetry.flush`: one line per set of dimensions."""
        with self._lock:
            counts, self._counts = self._counts, defaultdict(dict)
            measured, self._measured = self._measured, defaultdict(dict)
        for dimensions in {**counts, **measured}:
            sink = AmazonCloudWatchEMFProvider(namespace=NAMESPACE, service=self._service)
            sink.add_dimension("service", self._service)
            if dimensions:
                sink.add_dimensions(service=self._service, **dict(dimensions))
            for name, value in counts.get(dimensions, {}).items():
                sink.add_metric(name, "Count", value)
            for name, values in measured.get(dimensions, {}).items():
                for value in values:
                    sink.add_metric(name, "Milliseconds", value)
            sink.flush_metrics()


def safe_fields(fields: dict[str, object], hashed: Callable[[str], str]) -> dict[str, object]:
    """The fields as they may be written: known names only, values masked. `hashed` hashes an identity."""
    safe: dict[str, object] = {}
    dropped = sorted(fields.keys() - FIELDS)
    for name in sorted(fields.keys() & FIELDS):
        value = fields[name]
        if value is not None:
            safe[name] = hashed(str(value)) if name in HASHED else _safe_value(value)
    if dropped:
        safe["dropped_fields"] = [redact(name) for name in dropped]
    return safe


def _safe_value(value: object) -> object:
    if isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return round(value, 3) if math.isfinite(value) else str(value)
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, PermanentError):
        return redact(f"{value.code}: {value}")
    if isinstance(value, AgentError):
        return redact(f"{type(value).__name__}: {value}")
    # Others' exceptions quote their input; so might anything else.
    return type(value).__name__
