"""The one place that cleans and quotes remembered text before a model sees it.

Remembered text is data. Quoted here it is one line inside double quotes: whatever a person has said, it can
neither end its line nor its quotes, and it holds no characters that a reader of the prompt would not see.
"""

import json
import unicodedata

_SPACES = frozenset({"Zs", "Zl", "Zp", "Cc"})
_UNSEEN = frozenset({"Cf", "Cs", "Co"})
# Letters and marks that are drawn as nothing, though Unicode does not class them as format characters:
# grapheme joiner, Hangul and Khmer fillers, the empty Braille pattern.
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")

# Marks have nothing to sit on where they stand alone; what is not assigned is drawn by nobody. Private use is
# not among them: some phones show a picture there.
_NOTHING_ALONE = _SPACES | {"Cf", "Cs", "Cn", "Mn", "Me"}


def _is_unseen(char: str) -> bool:
    # The supplementary variation selectors can carry a hidden byte each.
    return unicodedata.category(char) in _UNSEEN or char in _BLANK or "\U000e0100" <= char <= "\U000e01ef"


class _Shown(dict[int, str | None]):
    """What `str.translate` makes of a character; of the common alphabets it remembers it, because every message
    of every prompt is cleaned.
    """

    def __missing__(self, code: int) -> str | None:
        char = chr(code)
        shown = None if _is_unseen(char) else " " if unicodedata.category(char) in _SPACES else char
        if code < _COMMON:
            self[code] = shown
        return shown


_COMMON = 0x3000
_SHOWN = _Shown()


def clean(text: str) -> str:
    """The text on one line: control characters and line ends become spaces, runs of space become one, and
    bidirectional, zero-width and other unseen characters go.
    """
    return " ".join(text.translate(_SHOWN).split())


def quoted(text: str) -> str:
    """The cleaned text as a JSON string: one line in double quotes, which `json.loads` reads back."""
    return json.dumps(clean(text), ensure_ascii=False)


def is_blank(text: str) -> bool:
    """Whether the text shows nothing: spaces, controls, zero-width characters, fillers, marks alone."""
    return all(c in _BLANK or unicodedata.category(c) in _NOTHING_ALONE for c in text)


def sendable(text: str) -> str:
    """The text as it is but for lone surrogates, which no request body can carry."""
    return text.encode("utf-8", "ignore").decode("utf-8")
