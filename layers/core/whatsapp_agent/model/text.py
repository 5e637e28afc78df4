"""Text on its way to the model's service and back: what UTF-8 cannot carry, and whole sentences."""

import re

from whatsapp_agent.memory.quoting import is_blank

_SENTENCE_END = re.compile(r"[.!?…。！？؟।]+[\"'”’»)\]]*(?=\s|$)|[。！？]+")


def repaired(text: str) -> str:
    """The text with every lone surrogate replaced by U+FFFD.

    A phone can cut an emoji in half and JSON carries the half; encoding it as UTF-8 raises.
    """
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def whole_sentences(text: str) -> str:
    """A text that broke off, cut after its last whole sentence; after its last word where it has none."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if ends and not is_blank(text[: ends[-1]]):
        return text[: ends[-1]].strip()
    head, space, _ = text.rstrip().rpartition(" ")
    return f"{(head if space else text).rstrip()}…"
