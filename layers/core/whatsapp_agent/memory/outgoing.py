"""Outgoing text, cut into parts that WhatsApp takes. `to_whatsapp` turns a model's Markdown into its marks.

WhatsApp takes 4,096 characters per text message; whether it counts code points or UTF-16 units is not
documented, so the stricter unit counts here.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import regex  # type: ignore[import-untyped]

from whatsapp_agent.memory.markdown import to_whatsapp
from whatsapp_agent.memory.quoting import clean, is_blank

__all__ = ["split", "to_whatsapp", "utf16_units"]

ELLIPSIS = "…"
_FENCE = "```"
_OPEN, _CLOSE = "```\n", "\n```"
_SMALLEST_LIMIT = 16
# Below this limit there is no room for repaired fences.
_SMALLEST_LIMIT_WITH_FENCES = 64

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"(?:(?<!\d)[.!?…؟।]+[\"'»”’)*_~]*(?=\s)|[。！？]+[」』”’）]*)")
_WORD = re.compile(r"\s+")
# What WhatsApp shows as one: a marked span within a line, and inline code.
_SPAN = re.compile(r"(?<!\w)([*_~])(?=\S)[^\n]{0,500}?(?<=\S)\1(?!\w)|`[^`\n]+`")


def utf16_units(text: str) -> int:
    """Length in UTF-16 units: characters beyond U+FFFF, such as most emoji, count twice."""
    return len(text) + sum(1 for char in text if char > "\uffff")


def split(text: str, limit: int = 4096, max_parts: int = 10) -> tuple[str, ...]:
    """Cuts a text into parts of at most `limit` UTF-16 units, none of them empty; a text that shows nothing
    has none.

    Cut is between paragraphs, else lines, sentences, words, else graphemes; within a marked span or inline
    code only where it alone is too long. A code fence that is cut is closed and opened again. But for that,
    and for white space at the cuts, the parts joined are the text. What does not fit `max_parts` is left out,
    and the last part then ends with an ellipsis.

    Raises:
        ValueError: `limit` is below 16 or `max_parts` below 1.
    """
    if limit < _SMALLEST_LIMIT or max_parts < 1:
        raise ValueError(f"a part needs room for {_SMALLEST_LIMIT} units, and there must be at least one part")
    rest = _Rest("" if is_blank(text) else text.strip(), fenced=False)
    parts: list[str] = []
    while rest.text:
        last = len(parts) == max_parts - 1
        part, rest = _take(rest, limit, last=last)
        if clean(part):
            parts.append(part)
        if len(parts) == max_parts:
            break
    return tuple(parts)


@dataclass(frozen=True, slots=True)
class _Rest:
    """What is still to be cut, and whether it begins inside a code fence."""

    text: str
    fenced: bool


def _take(rest: _Rest, limit: int, *, last: bool) -> tuple[str, _Rest]:
    fences = limit >= _SMALLEST_LIMIT_WITH_FENCES and (rest.fenced or _FENCE in rest.text[:limit])
    opening = _OPEN if rest.fenced and fences else ""
    if utf16_units(opening + rest.text) <= limit:
        return opening + rest.text, _Rest("", fenced=False)
    reserve = len(opening) + (len(_CLOSE) if fences else 0) + (len(ELLIPSIS) if last else 0)
    cut = _cut(rest.text, limit - reserve)
    if fences and cut > 0:
        cut = _off_fence_marks(rest, cut)
    head, tail = rest.text[:cut], rest.text[cut:]
    fenced = fences and rest.fenced != (head.count(_FENCE) % 2 == 1)
    head = head.rstrip()
    tail = re.sub(r"^[^\S\n]*\n", "", tail) if fenced else tail.lstrip()
    closing = ""
    if fenced:
        closing = _CLOSE
        if tail.lstrip().startswith(_FENCE):
            # The fence ends right here: it is closed, so its own closing mark would open another.
            tail, fenced = tail.lstrip().removeprefix(_FENCE).lstrip(), False
    part = "" if not head else opening + head + closing
    if last and head and tail:
        part += ELLIPSIS
    return part, _Rest(tail if tail.strip() else "", fenced)


def _off_fence_marks(rest: _Rest, cut: int) -> int:
    """Moves a cut from inside a fence mark, or from right behind an opening one, to before it."""
    for match in re.finditer(r"`{3,}", rest.text):
        if match.start() >= cut:
            break
        if cut < match.end():
            cut = match.start()
    head = rest.text[:cut].rstrip()
    opens = rest.fenced != (head.count(_FENCE) % 2 == 1)
    if opens and head.endswith(_FENCE) and head.removesuffix(_FENCE).strip():
        cut = len(head) - len(_FENCE)
    return cut or len(_FENCE)


def _cut(text: str, limit: int) -> int:
    """Where to cut: the last good place among the first `limit` units, at least one character in."""
    end = _fitting(text, max(1, limit))
    spans = [match.span() for match in _SPAN.finditer(text, 0, min(len(text), end + 4096))]
    for places in (_ends(_PARAGRAPH, 0), _ends(_LINE, 0), _ends(_SENTENCE, 1), _ends(_WORD, 0)):
        best = max((p for p in places(text, end) if not _inside(p, spans)), default=0)
        if best * 4 >= end:
            return best
    # Nothing in the last three quarters: a cut within a span is better than a tiny part, then any word.
    best = max(_ends(_WORD, 0)(text, end), default=0)
    return best if best * 4 >= end else _grapheme_end(text, end)


def _fitting(text: str, limit: int) -> int:
    """How many characters fit `limit` UTF-16 units; at least one."""
    if utf16_units(text[:limit]) <= limit:
        return min(limit, len(text))
    units = 0
    for index, char in enumerate(text[:limit]):
        units += 2 if char > "\uffff" else 1
        if units > limit:
            return max(1, index)
    return min(limit, len(text))


def _ends(pattern: re.Pattern[str], side: int) -> Callable[[str, int], Iterator[int]]:
    """Finds the starts (`side` 0) or ends (1) of the pattern's matches at which a text may be cut."""

    def places(text: str, end: int) -> Iterator[int]:
        # White space may stand right behind the last character that fits.
        for match in pattern.finditer(text, 0, end + 2):
            if 0 < match.span()[side] <= end:
                yield match.span()[side]

    return places


def _inside(place: int, spans: list[tuple[int, int]]) -> bool:
    before = bisect_left(spans, (place,)) - 1
    return before >= 0 and place < spans[before][1]


def _grapheme_end(text: str, end: int) -> int:
    """The last grapheme boundary up to `end`; `end` itself where one grapheme alone is longer."""
    best = 0
    for match in regex.finditer(r"\X", text[: end + 64]):
        if match.end() > end:
            break
        best = match.end()
    return best or end
