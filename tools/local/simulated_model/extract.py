"""Finds what a person says about themselves in one message."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tools.local.simulated_model.language import LANGUAGES, detect, plain
from tools.local.simulated_model.rules import RULES, SINGLE
from tools.local.simulated_model.wishes import wish

_NOT_NAMES = re.compile(
    r"(?:here|back|not|so|very|in|at|on|the|an?|going|just|fine|good|sorry|glad|happy|sad|tired|ready|from|sure|"
    r"aqui|de|una?|muy|el|la|qui|di|uno|molto|il|lo|stanc[oa]|felice?|feliz)"
)
"""What follows "I am" and "soy" without being a name, without accents."""

_WHEN = re.compile(
    r"\s+(?:(?:on|next|last|this|since|from|el|este|desde|hace|da|di|lo|il)\s+)?"
    r"(?:(?:next|last|this|próximo|pasado|prossim[oa]|scors[oa])\s+)?(?:monday|tuesday|wednesday|thursday|friday|"
    r"saturday|sunday|week|month|year|today|tomorrow|yesterday|now|lunes|martes|miércoles|jueves|viernes|sábado|"
    r"domingo|hoy|ayer|mañana|ahora|semana|mes|año|lunedì|martedì|mercoledì|giovedì|venerdì|sabato|domenica|oggi|"
    r"ieri|domani|adesso|settimana|mese|anno)(?:\s+(?:pasad[oa]|próxim[oa]|que viene|prossim[oa]|scors[oa]))?$",
    re.IGNORECASE,
)
"""Words of time at the end of a value: true on the day of the message only."""

_TIMELESS = frozenset({"city", "job", "company"})
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class Learned:
    """Something that a person said of themselves."""

    slot: str
    value: str


def learn(text: str, language: str = "") -> list[Learned]:
    """What the text tells about its writer, in the order in which it is said.

    Questions tell nothing: "do I live in Lima?" is no statement. Nor does what is to be forgotten.
    """
    found: list[Learned] = []
    if wish(text).kind == "forget":
        return found
    for sentence in _SENTENCE.findall(text.replace("’", "'")):
        if sentence.rstrip().endswith("?"):
            continue
        spoken = language or detect(sentence, detect(text))
        for candidate in dict.fromkeys((spoken, *LANGUAGES)):
            if hits := _in_sentence(sentence.strip(), candidate):
                found += hits
                break
    return list(dict.fromkeys(found))


def latest(texts: Sequence[str], slot: str) -> str:
    """The newest value of a slot in messages given oldest first; empty where none tells it."""
    for text in reversed(texts):
        values = [item.value for item in learn(text) if item.slot == slot]
        if values:
            return values[-1] if slot in SINGLE else ", ".join(values)
    return ""


def same(one: str, other: str) -> bool:
    """Whether two values say the same but for case, accents and punctuation."""
    return _bare(one) == _bare(other)


def _in_sentence(sentence: str, language: str) -> list[Learned]:
    hits: list[tuple[int, Learned]] = []
    for rule in RULES[language]:
        for match in rule.pattern.finditer(sentence):
            value = rule.value.format(" ".join(match[1].split())).strip(" '\"-")
            if rule.slot in _TIMELESS:
                value = _WHEN.sub("", value)
            if rule.slot == "name" and _NOT_NAMES.fullmatch(plain(value.split()[0])):
                continue
            if value and not (rule.slot == "company" and re.match(r"(?:home|casa|night)", value, re.I)):
                hits.append((match.start(), Learned(rule.slot, value[:120])))
    return [learned for _, learned in sorted(hits, key=lambda hit: hit[0])]


def _bare(text: str) -> str:
    return " ".join(re.findall(r"\w+", plain(text)))
