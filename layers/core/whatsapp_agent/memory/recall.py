"""Which of the passages that were found go into a prompt: two rankings, fused, then cut to what is worth it.

Fusion is a weighted sum of both scores, each divided by its highest of this question: how far ahead the first
one is counts, which a fusion of ranks throws away. The weights were measured, see docs/benchmarks/recall.md.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from whatsapp_agent.memory.keywords import KeywordIndex, Match, features
from whatsapp_agent.memory.passages import Candidates, Found, Passage, Recalled, RecallRules

WORD_WEIGHT = 0.5
"""Of the words in the fused score; the rest is the vectors'. Without vectors the words decide alone."""

CONTEXT_WEIGHT = 0.5
"""Of the words that were said just before the question, against those of the question."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A passage with what speaks for it.

    Attributes:
        score: Fused, from 0 to 1; comparable within one question only.
        similarity: Cosine; 0 where no vector was compared.
        share: See `keywords.Match.share`.
    """

    passage: Passage
    score: float
    similarity: float = 0.0
    share: float = 0.0

    def worth_it(self, rules: RecallRules) -> bool:
        """Whether its meaning or its words are close enough to be shown at all."""
        return self.similarity >= rules.similarity_floor or self.share >= rules.word_floor


def rank(
    candidates: Candidates,
    question: str,
    context: str = "",
    index: KeywordIndex | None = None,
    *,
    word_weight: float = WORD_WEIGHT,
    context_weight: float = CONTEXT_WEIGHT,
) -> list[Ranked]:
    """All candidates that anything speaks for, the best first.

    `index` is one over the same passages, where it has been made before.
    """
    passages = candidates.passages
    if index is None:
        asked = features(question).keys() | features(context).keys()
        index = KeywordIndex({key: passage.searchable for key, passage in passages.items()}, asked)
    matches = index.match(question, context, context_weight=context_weight)
    words = _shares_of_best({key: match.score for key, match in matches.items() if key in passages})
    near = {key: value for key, value in candidates.similarities.items() if key in passages}
    meaning = _spread(near)
    weight = word_weight if near else 1.0
    ranked = [
        Ranked(
            passages[key],
            weight * words.get(key, 0.0) + (1 - weight) * meaning.get(key, 0.0),
            near.get(key, 0.0),
            matches.get(key, Match(0.0, 0.0)).share,
        )
        for key in words.keys() | meaning.keys()
    ]
    return sorted(ranked, key=lambda each: (-each.score, each.passage.key))


def _shares_of_best(scores: Mapping[str, float]) -> dict[str, float]:
    highest = max(scores.values(), default=0.0)
    return {key: score / highest for key, score in scores.items()} if highest > 0 else {}


def _spread(similarities: Mapping[str, float]) -> dict[str, float]:
    """From 0 for the farthest to 1 for the nearest. Similarities never begin at 0: with most models
    unrelated texts have one of their own, and taken as it is it would drown the differences.
    """
    lowest, highest = min(similarities.values(), default=0.0), max(similarities.values(), default=0.0)
    if highest <= lowest:
        return dict.fromkeys(similarities, 1.0)
    return {key: (value - lowest) / (highest - lowest) for key, value in similarities.items()}


def choose(
    found: Found,
    rules: RecallRules,
    question: str,
    context: str = "",
    *,
    knowledge_index: KeywordIndex | None = None,
    after_place: int = -1,
) -> Recalled:
    """What goes into the prompt.

    Args:
        found: The candidates.
        rules: The agent's.
        question: The person's new messages.
        context: What was said just before.
        knowledge_index: One over the passages of `found.knowledge`, where it has been made before.
        after_place: Episodes from this place on are left out: the prompt shows them as messages.
    """
    old = {key: each for key, each in found.episodes.passages.items() if 0 <= each.place < after_place}
    episodes = Candidates(old if after_place >= 0 else found.episodes.passages, found.episodes.similarities)
    knowledge = rank(found.knowledge, question, context, knowledge_index)
    remembered = rank(episodes, question, context)
    room = rules.chars
    told, room = _widened(_worth(knowledge, rules), found.knowledge, rules, room)
    said, _ = _widened(_worth(remembered, rules), episodes, rules, room)
    return Recalled(told, said)


def _worth(ranked: Sequence[Ranked], rules: RecallRules) -> list[Passage]:
    return [each.passage for each in ranked if each.worth_it(rules)][: rules.count]


def _widened(
    hits: Sequence[Passage], candidates: Candidates, rules: RecallRules, room: int
) -> tuple[list[Passage], int]:
    """The hits that fit, then their neighbours while there is room; in reading order."""
    kept: dict[str, Passage] = {}
    for passage in [*hits, *_neighbours(hits, candidates.passages.values(), rules.neighbours)]:
        size = len(passage.searchable)
        if passage.key not in kept and size <= room:
            kept[passage.key] = passage
            room -= size
    return sorted(kept.values(), key=lambda passage: (passage.source, passage.place)), room


def _neighbours(hits: Sequence[Passage], passages: Iterable[Passage], reach: int) -> list[Passage]:
    """What stands before and after each hit in its own source, the nearest first."""
    if reach <= 0 or not hits:
        return []
    order: dict[str, list[Passage]] = {}
    for passage in passages:
        order.setdefault(passage.source, []).append(passage)
    near: list[Passage] = []
    places = {source: sorted(each, key=lambda passage: passage.place) for source, each in order.items()}
    for step in range(1, reach + 1):
        for hit in hits:
            line = places.get(hit.source, [])
            at = next((i for i, passage in enumerate(line) if passage.place == hit.place), None)
            if at is not None:
                near += [line[i] for i in (at + step, at - step) if 0 <= i < len(line)]
    return near
