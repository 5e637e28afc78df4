"""Finds in a request what the person asks about themselves: in the talk, the facts and the summary."""

import re
from collections.abc import Iterable

from tools.local.simulated_model.extract import latest
from tools.local.simulated_model.language import plain, words
from tools.local.simulated_model.phrasebook import SENTENCES
from tools.local.simulated_model.rules import SINGLE, SLOT_KEYS
from tools.local.simulated_model.view import View

# What a question is about, by words without accents; the first that matches decides.
_TOPICS = {
    "name": r"my name|who am i|am i called|me llamo|mi nombre|quien soy|mi chiamo|mio nome|chi sono",
    "birthday": r"birthday|cumpleanos|compleanno",
    "city": r"(?:do|where) i live|where am i from|my (?:city|town|home)|vivo|mi ciudad|abito|mia citta",
    "company": r"my company|do i work (?:at|for)|mi empresa|mia azienda",
    "job": r"\bjob\b|do i (?:work|do\b)|my work|profession|trabaj|me dedico|lavor",
    "family": r"family|sister|brother|mother|father|\bson\b|daughter|\bdog\b|\bcat\b|familia|herman|madre|"
    r"padre|\bhij[oa]|perr[oa]\b|\bgat[oa]\b|famiglia|sorella|fratello|figli[oa]|\bcane\b|gatt[oa]\b",
    "budget": r"budget|presupuesto",
    "pain": r"\bproblem|pain point|problema",
    "likes": r"(?:do|did) i (?:like|love|enjoy|prefer)\b|hobb|preference|me gusta|gustos|mi piace",
    "mood": r"(?:did|do|was|am) i (?:feel|feeling)|my mood|me sentia|me siento|estado de animo|mi sentivo|"
    r"umore",
    "plans": r"my plans?|(?:was|am) i (?:going|planning)|mis planes|iba a|pensaba|miei piani|avevo in mente",
}
_ALL = re.compile(
    r"(?:what|anything) (?:do |else do )?you (?:know|remember)(?: about me| of me)?\W*$|"
    r"que (?:sabes|recuerdas) (?:de|sobre) mi\b|cosa (?:sai|ricordi) di me"
)
_ABOUT_ME = re.compile(
    r"\b(?:i|my|me|mine|i'm|remember|mi|mis|yo|conte|dije|recuerdas|acuerdas|mio|mia|miei|mie|ho|ricordi|detto)\b"
)
_FIRST_PERSON_ES_IT = re.compile(r"\b(?:vivo|llamo|trabajo|abito|chiamo|lavoro|gusta|piace|dedico)\b")
_QUESTION = re.compile(
    r"[?¿]|^(?:what|where|who|how|when|which|do you|did i|can you|que|donde|como|cuando|cual|quien|"
    r"recuerdas|sabes|che|cosa|dove|come|quando|chi|ricordi|sai)\b"
)
_COMMON = re.compile(
    r"what|where|who|how|when|which|did|does|was|were|have|has|had|about|that|this|with|from|your?|tell|told|know|"
    r"remember|said|mention|anything|going|talk(?:ed)?|mine|que|cual|donde|como|cuando|quien|sobre|dije|conte|sabes|"
    r"recuerdas|acuerdas|para|algo|hablamos|hice|fue|dicho|cosa|dove|come|quando|detto|raccontato|ricordi|sulla|della|"
    r"the|and|for|are|you|los|las|una|uno|del|con|por|mis|che|gli|per|mio|mia|non|sul"
)
"""Words of a question that say nothing of what it is about, without accents."""

_ENTRY = re.compile(r"[^.;!?]+(?:[.;!?]+[”»\"]?|$)")


def is_question(text: str) -> bool:
    """Whether the message asks something."""
    return bool(_QUESTION.search(plain(text).lstrip("¡ ")))


def is_about_me(text: str) -> bool:
    """Whether a question is about the person who asks."""
    asked = plain(text)
    return bool(_ABOUT_ME.search(asked) or _FIRST_PERSON_ES_IT.search(asked) or _ALL.search(asked))


def answer(question: str, view: View) -> str:
    """The answer from what the request holds, or an honest "I do not know"."""
    say = SENTENCES[view.language]
    asked = plain(question)
    if _ALL.search(asked):
        if facts := [f"{key}: {value}" for key, value in view.facts]:
            return say.know_all.format(value="; ".join(facts))
        return say.in_summary.format(value=view.summary) if view.summary else say.unknown
    slot = next((slot for slot, pattern in _TOPICS.items() if re.search(pattern, asked)), "")
    if slot and (value := known(slot, view)):
        return say.know.get(slot, say.know_other).format(key=slot, value=value)
    key, value = fact_about(asked, view)
    if value:
        return say.know_other.format(key=key, value=value)
    topics = _topics(question)
    if entry := _best(topics, _ENTRY.findall(view.summary)):
        return say.in_summary.format(value=entry)
    told = [said.text for said in view.history if said.role == "user" and not is_question(said.text)]
    if entry := _best(topics, reversed(told)):
        return say.in_talk.format(value=entry)
    return say.unknown


def looked_up(question: str, view: View) -> str:
    """The passage that was looked up for the message and says most of what the question is about, with where
    it is from; empty where none says anything of it.
    """
    topics = _topics(question)
    scored = [(len(topics & _topics(text)), text, origin) for origin, text in view.passages]
    score, text, origin = max(scored, key=lambda each: each[0], default=(0, "", ""))
    return f"{text[:400]} ({origin})" if score else ""


def known(slot: str, view: View) -> str:
    """What is known under a slot. The talk goes first: it is newer than the facts."""
    told = [said.text for said in view.history if said.role == "user"] + list(view.new)
    newest = latest(told, slot)
    if newest and slot in SINGLE:
        return newest
    keys = [key for key in SLOT_KEYS[slot] if key in dict(view.facts)][:1]
    values = [value for key, value in view.facts if key in keys]
    return ", ".join(dict.fromkeys([*values, *([newest] if newest else [])]))


def fact_about(asked: str, view: View) -> tuple[str, str]:
    """The fact whose key or value the question names."""
    topics = _topics(asked)
    for key, value in view.facts:
        if topics & {plain(part) for part in key.split("_")} or topics & _topics(value):
            return key, value
    return "", ""


def _topics(text: str) -> set[str]:
    # Words of three letters and less are glue in all three languages, but for "job" and such.
    return {word for word in map(plain, words(text)) if len(word) > 2 and not _COMMON.fullmatch(word)}


def _best(topics: set[str], entries: Iterable[str]) -> str:
    scored = [(len(topics & _topics(entry)), entry.strip()) for entry in entries]
    score, entry = max(scored, key=lambda pair: pair[0], default=(0, ""))
    return entry[:300] if score else ""
