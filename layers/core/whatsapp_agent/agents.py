"""Reads an agent's `agent.toml` and `persona.md`; every mistake in them is one clear error."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import timedelta
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.memory import consent
from whatsapp_agent.memory.allowance import Limits
from whatsapp_agent.memory.passages import RecallRules
from whatsapp_agent.memory.profile import AgentProfile, FactKey, Phrases
from whatsapp_agent.phones import canonical
from whatsapp_agent.phrases import PHRASES

NOTE_KEY = FactKey("note", "Anything else about the person that is worth knowing.", kind="list")
"""Where a fact goes that fits no key of the agent."""

_AGENT_ID = re.compile(r"[a-z0-9][a-z0-9_-]{0,39}")
_FACT_KEY = re.compile(r"[a-z][a-z0-9_]{0,39}")
_LIFETIME = re.compile(r"([1-9][0-9]{0,5})(s|m|h|d)")
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days"}
_TOP_LEVEL = {
    "name", "language", "time_zone", "numbers", "labels", "stop_words", "erase_words", "pause_hours",
    "transcription_model", "phrases", "limits", "facts", "tools", "recall",
}  # fmt: skip
_MOST_SPENT = 1_000_000
_LONGEST_PAUSE_HOURS = 720
_MOST_SHOWN = 100
_TOOLS = {
    "remember_fact": True, "recall_facts": False, "forget_fact": True, "mark_obsolete": False,
    "search_knowledge": False,
}  # fmt: skip
"""The tools that an agent can be given, and whether it has them where its file does not say."""
_RECALL: dict[str, tuple[type, int]] = {
    "count": (int, 20),
    "similarity_floor": (float, 1),
    "word_floor": (float, 1),
    "chars": (int, 20_000),
    "neighbours": (int, 3),
}
"""The fields of an agent's `[recall]`: whole or not, and the most that each may be."""
_FACT_FIELDS = {"description", "kind", "lifetime", "pinned", "max_items"}


def load_agent(directory: Traversable | Path, agent_id: str) -> AgentProfile:
    """Reads `<directory>/<agent_id>/agent.toml` and `persona.md`.

    Raises:
        ConfigurationError: Names the file, the key and what is expected there.
    """
    if not _AGENT_ID.fullmatch(agent_id):
        raise ConfigurationError(f"agent id {agent_id!r}: lower-case letters, digits, - and _, at most 40")
    folder, file = directory / agent_id, "agent.toml"
    try:
        # Some editors begin a file with a byte order mark.
        table = tomllib.loads((folder / file).read_text(encoding="utf-8-sig"))
        file = "persona.md"
        persona = (folder / file).read_text(encoding="utf-8-sig").strip()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise ConfigurationError(f"agent {agent_id!r}: no {file} in agents/{agent_id}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(f"agents/{agent_id}/{file}: {_unreadable(error)}") from error
    if not persona:
        raise ConfigurationError(f"agents/{agent_id}/persona.md is empty: say who the agent is")
    return _Reader(f"agents/{agent_id}/agent.toml").profile(agent_id, table, persona)


def load_agents(directory: Traversable | Path) -> dict[str, AgentProfile]:
    """Every agent of the directory, by id.

    Raises:
        ConfigurationError: As `load_agent`; also where two agents claim one number, or there is no agent.
    """
    agents = {
        entry.name: load_agent(directory, entry.name)
        for entry in sorted(directory.iterdir(), key=lambda entry: entry.name)
        if entry.is_dir() and (entry / "agent.toml").is_file()
    }
    if not agents:
        raise ConfigurationError("no agent found: a folder with agent.toml and persona.md is one")
    for key in ("numbers", "labels"):
        owner: dict[str, str] = {}
        for agent in agents.values():
            for claimed in getattr(agent, key):
                if claimed in owner:
                    raise ConfigurationError(
                        f"agents/{agent.agent_id}/agent.toml: {key}: {claimed} already belongs to "
                        f"{owner[claimed]}"
                    )
                owner[claimed] = agent.agent_id
    return agents


def _unreadable(error: Exception) -> str:
    if isinstance(error, tomllib.TOMLDecodeError | UnicodeDecodeError):
        return str(error)
    if isinstance(error, RecursionError):
        return "is nested too deeply; nothing here is deeper than a list of texts in a table"
    return "holds a number of thousands of digits; write a shorter one"


def _shown(value: Any) -> str:
    """A wrong value in an error: some of it, whatever it is."""
    try:
        text = repr(value)
    except RecursionError:
        return "nested too deeply"
    except ValueError:
        return "a number of thousands of digits"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


class _Reader:
    """Checks one parsed `agent.toml`; knows the file's name for its errors."""

    def __init__(self, file: str) -> None:
        self._file = file

    def _wrong(self, key: str, expected: str) -> ConfigurationError:
        return ConfigurationError(f"{self._file}: {key}: {expected}")

    def _get(self, table: Mapping[str, Any], key: str, kind: type, default: Any, path: str = "") -> Any:
        value = table.get(key, default)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            names = {
                str: "a text",
                list: "a list",
                dict: "a table",
                bool: "true or false",
                int: "a whole number",
            }
            missing = "is missing" if value is None else f"is {_shown(value)}"
            raise self._wrong(path + key, f"{missing}; it must be {names[kind]}")
        return value

    def _texts(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        values = self._get(table, key, list, [])
        if not all(isinstance(value, str) and value.strip() for value in values):
            raise self._wrong(key, "must be a list of texts, none of them empty")
        return tuple(values)

    def _whole_messages(self, table: Mapping[str, Any], key: str) -> tuple[str, ...]:
        """Texts that a person's whole message is compared with."""
        words = self._texts(table, key)
        for word in words:
            if not consent.is_exactly(word, [word]):
                raise self._wrong(key, f"{_shown(word)} has no letter and no digit, so no message can be it")
        return words

    def profile(self, agent_id: str, table: Mapping[str, Any], persona: str) -> AgentProfile:
        for key in sorted(table.keys() - _TOP_LEVEL):
            raise self._wrong(key, f"is not known here; known are {', '.join(sorted(_TOP_LEVEL))}")
        time_zone = self._get(table, "time_zone", str, "UTC")
        try:
            ZoneInfo(time_zone)
        except (ValueError, KeyError, OSError) as error:
            raise self._wrong(
                "time_zone", f"{time_zone!r} is no IANA time zone, for example Europe/Madrid"
            ) from error
        language = self._get(table, "language", str, None)
        numbers = []
        for number in self._texts(table, "numbers"):
            try:
                numbers.append(canonical(number))
            except ValueError as error:
                raise self._wrong("numbers", f"{number!r}: {error}") from error
        return AgentProfile(
            agent_id=agent_id,
            name=self._get(table, "name", str, None),
            language=language,
            time_zone=time_zone,
            persona=persona,
            phrases=self._phrases(language, self._get(table, "phrases", dict, {})),
            fact_keys=self._fact_keys(self._get(table, "facts", dict, {})),
            numbers=tuple(numbers),
            stop_words=self._whole_messages(table, "stop_words"),
            labels=tuple(label.strip() for label in self._texts(table, "labels")),
            erase_words=self._whole_messages(table, "erase_words"),
            tools=self._tools(self._get(table, "tools", dict, {})),
            limits=self._limits(self._get(table, "limits", dict, {})),
            pause=timedelta(hours=self._whole(table, "pause_hours", 12, _LONGEST_PAUSE_HOURS)),
            transcription_model=self._get(table, "transcription_model", str, "gpt-transcribe"),
            recall=self._recall(self._get(table, "recall", dict, {})),
        )

    def _whole(self, table: Mapping[str, Any], key: str, default: int, most: int, path: str = "") -> int:
        value: int = self._get(table, key, int, default, path)
        if not 0 <= value <= most:
            raise self._wrong(path + key, f"is {_shown(value)}; it must be from 0 to {most}")
        return value

    def _limits(self, table: Mapping[str, Any]) -> Limits:
        defaults = {field.name: field.default for field in fields(Limits)}
        for key in sorted(table.keys() - defaults.keys()):
            raise self._wrong(f"limits.{key}", f"is not known; known are {', '.join(sorted(defaults))}")
        return Limits(
            **{
                name: self._whole(table, name, int(str(default)), _MOST_SPENT, "limits.")
                for name, default in defaults.items()
            }
        )

    def _recall(self, table: Mapping[str, Any]) -> RecallRules:
        values: dict[str, Any] = {}
        for name, value in table.items():
            if name not in _RECALL:
                raise self._wrong(f"recall.{name}", f"is not known; known are {', '.join(sorted(_RECALL))}")
            kind, most = _RECALL[name]
            number = isinstance(value, kind) or (kind is float and isinstance(value, int))
            if not number or isinstance(value, bool) or not 0 <= value <= most:
                what = "a whole number" if kind is int else "a number"
                raise self._wrong(f"recall.{name}", f"is {_shown(value)}; it must be {what} from 0 to {most}")
            values[name] = value
        return RecallRules(**values)

    def _phrases(self, language: str, overrides: Mapping[str, Any]) -> Phrases:
        names = {field.name for field in fields(Phrases)}
        for key, value in overrides.items():
            if key not in names:
                raise self._wrong(f"phrases.{key}", f"is not known; known are {', '.join(sorted(names))}")
            if not isinstance(value, str) or not value.strip():
                raise self._wrong(f"phrases.{key}", "must be a text that is not empty")
        known = PHRASES.get(language.split("-", maxsplit=1)[0].lower())
        if known is not None:
            return replace(known, **overrides)
        if missing := sorted(names - overrides.keys()):
            raise self._wrong(
                "language",
                f"{language!r} has no built-in phrases (there are {', '.join(sorted(PHRASES))}): "
                f"write [phrases] with {', '.join(missing)}",
            )
        return Phrases(**overrides)

    def _tools(self, table: Mapping[str, Any]) -> frozenset[str]:
        for name in sorted(table.keys() - _TOOLS.keys()):
            raise self._wrong(f"tools.{name}", f"is not known; known are {', '.join(sorted(_TOOLS))}")
        return frozenset(name for name, on in _TOOLS.items() if self._get(table, name, bool, on, "tools."))

    def _fact_keys(self, tables: Mapping[str, Any]) -> dict[str, FactKey]:
        keys = {NOTE_KEY.key: NOTE_KEY}
        for key, table in tables.items():
            path = f"facts.{key}."
            if not _FACT_KEY.fullmatch(key):
                raise self._wrong(f"facts.{key}", "a key has lower-case letters, digits and _, at most 40")
            if not isinstance(table, dict):
                raise self._wrong(f"facts.{key}", "must be a table with a description")
            for name in sorted(table.keys() - _FACT_FIELDS):
                raise self._wrong(path + name, f"is not known; known are {', '.join(sorted(_FACT_FIELDS))}")
            kind = self._get(table, "kind", str, "single", path)
            if kind not in ("single", "list"):
                raise self._wrong(path + "kind", f"is {kind!r}; it must be single or list")
            keys[key] = FactKey(
                key=key,
                description=self._get(table, "description", str, None, path),
                kind="list" if kind == "list" else "single",
                lifetime=self._lifetime(table.get("lifetime"), path),
                pinned=self._get(table, "pinned", bool, False, path),
                max_items=self._get(table, "max_items", int, 20, path),
            )
            if not 1 <= keys[key].max_items <= 50:
                raise self._wrong(path + "max_items", "must be from 1 to 50")
        return keys

    def _lifetime(self, value: Any, path: str) -> timedelta | None:
        if value is None:
            return None
        match = _LIFETIME.fullmatch(value) if isinstance(value, str) else None
        if match is None:
            raise self._wrong(
                path + "lifetime", f"is {_shown(value)}; it must be a number and a unit, for example 7d"
            )
        return timedelta(**{_UNITS[match[2]]: int(match[1])})
