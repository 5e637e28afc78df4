"""What a person asks the agent to do with its memory: remember this, forget that."""

import re
from dataclasses import dataclass
from typing import Literal

_PLEASE = r"^\W*(?:please,? |por favor,? |per favore,? )?"
_REMEMBER = re.compile(
    _PLEASE + r"(?:(?:remember|note|write down|don'?t forget) (?:that )?|(?:recuerda|acu[eé]rdate de|apunta|"
    r"no olvides) (?:que )?|(?:ricord[ai](?:ti)?|annota|non dimenticare) (?:che )?)(?P<about>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_FORGET = re.compile(
    _PLEASE + r"(?:(?:forget|delete) (?:that |about |what i (?:said|told you) about )?|(?:olvida|"
    r"olv[ií]date de|borra) (?:que |lo de )?|(?:dimentica(?:ti)?|cancella) (?:che |di )?)(?P<about>.+)$",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done, and with what; `kind` is empty where the text asks for neither."""

    kind: Literal["remember", "forget", ""] = ""
    about: str = ""


def wish(text: str) -> Wish:
    """The wish of one message. A question ("do you remember that…?") is none."""
    if "?" in text:
        return Wish()
    if match := _REMEMBER.match(text):
        return Wish("remember", match["about"].strip(" .!"))
    if match := _FORGET.match(text):
        return Wish("forget", match["about"].strip(" .!"))
    return Wish()
