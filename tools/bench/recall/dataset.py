"""The made talk, manuals and questions, as passages and cases."""

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tools.operate.chunks import chunks_of
from tools.operate.documents import read_document
from whatsapp_agent.memory.episodes import exchange_text
from whatsapp_agent.memory.passages import Passage

DATA = Path(__file__).with_name("data")
_BEGIN = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Case:
    """One question.

    Attributes:
        owner: Whose passages are searched.
        before: What was said just before; often empty.
        evidence: Keys of the passages that hold the answer; none for what cannot be answered.
    """

    language: str
    owner: str
    kind: str
    asked: str
    before: str
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dataset:
    """Passages by owner and key, and the questions about them."""

    passages: Mapping[str, Mapping[str, Passage]]
    cases: Sequence[Case]


def load(folder: Path = DATA) -> Dataset:
    """Everything, made the same way each time."""
    passages: dict[str, dict[str, Passage]] = {}
    cases: list[Case] = []
    for path in sorted(folder.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        for person in range(table["people"]):
            owner = f"{table['language']}#person{person}"
            talk, about = _talk(table, owner, person)
            passages[owner] = {passage.key: passage for passage in talk}
            cases += about
        owner = table["language"]
        manual = [passage for document in table["document"] for passage in _chunks(document, owner, folder)]
        passages[owner] = {passage.key: passage for passage in manual}
        cases += _about_manual(table, owner, manual)
    return Dataset(passages, cases)


def _talk(table: Mapping[str, Any], owner: str, person: int) -> tuple[list[Passage], list[Case]]:
    """A talk in which what is asked about lies anywhere between small talk; what belongs together is in order."""
    order = random.Random(owner)
    themes = [_filled(theme, person) for theme in table["theme"]]
    others = [_filled(theme, (person + 1) % table["people"]) for theme in table["theme"]]
    turns = [(theme, place) for theme in themes for place in range(len(theme["said"]))]
    lines: list[tuple[int, int] | tuple[str, str]] = [(themes.index(theme), place) for theme, place in turns]
    lines += [tuple(each) for each in table["filler"]["talk"]]
    lines += [tuple(each) for each in table["hearsay"]["talk"]] if "hearsay" in table else []
    del others
    order.shuffle(lines)
    # Themes of several parts keep their order.
    seen: dict[int, int] = {}
    passages: list[Passage] = []
    evidence: dict[tuple[int, int], str] = {}
    for number, line in enumerate(lines, 1):
        at = _BEGIN + timedelta(hours=7 * number)
        first, second = line
        if isinstance(first, int):
            part = seen.get(first, 0)
            seen[first] = part + 1
            said, replied = themes[first]["said"][part], themes[first]["replied"][part]
        else:
            part, (said, replied) = -1, (str(first), str(second))
        passage = Passage(owner, place=200 * number, text=exchange_text([said], [replied]), sent_at=at)
        passages.append(passage)
        if isinstance(first, int):
            evidence[first, part] = passage.key
    return passages, list(_about_talk(table, owner, themes, evidence))


def _about_talk(
    table: Mapping[str, Any], owner: str, themes: Sequence[Mapping[str, Any]], keys: Mapping[tuple[int, int], str]
) -> Iterator[Case]:
    for number, theme in enumerate(themes):
        parts = theme.get("evidence", range(len(theme["said"])))
        yield Case(
            table["language"],
            owner,
            theme["kind"],
            theme["asked"],
            theme.get("before", ""),
            frozenset(keys[number, part] for part in parts),
        )
    for none in table["unanswerable"]:
        if not none.get("manual"):
            yield Case(table["language"], owner, "unanswerable", none["asked"], "", frozenset())


def _filled(theme: Mapping[str, Any], person: int) -> dict[str, Any]:
    values = [column[person] for column in theme["values"]]

    def fill(text: Any) -> Any:
        if not isinstance(text, str):
            return text
        for place, value in enumerate(values):
            text = text.replace("{" + str(place) + "}", value)
        return text

    return {
        name: [fill(each) for each in value] if isinstance(value, list) else fill(value)
        for name, value in theme.items()
        if name != "values"
    }


def _chunks(document: Mapping[str, Any], owner: str, folder: Path) -> list[Passage]:
    path = folder / document["name"]
    sections = read_document(path) if "text" not in document else _sections(document["text"])
    return [
        Passage(owner, place, chunk.text, source=document["name"], title=chunk.title)
        for place, chunk in enumerate(chunks_of(sections))
    ]


def _sections(text: str) -> Any:
    from tools.operate.documents import read_markdown

    return read_markdown(text)


def _about_manual(table: Mapping[str, Any], owner: str, manual: Sequence[Passage]) -> Iterator[Case]:
    for question in table["manual"]:
        keys = frozenset(
            next(passage.key for passage in manual if text in passage.text) for text in question["evidence"]
        )
        yield Case(
            table["language"], owner, question["kind"], question["asked"], question.get("before", ""), keys
        )
    for none in table["unanswerable"]:
        if none.get("manual"):
            yield Case(table["language"], owner, "unanswerable", none["asked"], "", frozenset())
