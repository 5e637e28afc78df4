"""Finds passages by the words of a question: in every script, inflected, and codes typed exactly.

The ranking is BM25. What it counts are not words alone:

- a word, folded (case, width, accents, digits of other scripts);
- the pieces of a longer word, three letters each, at less weight: `gatos` still finds `gato`, and `الكتاب`
  finds `كتاب`, without a dictionary of any language;
- pairs of neighbouring characters, and single ones at less weight, where a script writes no spaces (Han, kana,
  Thai, …);
- a code (`AX-4471/B`) both whole and in parts, so that it is found however its marks are typed.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

_SATURATION = 1.2
_LENGTH_SHARE = 0.4
"""BM25's k1 and b. Passages are of like length, so length says little."""

PIECE_WEIGHT = 0.5
_PIECE = 3
"""Both measured: see docs/benchmarks/recall.md."""

_LEAST_SIZE = 100

_RUN = re.compile(r"[^\W_]+(?:[-_./·'’][^\W_]+)*")
_PART = re.compile(r"[^\W_]+")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]+"
)
_DIGIT = re.compile(r"\d")


def folded(text: str) -> str:
    """The text in one width and case, without accents, every digit as an ASCII one."""
    if text.isascii():
        return text.lower()
    # Folding the case of what was taken apart: there are capitals in one sign (ℋ, ㏂).
    decomposed = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    kept = (char for char in decomposed if not unicodedata.combining(char))
    return "".join(str(unicodedata.digit(char)) if char.isdecimal() else char for char in kept)


def features(text: str) -> dict[str, int]:
    """What the ranking counts of a text: how often each feature occurs."""
    return dict(Counter(_features(text)))


def _features(text: str) -> Iterator[str]:
    for run in _RUN.findall(folded(text)):
        parts = _PART.findall(run)
        if len(parts) > 1 and _DIGIT.search(run):
            yield "".join(parts)
        for part in parts:
            yield from _features_of_part(part)


def _features_of_part(part: str) -> Iterator[str]:
    rest = part
    if not part.isascii():
        for unspaced in _UNSPACED.findall(part):
            yield from [unspaced[place : place + 2] for place in range(len(unspaced) - 1)] or [unspaced]
            yield from (f"~{char}" for char in unspaced)
            rest = rest.replace(unspaced, " ")
    for word in rest.split():
        yield word
        if len(word) > _PIECE and not word.isdecimal():
            # Marked, so that a piece never counts as the whole word that it looks like.
            yield from [f"~{word[place : place + _PIECE]}" for place in range(len(word) - _PIECE + 1)]


@dataclass(frozen=True, slots=True)
class Match:
    """How the words of a question speak for a text.

    Attributes:
        score: BM25; comparable within one question only.
        share: How much of what the question's words weigh is in the text, from 0 to 1; rare words weigh more.
    """

    score: float
    share: float


class KeywordIndex:
    """Texts prepared for ranking. Read-only once made, so several threads may share it."""

    def __init__(self, texts: Mapping[str, str], only: Collection[str] | None = None) -> None:
        """Prepares the texts. For one question it is enough, and quicker, to count `only` its features."""
        counted: dict[str, Counter[str]] = {}
        lengths: dict[str, int] = {}
        for key, text in texts.items():
            told = list(_features(text))
            lengths[key] = len(told)
            counted[key] = Counter(told if only is None else [each for each in told if each in only])
        average = sum(lengths.values()) / len(lengths) if lengths else 1.0
        self._size = len(counted)
        self._damping = {
            key: _SATURATION * (1 - _LENGTH_SHARE + _LENGTH_SHARE * length / (average or 1.0))
            for key, length in lengths.items()
        }
        self._places: dict[str, list[tuple[str, float]]] = {}
        for key, found in counted.items():
            for feature, count in found.items():
                self._places.setdefault(feature, []).append((key, count))

    def match(self, question: str, context: str = "", *, context_weight: float = 0.0) -> dict[str, Match]:
        """The texts that share anything with the question, by key.

        `context` is what was said before it: its words count `context_weight` times as much in the score,
        and nothing in the share.
        """
        asked = dict.fromkeys(features(question), 1.0)
        wanted = sum(self._import(feature) for feature in asked)
        around = dict.fromkeys(features(context), context_weight) if context_weight else {}
        scores: Counter[str] = Counter()
        shares: Counter[str] = Counter()
        for feature, emphasis in (around | asked).items():
            weight = self._weight(feature) * emphasis
            for key, count in self._places.get(feature, ()):
                scores[key] += weight * count * (_SATURATION + 1) / (count + self._damping[key])  # type: ignore[assignment]
                if feature in asked:
                    shares[key] += self._import(feature)  # type: ignore[assignment]
        return {key: Match(score, shares[key] / wanted if wanted else 0.0) for key, score in scores.items()}

    def _weight(self, feature: str) -> float:
        """The rarer a feature, the more it says."""
        return _rarity(feature, len(self._places.get(feature, ())), self._size)

    def _import(self, feature: str) -> float:
        """The same among at least `_LEAST_SIZE` texts: in a handful, what one of them has seems common. What no
        text has weighs like what one has: it may be a name, or only another word for something.
        """
        having = max(1, len(self._places.get(feature, ())))
        return _rarity(feature, having, max(self._size, _LEAST_SIZE))


def _rarity(feature: str, having: int, size: int) -> float:
    rarity = math.log(1 + (size - having + 0.5) / (having + 0.5))
    return rarity * (PIECE_WEIGHT if feature.startswith("~") else 1.0)


def best(matches: Mapping[str, Match]) -> Sequence[str]:
    """The keys, the best first."""
    return sorted(matches, key=lambda key: (-matches[key].score, key))
