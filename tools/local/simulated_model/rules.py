"""What people say about themselves, as patterns by language. `slot` is what was learned, `value` the words."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path

SLOT_KEYS: dict[str, tuple[str, ...]] = {
    "name": ("name",),
    "city": ("city", "location", "home"),
    "job": ("job", "role", "work", "occupation"),
    "company": ("company", "employer", "job", "work"),
    "likes": ("preferences", "likes", "interest", "interests", "hobbies"),
    "dislikes": ("preferences", "dislikes"),
    "interest": ("interests", "interest", "preferences"),
    "family": ("family", "relatives"),
    "friends": ("friends",),
    "mood": ("mood",),
    "birthday": ("birthday", "important_dates"),
    "plans": ("plans", "goals"),
    "goals": ("goals", "plans"),
    "budget": ("budget",),
    "plan": ("plan",),
    "pain": ("pain_point", "pain_points"),
    "tool": ("current_solution",),
    "timeline": ("timeline",),
    "health": ("health",),
}
"""Keys of an agent that a slot may go under, best first; where it has none of them, `note`."""

SINGLE = frozenset({"name", "city", "job", "company", "mood", "birthday", "budget", "plan", "tool", "timeline"})
"""Slots of which a person has one at a time."""

UNTOLD = frozenset({"mood", "plan", "tool", "timeline"})
"""Slots too loose to be worth a note where an agent has no key for them."""


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` finds one statement; its group 1 is the value, put into `value` where there is one."""

    slot: str
    pattern: re.Pattern[str]
    value: str = "{}"


_SHORT = r"([^.,;:!?\n()]{2,60}?)"
_LONG = r"([^.;!?\n]{2,90}?)"
_NAME = r"([^\W\d_][\w'’-]*(?: (?-i:[A-ZÀ-Þ])[\w'’-]*){0,2})"
_END = {
    "en": r"(?=\s+(?:and|but|because|so|since|now|with|for|where|which|who|that)\b|[.,;:!?\n()]|$)",
    "es": r"(?=\s+(?:y|e|pero|porque|así|desde|ahora|con|donde|que)\b|[.,;:!?\n()]|$)",
    "it": r"(?=\s+(?:e|ed|ma|perché|così|da|adesso|ora|con|dove|che)\b|[.,;:!?\n()]|$)",
}
_STOP = r"(?=[.;!?\n]|$)"


def _form(form: str, language: str) -> str:
    forms = {
        "name": _NAME,
        "short": _SHORT + _END[language],
        "long": _LONG + _STOP,
        "job": r"([^.,;!?\n]{0,60}?)" + _END[language],
        "kin": _SHORT + r"(?=[.,;:!?\n()]|$)",
        "mood": r"([\w-]+)",
    }
    return forms[form]


def _load() -> dict[str, tuple[Rule, ...]]:
    tables = tomllib.loads(Path(__file__).with_name("statements.toml").read_text(encoding="utf-8"))
    return {
        language: tuple(
            Rule(
                row["slot"],
                re.compile(row["lead"] + _form(row["form"], language), re.IGNORECASE),
                row.get("value", "{}"),
            )
            for row in table
        )
        for language, table in tables.items()
    }


RULES = _load()
"""By language, in the order of `statements.toml`."""
