"""When two texts say the same thing, as far as characters can tell."""

import hashlib
import re
import unicodedata

from whatsapp_agent.memory.quoting import clean

_ARTICLES = re.compile(
    r"the|an?|el|l[aeo]s?|una?s?|unos?|il|i|gli|l|[oa]s?|uma?s?|une|des|du|de[rmn]|die|das|ein(?:e[mnr]?)?|het|een"
)
_WORD = re.compile(r"\w+")
# Scripts that are written without spaces: Thai, Lao, Burmese, Khmer, kana, ideographs.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+")


# Latin letters that Unicode does not take apart into a letter and a mark.
_PLAIN_LETTERS = str.maketrans("ıłøđ", "ilod")


def normalised(text: str) -> str:
    """The text without what does not change its meaning: width, case, punctuation, articles, spacing."""
    folded = unicodedata.normalize("NFKC", clean(text)).casefold()
    words = "".join(c if _counts(c) else " " for c in unicodedata.normalize("NFKC", folded)).split()
    # An article stands before its noun: the last word is none ("plan a", "vitamin a").
    kept = [word for i, word in enumerate(words) if not _ARTICLES.fullmatch(word) or i == len(words) - 1]
    return " ".join(kept) or folded.strip()


def _counts(char: str) -> bool:
    # Symbols count: "C" and "C++" are two things, and so are two emoji.
    return unicodedata.category(char)[0] in "LMNS"


def same(one: str, other: str) -> bool:
    """Whether two values are one value, written differently."""
    return normalised(one) == normalised(other)


def item_id(value: str) -> str:
    """A short id that is the same for every way to write a value."""
    return hashlib.sha256(normalised(value).encode()).hexdigest()[:12]


def without_accents(text: str) -> str:
    """Folded for comparison with a table: NFKC, lower case, Latin letters without their marks, Arabic without
    its vowel signs.
    """
    plain: list[str] = []
    for char in unicodedata.normalize("NFD", unicodedata.normalize("NFKC", text).casefold()):
        on_latin = unicodedata.category(char) == "Mn" and plain and plain[-1].isascii()
        if not on_latin and not "\u064b" <= char <= "\u0652":
            plain.append(char)
    return unicodedata.normalize("NFC", "".join(plain)).translate(_PLAIN_LETTERS)


def telling_words(text: str) -> frozenset[str]:
    """The words that carry a text's meaning, accents folded: numbers and words of four letters or more, or
    all words where there are none. Text of scripts without spaces counts by pairs of characters.
    """
    words = _WORD.findall(without_accents(normalised(text)))
    pairs = {
        run[i : i + 2] for word in words for run in _UNSPACED.findall(word) for i in range(max(1, len(run) - 1))
    }
    spaced = [word for word in words if not _UNSPACED.search(word)]
    telling = {word for word in spaced if len(word) >= 4 or word.isdecimal()} | pairs
    return frozenset(telling or spaced)
