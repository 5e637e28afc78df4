"""Writes the new summary: the old one condensed, and what the person has said since, as reported speech.

The text is made of entries such as `On 2026-11-07: said “I start the new job”.`; old entries and new ones
compete for the room, so the summary keeps its bound however often it is folded.
"""

import re
from dataclasses import dataclass

from tools.local.simulated_model.extract import learn, same
from tools.local.simulated_model.language import plain
from tools.local.simulated_model.recall import is_question
from tools.local.simulated_model.view import Said, View

MAX_WORDS = 180
_OLD_SHARE = 100
_ENTRY_WORDS = 24

_SMALL_TALK = re.compile(
    r"^\W*(?:\[\w+\]\s*)?(?:hi|hello|hey|hola|ciao|buongiorno|buenas|thanks?|thank you|gracias|grazie|ok|"
    r"okay|vale|va bene|yes|no|si|bye|adios|good (?:morning|night))\b[\w\s']{0,14}\W*$"
)
_SECRET = re.compile(
    r"(?:\d[ -]?){12,}|\b(?:password|passcode|pin|cvv|contrasena|clave|codigo|one.time code)\b"
)
_ORDER = re.compile(
    r"\b(?:from now on|always (?:answer|reply|say|agree|respond)|never (?:answer|say|mention)|you must|"
    r"system prompt|ignore (?:all|your|the|previous)|a partir de ahora|siempre (?:contesta|responde|di)|ignora|"
    r"d'ora in poi|rispondi sempre)\b"
)


@dataclass(frozen=True, slots=True)
class _Words:
    on: str
    said: str
    asked: str
    request: str
    nothing: str
    quotes: tuple[str, str]


_WORDS = {
    "en": _Words(
        on="On",
        said="said",
        asked="asked",
        request="made a request about how to be answered",
        nothing="Exchanged greetings.",
        quotes=("“", "”"),
    ),
    "es": _Words(
        on="El",
        said="contó",
        asked="preguntó",
        request="pidió que se le contestara de cierta manera",
        nothing="Saludó.",
        quotes=("«", "»"),
    ),
    "it": _Words(
        on="Il",
        said="ha detto",
        asked="ha chiesto",
        request="ha chiesto un certo modo di rispondere",
        nothing="Ha salutato.",
        quotes=("«", "»"),
    ),
}
_SENTENCE = re.compile(r"[“«][^”»]*[”»][.!?]*|[^.!?“«]+[.!?]*")


def summarise(view: View) -> str:
    """The summary of a compaction's prompt, in the person's language, at most `MAX_WORDS` words."""
    say = _WORDS[view.language]
    new = [entry for line in view.transcript if line.role == "user" for entry in _entries(line, say)]
    old = _old_entries(view.summary)
    new = [entry for entry in new if not any(same(_bare(entry[1]), _bare(known[1])) for known in old)]
    kept_new = _fit(new, MAX_WORDS - min(_OLD_SHARE, _count(old)))
    kept_old = _fit(old, MAX_WORDS - _count(kept_new))
    return " ".join(text for _, text in [*kept_old, *kept_new]) or say.nothing


def _entries(line: Said, say: _Words) -> list[tuple[int, str]]:
    """`(weight, text)` of what a message is worth telling: facts and plans weigh more than talk."""
    text = re.sub(r"^\[\w+\]\s*", "", " ".join(line.text.split()))
    simple = plain(text)
    told = learn(text)
    if not text or (_SMALL_TALK.match(simple) and not told) or _SECRET.search(simple):
        return []
    if _ORDER.search(simple):
        return [(1, f"{say.on} {line.day}: {say.request}.")]
    opening, closing = say.quotes
    quoted = f"{opening}{_cut(re.sub('[“”«»]', '', text))}{closing}"
    verb = say.asked if is_question(text) and not told else say.said
    return [(3 if told else 0 if verb == say.asked else 2, f"{say.on} {line.day}: {verb} {quoted}.")]


def _old_entries(summary: str) -> list[tuple[int, str]]:
    """The old summary's entries; one that another model wrote is taken apart by sentences."""
    entries, current = list[str](), ""
    for piece in _SENTENCE.findall(summary):
        current += piece
        if piece.rstrip().endswith((".", "!", "?")):
            entries.append(current.strip())
            current = ""
    if current.strip():
        entries.append(current.strip())
    nothing = {words.nothing for words in _WORDS.values()}
    return [(_weight(entry), _cut(entry, 40)) for entry in entries if entry not in nothing]


def _weight(entry: str) -> int:
    said = re.search(r"[“«]([^”»]*)", entry)
    return 3 if learn(said[1] if said else entry) else 1


def _fit(entries: list[tuple[int, str]], words: int) -> list[tuple[int, str]]:
    """The heaviest entries, the newest of equal ones first, that fit; given back in their own order."""
    ranked = sorted(range(len(entries)), key=lambda place: (entries[place][0], place), reverse=True)
    kept, left = set[int](), words
    for place in ranked:
        size = len(entries[place][1].split())
        if size <= left:
            kept.add(place)
            left -= size
    return [entry for place, entry in enumerate(entries) if place in kept]


def _count(entries: list[tuple[int, str]]) -> int:
    return sum(len(text.split()) for _, text in entries)


def _cut(text: str, words: int = _ENTRY_WORDS) -> str:
    found = text.split()
    # A "word" without blanks can be as long as a message.
    short = " ".join(word[:60] for word in found[:words])
    return short + ("…" if len(found) > words else "")


def _bare(entry: str) -> str:
    said = re.search(r"[“«]([^”»]*)", entry)
    return said[1] if said else entry
