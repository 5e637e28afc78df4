"""What a prompt cache makes of consecutive requests: by its text, and by the marks that requests set.

Follows the service's description for models that take marks (see `whatsapp_agent.model.request`): a prefix is
read where an earlier request wrote it, which it does at its newest four marks; what was read costs a tenth,
what is written anew a quarter more, everything behind the last mark the plain price. A cached prefix has at
least 1,024 tokens. Taken here: the cache lasts from one turn to the next.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

CHARS_PER_TOKEN = 4
"""No tokeniser of these models comes with a package that works offline: four characters are one token here."""

_WRITTEN_MARKS = 4
_LEAST = 1024 * CHARS_PER_TOKEN


@dataclass(frozen=True, slots=True)
class Seen:
    """One request, in characters.

    Attributes:
        shared: Of its beginning, what the request before had, too.
        cached, written: What is read from the cache, and what is written to it.
    """

    chars: int
    shared: int
    cached: int
    written: int

    @property
    def shared_share(self) -> float:
        return self.shared / self.chars


@dataclass(slots=True)
class Cache:
    """Sees the requests of one conversation, in order."""

    _before: str = ""
    _known: set[int] = field(default_factory=set)

    def see(self, body: Mapping[str, Any]) -> Seen:
        """Takes one request in."""
        text, marks = serialised(body)
        shared = _common(self._before, text)
        usable = [mark for mark in marks if mark >= _LEAST]
        cached = max((mark for mark in usable if hash(text[:mark]) in self._known), default=0)
        written = max(usable, default=0) - cached if usable else 0
        self._known |= {hash(text[:mark]) for mark in usable[-_WRITTEN_MARKS:]}
        self._before = text
        return Seen(len(text), shared, cached, max(0, written))


def serialised(body: Mapping[str, Any]) -> tuple[str, list[int]]:
    """A request as one text in the order in which the model reads it, and the places of its marks."""
    text = json.dumps(body.get("tools", []), ensure_ascii=False) + "\n" + str(body.get("instructions", ""))
    marks: list[int] = []
    for item in body["input"]:
        content = item["content"]
        parts = [{"text": content}] if isinstance(content, str) else content
        for part in parts:
            text += f"\n{item['role']}: {part['text']}"
            if "prompt_cache_breakpoint" in part:
                marks.append(len(text))
    return text, marks


def tokens(chars: float) -> float:
    """Characters as tokens, by the rule of four."""
    return chars / CHARS_PER_TOKEN


def _common(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
