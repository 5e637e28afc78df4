"""Telemetry that keeps everything, and complains about a field that may not be written."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from whatsapp_agent.redaction import FIELDS
from whatsapp_agent.telemetry import safe_fields


@dataclass(frozen=True)
class Line:
    level: str
    event: str
    fields: dict[str, object]


@dataclass
class RecordingTelemetry:
    """`counts` by name, `dimensioned` by name and dimensions, `lines` in order."""

    counts: Counter[str] = field(default_factory=Counter)
    dimensioned: Counter[tuple[str, tuple[tuple[str, str], ...]]] = field(default_factory=Counter)
    lines: list[Line] = field(default_factory=list)
    measured: list[tuple[str, float, dict[str, str]]] = field(default_factory=list)
    flushes: int = 0
    _lock: Any = field(default_factory=Lock)

    def count(self, name: str, value: float = 1, **dimensions: object) -> None:
        safe = self._safe(dimensions)
        if not value:
            return
        with self._lock:
            self.counts[name] += value  # type: ignore[assignment]
            key = (name, tuple((field, str(text)) for field, text in sorted(safe.items())))
            self.dimensioned[key] += value  # type: ignore[assignment]

    def measure(self, name: str, milliseconds: float, **dimensions: object) -> None:
        safe = self._safe(dimensions)
        with self._lock:
            self.measured.append((name, milliseconds, {field: str(text) for field, text in safe.items()}))

    @contextmanager
    def step(self, step: str) -> Iterator[None]:
        try:
            yield
        finally:
            self.measure("StepMilliseconds", 1.0, step=step)

    def counted(self, name: str, **dimensions: str) -> float:
        """How much was counted under the name, with exactly these dimensions where any are given."""
        return self.dimensioned[name, tuple(sorted(dimensions.items()))] if dimensions else self.counts[name]

    def info(self, event: str, **fields: object) -> None:
        self._write("info", event, fields)

    def warning(self, event: str, **fields: object) -> None:
        self._write("warning", event, fields)

    def error(self, event: str, **fields: object) -> None:
        self._write("error", event, fields)

    def conversation_hash(self, conversation: str) -> str:
        return hashlib.sha256(conversation.encode()).hexdigest()[:16]

    def flush(self) -> None:
        self.flushes += 1

    def events(self, level: str = "") -> list[str]:
        """The names of the written lines, of one level where it is given."""
        return [line.event for line in self.lines if level in ("", line.level)]

    def _write(self, level: str, event: str, fields: dict[str, object]) -> None:
        safe = self._safe(fields)
        with self._lock:
            self.lines.append(Line(level, event, safe))

    def _safe(self, fields: dict[str, object]) -> dict[str, object]:
        if unknown := sorted(fields.keys() - FIELDS):
            raise AssertionError(
                f"fields that may not be written: {unknown}; see whatsapp_agent.redaction.FIELDS"
            )
        return safe_fields(fields, self.conversation_hash)
