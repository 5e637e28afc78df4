"""Cuts the sections of a document into chunks: along headings, then paragraphs, then sentences."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

MOST_CHARS = 900
"""Of one chunk: some 200 tokens, about what one question asks about."""

LEAST_CHARS = 200
"""A shorter piece joins the one before it, where they have the same title."""

TITLE_JOINT = " › "

_SENTENCE_END = re.compile(r"(?<=[.!?…؟।])[\"'”’»)\]]*\s+|(?<=[。！？])")
_MOST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Section:
    """A piece of a document under its headings, the outermost first. Paragraphs stand between blank lines."""

    headings: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of text that is found, shown and embedded as one."""

    title: str
    text: str


def chunks_of(sections: Iterable[Section]) -> list[Chunk]:
    """The chunks of a document, in order. Sections without text give none."""
    found: list[Chunk] = []
    for section in sections:
        title = TITLE_JOINT.join(" ".join(heading.split()) for heading in section.headings)[-_MOST_TITLE:]
        for text in _pieces(section.text):
            last = found[-1] if found else None
            if (
                last
                and last.title == title
                and len(text) < LEAST_CHARS
                and len(last.text) + len(text) < MOST_CHARS
            ):
                found[-1] = Chunk(title, f"{last.text}\n{text}")
            else:
                found.append(Chunk(title, text))
    return found


def _pieces(text: str) -> Iterator[str]:
    paragraphs = [paragraph.strip() for paragraph in re.split(r"\n\s*\n", text)]
    units = [unit for paragraph in paragraphs if paragraph for unit in _units(paragraph)]
    yield from _packed(units, "\n")


def _units(paragraph: str) -> list[str]:
    """The paragraph whole where it fits; else its sentences, packed; else pieces of a sentence."""
    if len(paragraph) <= MOST_CHARS:
        return [paragraph]
    sentences = [sentence.strip() for sentence in _SENTENCE_END.split(paragraph) if sentence.strip()]
    return _packed([piece for sentence in sentences for piece in _broken(sentence)], " ")


def _broken(sentence: str) -> list[str]:
    """A sentence too long for a chunk (a table, a list without stops), broken between words."""
    pieces: list[str] = []
    while len(sentence) > MOST_CHARS:
        at = sentence.rfind(" ", MOST_CHARS // 2, MOST_CHARS)
        at = at if at > 0 else MOST_CHARS
        pieces.append(sentence[:at].strip())
        sentence = sentence[at:].strip()
    return [*pieces, sentence] if sentence else pieces


def _packed(units: Sequence[str], joint: str) -> list[str]:
    packed: list[str] = []
    for unit in units:
        if packed and len(packed[-1]) + len(joint) + len(unit) <= MOST_CHARS:
            packed[-1] += joint + unit
        else:
            packed.append(unit)
    return packed
