"""Reads a request as the person's memory, the talk so far and what is new: all that the model may know.

The layout is the one that `whatsapp_agent.memory.prompt` documents; it is recognised by its form, because an
agent may word its labels as it likes.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tools.local.simulated_model import language as lang

_QUOTED = r'"(?:[^"\\]|\\.)*"'
_FACT = re.compile(rf"- ([A-Za-z][\w-]*): ({_QUOTED})(.*)")
_SUMMARY = re.compile(rf'[^"\n]{{1,80}}: ({_QUOTED})')
_TRANSCRIPT = re.compile(rf"\[(\d+)\] (\d{{4}}-\d\d-\d\d)\b[^\"\n]*?\b(user|assistant|owner): ({_QUOTED})")
_PASSAGE = re.compile(rf"- ({_QUOTED}|\d{{4}}-\d\d-\d\d): ({_QUOTED})")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LABELS = re.compile(r'block that begins with "((?:[^"\\]|\\.)*)"')


@dataclass(frozen=True, slots=True)
class Said:
    """A message: `role` is `user` or `assistant`; in a transcript also `owner`, with `seq` and `day`."""

    role: str
    text: str
    seq: int = 0
    day: str = ""


@dataclass(frozen=True, slots=True)
class View:
    """What a request holds.

    Attributes:
        history: What was said and answered before, oldest first.
        new: What is to be answered now.
        days: Days since the person last wrote; 0 where the request does not say.
        transcript: The lines of a compaction's prompt.
        outputs: What tools have answered since the newest message.
        passages: What was looked up for the newest message: where it is from, and what it says.
    """

    language: str
    facts: tuple[tuple[str, str], ...] = ()
    summary: str = ""
    history: tuple[Said, ...] = ()
    new: tuple[str, ...] = ()
    days: int = 0
    transcript: tuple[Said, ...] = ()
    outputs: tuple[str, ...] = ()
    passages: tuple[tuple[str, str], ...] = ()

    def fact(self, *keys: str) -> str:
        """The first value under the first of the keys that has one."""
        return next((value for key in keys for known, value in self.facts if known == key), "")


@dataclass
class _Reader:
    facts: list[tuple[str, str]] = field(default_factory=list)
    summary: str = ""
    history: list[Said] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    days: int = 0
    transcript: list[Said] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    passages: list[tuple[str, str]] = field(default_factory=list)

    memory_label: str = ""
    notes_label: str = ""
    recall_labels: tuple[str, ...] = ()

    def message(self, role: str, text: str) -> None:
        if role == "assistant":
            self.history += [Said("user", said) for said in self.new]
            self.new.clear()
            self.history.append(Said("assistant", text))
        elif not (self._lines(text) or self._memory(text) or self._recalled(text) or self._notes(text)):
            self.new.append(text)

    def _memory(self, text: str) -> bool:
        lines = text.split("\n")
        if self.history or self.new or (self.memory_label and lines[0] != self.memory_label):
            return False
        facts = [_FACT.fullmatch(line) for line in lines[2:]]
        if facts and all(facts) and not self.facts:
            self.facts += [(fact[1], _unquoted(fact[2])) for fact in facts if fact]
            return True
        if len(lines) == 2 and (summary := _SUMMARY.fullmatch(lines[1])):
            self.summary = _unquoted(summary[1])
            return True
        return False

    def _recalled(self, text: str) -> bool:
        """Whether it is a block of looked-up passages, which nobody has just said."""
        first, *rest = text.split("\n")
        if not any(first.rstrip(": ") == label.rstrip(": ") for label in self.recall_labels):
            return False
        lines = [_PASSAGE.fullmatch(line) for line in rest]
        self.passages += [(_unquoted(line[1]), _unquoted(line[2])) for line in lines if line]
        return True

    def _notes(self, text: str) -> bool:
        first, *rest = text.split("\n")
        label = self.notes_label
        if label and first.rstrip(": ") != label.rstrip(": "):
            return False
        if not rest or not first.endswith(":") or not all(line.startswith("- ") for line in rest):
            return False
        self.history += [Said("user", said) for said in self.new]
        self.new.clear()
        for line in rest:
            if fact := _FACT.fullmatch(line):
                self.facts.append((fact[1], _unquoted(fact[2])))
                continue
            numbers = re.findall(r"\d+", line)
            if len(numbers) == 1 and len(numbers[0]) <= 5 and not _DATE.search(line) and "+" not in line:
                self.days = int(numbers[0])
        return True

    def _lines(self, text: str) -> bool:
        lines = [_TRANSCRIPT.fullmatch(line) for line in text.split("\n")]
        if not all(lines):
            return False
        self.transcript += [Said(line[3], _unquoted(line[4]), int(line[1]), line[2]) for line in lines if line]
        return True


def read(body: Mapping[str, Any]) -> View:
    """The view of a request body of `POST /v1/responses`."""
    instructions = str(body.get("instructions") or "")
    labels = _LABELS.findall(instructions)
    # The rules name the block of memory first and this turn's notes last; between them what was looked up.
    reader = _Reader(
        memory_label="".join(labels[:1]),
        notes_label="".join(labels[1:][-1:]),
        recall_labels=tuple(labels[1:-1]),
    )
    for role, text in texts(body):
        if role == "tool":
            reader.outputs.append(text)
        elif text.strip():
            reader.message(role, text)
    spoken = [line.text for line in reader.transcript or reader.history if line.role == "user"]
    default = lang.of_instructions(instructions)
    before = lang.detect(" ".join(spoken[-12:]), default)
    return View(
        language=before if reader.transcript else lang.detect(" ".join(reader.new), before),
        facts=tuple(reader.facts),
        summary=reader.summary,
        history=tuple(reader.history),
        new=tuple(reader.new),
        days=reader.days,
        passages=tuple(reader.passages),
        transcript=tuple(reader.transcript),
        outputs=tuple(reader.outputs),
    )


def texts(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """`(role, text)` of every input item; the role of a tool's output is `tool`, of its call `call`."""
    given = body.get("input")
    if isinstance(given, str):
        return [("user", given)]
    return [_text(item) for item in given or () if isinstance(item, dict)]


def _text(item: Mapping[str, Any]) -> tuple[str, str]:
    kind = item.get("type", "message")
    if kind == "function_call_output":
        return "tool", str(item.get("output", ""))
    if kind != "message":
        return "call", ""
    content = item.get("content", "")
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict))
        content = " ".join(str(part.get("text", f"[{part.get('type', 'part')}]")) for part in parts)
    return str(item.get("role", "user")), str(content)


def _unquoted(text: str) -> str:
    try:
        return str(json.loads(text))
    except ValueError:
        return text.strip('"')
