"""Reads what the model was asked as the product's own prompt layout: parts by kind, and whose talk it is."""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whatsapp_agent.memory.profile import AgentProfile

CALL = "/v1/responses"


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a prompt: `kind` is `instructions` or one of `records.PromptKind`, or `tool`."""

    kind: str
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Asked:
    """One call of the model.

    Attributes:
        purpose: `reply` or `memory` (a compaction).
        status: HTTP status of the answer; 0 while there is none, or where the connection broke.
    """

    number: int
    at: str
    ended_at: str
    purpose: str
    model: str
    parts: tuple[Part, ...]
    status: int
    answer: str
    usage: Mapping[str, int]

    @property
    def chars(self) -> int:
        return sum(len(part.text) for part in self.parts)

    @property
    def said(self) -> list[str]:
        """What the talk's own messages say, in order; of a compaction its lines."""
        if self.purpose == "memory":
            return [line for part in self.parts if part.kind == "new" for line in part.text.split("\n")]
        return [part.text for part in self.parts if part.kind in ("message", "new")]


def asked_of(entry: Mapping[str, Any], profile: AgentProfile) -> Asked | None:
    """A request of the simulated model's log; None where it asks for no reply and no compaction."""
    body = entry.get("body")
    if entry.get("path") != CALL or not isinstance(body, Mapping) or not isinstance(body.get("input"), list):
        return None
    memory = (_object(body.get("text")).get("format") or {}).get("type") == "json_schema"
    items = _merged(body["input"])
    instructions = Part("instructions", "system", str(body.get("instructions") or ""))
    if any("[input_image]" in text for _, text in items):
        return None
    answer = _object(entry.get("answer"))
    usage = _object(answer.get("usage"))
    return Asked(
        number=int(entry["number"]),
        at=str(entry.get("at", "")),
        ended_at=str(entry.get("ended_at", "")),
        purpose="memory" if memory else "reply",
        model=str(body.get("model", "")),
        parts=(instructions, *_kinds(items, profile, memory)),
        status=int(entry.get("status") or 0),
        answer=_answer(answer),
        usage={
            "input": int(usage.get("input_tokens", 0)),
            "cached": int(_object(usage.get("input_tokens_details")).get("cached_tokens", 0)),
            "output": int(usage.get("output_tokens", 0)),
        },
    )


def shared_chars(one: Asked, other: Asked | None) -> int:
    """Characters that both prompts begin with, counted over their parts."""
    if other is None:
        return 0
    shared = 0
    for mine, theirs in zip(one.parts, other.parts, strict=False):
        # The newest message of one turn is an older one in the next: the model reads the same.
        if mine.role == theirs.role and mine.text == theirs.text:
            shared += len(mine.text)
            continue
        if mine.role == theirs.role:
            pairs = zip(mine.text, theirs.text, strict=False)
            shared += next(
                (place for place, (left, right) in enumerate(pairs) if left != right),
                min(len(mine.text), len(theirs.text)),
            )
        break
    return shared


def belongs(asked: Asked, texts: Collection[str]) -> bool:
    """Whether a call is about the talk that holds these messages: everything said in it is among them."""
    said = [line for line in asked.said if line.strip()]
    if not said:
        return False
    if asked.purpose == "memory":
        return all(_quoted_in(line) in texts for line in said)
    return all(any(text == line or (text and line.endswith(text)) for text in texts) for line in said)


def as_json(asked: Asked, shared: int, cost: float | None, turns: Sequence[str]) -> dict[str, Any]:
    """What the page shows of it."""
    return {
        "number": asked.number,
        "at": asked.at,
        "ended_at": asked.ended_at,
        "purpose": asked.purpose,
        "model": asked.model,
        "parts": [{"kind": part.kind, "role": part.role, "text": part.text} for part in asked.parts],
        "chars": asked.chars,
        "shared": shared,
        "status": asked.status,
        "answer": asked.answer,
        "usage": dict(asked.usage),
        "cost": cost,
        "turns": list(turns),
    }


def _kinds(items: Sequence[tuple[str, str]], profile: AgentProfile, memory: bool) -> Iterable[Part]:
    phrases = profile.phrases
    notes = f"{phrases.notes_label}:"
    last_notes = max((at for at, (_, text) in enumerate(items) if text.startswith(notes)), default=-1)
    talk_began = False
    for at, (role, text) in enumerate(items):
        if role in ("tool", "call"):
            kind = "tool"
        elif text.startswith(f"{phrases.memory_label}\n") and not talk_began:
            kind = "facts" if text.split("\n")[1] == f"{phrases.facts_label}:" else "summary"
        elif not memory and text.startswith(f"{phrases.recall_label}\n"):
            kind = "recall"
        elif at == last_notes or (memory and at < len(items) - 1):
            kind = "notes"
        else:
            talk_began = True
            kind = "new" if memory or (role == "user" and -1 < last_notes < at) else "message"
        yield Part(kind, role, text)


def _merged(items: Sequence[Any]) -> list[tuple[str, str]]:
    """Role and text of each input item; a call of a tool and its output have roles of their own."""
    found = []
    for item in items:
        if not isinstance(item, Mapping):
            continue
        kind = item.get("type", "message")
        if kind == "function_call":
            found.append(("call", f"{item.get('name')}({item.get('arguments')})"))
        elif kind == "function_call_output":
            found.append(("tool", str(item.get("output", ""))))
        elif kind == "message":
            content = item.get("content", "")
            if isinstance(content, list):
                content = " ".join(str(part.get("text", f"[{part.get('type')}]")) for part in content)
            found.append((str(item.get("role", "user")), str(content)))
    return found


def _answer(answer: Mapping[str, Any]) -> str:
    """The text of the answer, a call of a tool, or the error."""
    if error := answer.get("error"):
        return str(_object(error).get("code") or _object(error).get("type") or "error")
    said = []
    for item in answer.get("output") or ():
        if item.get("type") == "function_call":
            said.append(f"{item.get('name')}({item.get('arguments')})")
        said += [str(part.get("text") or part.get("refusal") or "") for part in item.get("content") or ()]
    text = "\n".join(filter(None, said))
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


def _quoted_in(line: str) -> str:
    """The words of a line of a transcript: `[12] 2026-11-29 Sunday user: "text"`."""
    start = line.find(': "')
    try:
        return str(json.loads(line[start + 2 :])) if start >= 0 else line
    except ValueError:
        return line


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
