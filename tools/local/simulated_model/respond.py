"""Writes a reply out of what the request holds, and of nothing else."""

import re

from tools.local.simulated_model.extract import learn
from tools.local.simulated_model.language import plain
from tools.local.simulated_model.phrasebook import SENTENCES, Sentences
from tools.local.simulated_model.recall import answer, is_about_me, is_question, known, looked_up
from tools.local.simulated_model.view import View
from tools.local.simulated_model.wishes import wish

_HELLO = re.compile(
    r"^\W*(?:hi|hello|hey|good (?:morning|evening|afternoon)|hola|buenas(?: tardes| noches)?|buenos dias|ciao|"
    r"salve|buongiorno|buonasera)(?: there| again| de nuevo| otra vez| di nuovo)?\b[\s,!.]*"
    r"(?:i'?m back|it'?s me|soy yo|he vuelto|ya estoy aqui|sono io|sono tornat[oa])?\W*"
)
_BACK = re.compile(r"^\W*(?:i'?m back|it'?s me|soy yo|he vuelto|sono io|sono tornat[oa])\W*$")
_THANKS = re.compile(r"^\W*(?:thanks|thank you|thx|gracias|muchas gracias|grazie)\b[^?]{0,20}$")
_BYE = re.compile(
    r"^\W*(?:bye|good ?bye|see you|good night|adios|hasta (?:luego|manana|pronto)|arrivederci|a presto)\b"
    r"[^?]{0,20}$"
)
_OK = re.compile(r"^\W*(?:ok|okay|yes|no|sure|fine|great|vale|si|claro|perfecto|va bene|certo|perfetto)\W*$")
_MEDIUM = re.compile(r"^\[([\w-]+)\]\s*")
_NEW_JOB = re.compile(r"new job|trabajo nuevo|nuevo trabajo|nuovo lavoro|lavoro nuovo", re.IGNORECASE)
_ASK_BACK = ("plans", "job", "pain", "family", "likes", "city")
_TOPIC_WORDS = 12


def reply(view: View) -> str:
    """One reply to everything that is new."""
    say = SENTENCES[view.language]
    opening, topics = _opening(view, say), list[str]()
    pieces = list(dict.fromkeys(piece for text in view.new if (piece := _piece(text, view, say, topics))))
    if topics:
        pieces.append(say.topic.format(value=say.between.join(dict.fromkeys(topics))))
    if not pieces and not opening:
        pieces = [f"{say.hello} {say.how_are_you}"]
    return "\n".join(part for part in (opening, *pieces) if part)


def _opening(view: View, say: Sentences) -> str:
    name = known("name", View(view.language, facts=view.facts, history=view.history))
    greets = any(_HELLO.match(plain(text)) or _BACK.match(plain(text)) for text in view.new)
    first = not any(said.role == "assistant" for said in view.history)
    if view.days < 1 and not greets and not first:
        return ""
    hello = say.hello_name.format(name=name) if name else say.hello
    if view.days >= 1:
        away = say.away_day if view.days == 1 else say.away_days.format(days=view.days)
        return f"{hello} {away} {_asked_back(view, say) or say.welcome}"
    asks = any(is_question(text) for text in view.new)
    told = any(learn(text) for text in view.new)
    if asks or told or not greets:
        return hello if greets or name else ""
    return f"{hello} {say.how_are_you if name else say.new_here}"


def _asked_back(view: View, say: Sentences) -> str:
    """A question about something that the person told before this pause."""
    earlier = View(view.language, facts=view.facts, summary=view.summary, history=view.history)
    for slot in _ASK_BACK:
        if value := known(slot, earlier).split(", ")[-1].rstrip(" .!"):
            kind = "new_job" if slot == "job" and _NEW_JOB.search(value) else slot
            return say.asked_back[kind].format(value=value)
    told = [text for said in view.history if said.role == "user" and len(text := said.text.strip()) > 15]
    entries = re.findall(r"[“«]([^”»]{12,120})[”»]", view.summary) or told or _sentences(view.summary)
    return say.asked_back["other"].format(value=entries[-1].rstrip(" .")) if entries else ""


def _piece(text: str, view: View, say: Sentences, topics: list[str]) -> str:
    """What answers one of the new messages; empty where the opening has said it all, or where nothing but
    the topic can be taken up: that goes to `topics`.
    """
    medium = _MEDIUM.match(text)
    words = text[medium.end() :].strip() if medium else text.strip()
    if medium and not words:
        return say.medium.format(value=medium[1])
    rest = words[len(hello[0]) :] if (hello := _HELLO.match(plain(words))) else words
    if not rest.strip(" !.,") or _BACK.match(plain(rest)):
        return ""
    for pattern, sentence in ((_THANKS, say.thanks), (_BYE, say.goodbye), (_OK, say.agreed)):
        if pattern.match(plain(rest)):
            return sentence
    asked = wish(words)
    if asked.kind == "forget":
        return say.forgotten if any('"ok": true' in output for output in view.outputs) else say.not_forgotten
    heard = [say.heard[item.slot].format(value=item.value) for item in learn(words) if item.slot in say.heard]
    if is_question(rest):
        questions = [part for part in re.findall(r"[^.!?]+[.!?]*", rest) if is_question(part)]
        return " ".join([*heard, *(_answered(part, view, say) for part in questions or [rest])])
    if not heard and asked.kind == "remember":
        return say.noted
    if not heard:
        topics.append(_topic(rest))
    return " ".join(heard)


def _answered(question: str, view: View, say: Sentences) -> str:
    if view.outputs:
        return say.found.format(value=" ".join(" ".join(view.outputs).split())[:400])
    about_me = is_about_me(question)
    own = answer(question, view) if about_me else say.unknown
    if own == say.unknown and (passage := looked_up(question, view)):
        return say.found.format(value=passage)
    if about_me:
        return own
    return say.not_in_reach.format(value=_topic(question))


def _topic(text: str) -> str:
    found = " ".join(text.split()).strip(" .!?¿¡,;:").split(" ")
    return " ".join(found[:_TOPIC_WORDS])[:120] + ("…" if len(found) > _TOPIC_WORDS else "")


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in re.findall(r"[^.!?]{12,160}", text)]
