"""The made talk, manuals and questions, as passages and cases."""

import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tools.operate.chunks import chunks_of
from tools.operate.documents import markdown_sections
from whatsapp_agent.memory.episodes import exchange_text, place_of
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
        manual = [passage for document in table["document"] for passage in _chunks(document, owner)]
        passages[owner] = {passage.key: passage for passage in manual}
        cases += _about_manual(table, owner, manual)
    return Dataset(passages, cases)


def _talk(table: Mapping[str, Any], owner: str, person: int) -> tuple[list[Passage], list[Case]]:
    """A talk in which what is asked about lies anywhere between small talk and what others are said to do."""
    themes = [_filled(theme, person) for theme in table["theme"]]
    chat = [*table["filler"]["talk"], *table["hearsay"]["talk"]]
    # Parts of a theme keep their order: each line of it takes the next part.
    lines = [number for number, theme in enumerate(themes) for _ in theme["said"]]
    lines += [len(themes) + number for number in range(len(chat))]
    random.Random(owner).shuffle(lines)
    passages: list[Passage] = []
    keys: dict[tuple[int, int], str] = {}
    for turn, line in enumerate(lines, 1):
        if line < len(themes):
            part = sum(number == line for number, _ in keys)
            said, replied = themes[line]["said"][part], themes[line]["replied"][part]
        else:
            said, replied = chat[line - len(themes)]
        at = _BEGIN + timedelta(hours=7 * turn)
        passages.append(Passage(owner, place_of(2 * turn), exchange_text([said], [replied]), sent_at=at))
        if line < len(themes):
            keys[line, part] = passages[-1].key
    return passages, list(_about_talk(table, owner, themes, keys))


def _about_talk(
    table: Mapping[str, Any],
    owner: str,
    themes: Sequence[Mapping[str, Any]],
    keys: Mapping[tuple[int, int], str],
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


def _chunks(document: Mapping[str, Any], owner: str) -> list[Passage]:
    return [
        Passage(owner, place, chunk.text, source=document["name"], title=chunk.title)
        for place, chunk in enumerate(chunks_of(markdown_sections(document["text"])))
    ]


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
