"""The orders that the page gives, by name."""

from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

from tools.local.errors import LocalError
from tools.local.playground import queues
from tools.local.playground.corrections import Corrections
from tools.local.playground.stage import Stage
from tools.local.playground.troubles import Troubles
from tools.local.playground.writing import Writing, in_background

_MOST_CHARS = 20_000
_MOST_TEXTS = 20
_REPEATS = 4
"""The same event once and four times more."""

Given = Mapping[str, Any]


class Orders:
    """Carries out what the page asks for. Every order raises `LocalError` for what cannot be done."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._writing = Writing(stage)
        self._troubles = Troubles(stage, self._writing)
        self._corrections = Corrections(stage)
        self._by_name: dict[str, Callable[[Given], Any]] = {
            "add": self._add,
            "write": self._write,
            "medium": self._medium,
            "repeat": self._repeat,
            "lose": self._lose,
            "lose_answer": lambda given: self._troubles.answer_is_lost(self._room(given), _text(given)),
            "fail": lambda given: self._troubles.model_fails(self._room(given), _text(given)),
            "crash": lambda given: self._troubles.crash(self._room(given), _text(given)),
            "travel": self._travel,
            "replace_number": self._replace_number,
            "set_fact": self._set_fact,
            "remove_fact": self._remove_fact,
            "erase": lambda given: self._corrections.erase(self._room(given)),
            "redrive": lambda _given: {"count": queues.redrive(self._stage.connection)},
        }

    def obey(self, name: str, given: Given) -> Any:
        """Carries out the order of that name.

        Raises:
            LocalError: There is no such order, or it cannot be carried out.
        """
        order = self._by_name.get(name)
        if order is None:
            raise LocalError(f"there is no order {name!r}")
        result = order(given)
        self._stage.wake()
        return result or {}

    def export(self, phone: str) -> Mapping[str, Any]:
        return self._corrections.export(self._stage.room(phone))

    def dead_letters(self) -> dict[str, Any]:
        return {"letters": queues.dead_letters(self._stage.connection)}

    def _room(self, given: Given) -> Any:
        return self._stage.room(_text(given, "phone"))

    def _add(self, given: Given) -> dict[str, str]:
        return {"phone": self._stage.add(_text(given, "phone"), str(given.get("name", ""))[:60]).phone}

    def _write(self, given: Given) -> None:
        texts = given.get("texts")
        if not isinstance(texts, list) or not 0 < len(texts) <= _MOST_TEXTS:
            raise LocalError(f"texts must be 1 to {_MOST_TEXTS} messages")
        self._writing.texts(self._room(given), [_checked(text) for text in texts])

    def _medium(self, given: Given) -> None:
        file = given.get("file")
        if file is not None and not isinstance(file, Mapping):
            raise LocalError("file must be an object")
        words = str(given.get("words", ""))[:_MOST_CHARS]
        self._writing.medium(self._room(given), _text(given, "kind"), words, file)

    def _repeat(self, given: Given) -> None:
        self._writing.texts(self._room(given), [_text(given)], duplicates=_REPEATS)

    def _lose(self, given: Given) -> None:
        room, text = self._room(given), _text(given)
        in_background(lambda: self._writing.lost_then_retried(room, text))

    def _travel(self, given: Given) -> None:
        days = given.get("days")
        if not isinstance(days, int) or not 0 < days <= 365:
            raise LocalError("days must be a whole number from 1 to 365")
        self._writing.travel(self._room(given), days)

    def _replace_number(self, given: Given) -> dict[str, str]:
        old = self._stage.number
        new = f"+1555{uuid4().int % 10**7:07d}"
        self._stage.connection.talk.control("replace_number", {"old": old, "new": new})
        self._stage.number = new
        self._stage.describe()
        self._room(given).say(f"number-{new}", text="number", old=old, new=new)
        return {"number": new}

    def _set_fact(self, given: Given) -> None:
        old = str(given.get("old", ""))
        self._corrections.set_fact(self._room(given), _text(given, "key"), _text(given, "value"), old)

    def _remove_fact(self, given: Given) -> None:
        self._corrections.remove_fact(self._room(given), _text(given, "key"), str(given.get("value", "")))


def _text(given: Given, name: str = "text") -> str:
    return _checked(given.get(name), name)


def _checked(text: object, name: str = "text") -> str:
    if not isinstance(text, str) or not text.strip() or len(text) > _MOST_CHARS:
        raise LocalError(f"{name} must be a text of 1 to {_MOST_CHARS} characters")
    return text
