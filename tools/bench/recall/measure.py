"""Ranks every question's passages in several ways and counts how much of the evidence comes first."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tools.bench.recall.dataset import Case, Dataset
from whatsapp_agent.memory import keywords, recall
from whatsapp_agent.memory.passages import Candidates, Found, Passage, RecallRules

Keys = Sequence[str]


@dataclass(frozen=True, slots=True)
class Question:
    """A case with what the rankings work on."""

    case: Case
    passages: Mapping[str, Passage]
    index: keywords.KeywordIndex
    similarities: Mapping[str, float]

    @property
    def candidates(self) -> Candidates:
        return Candidates(self.passages, self.similarities)


def newest(question: Question) -> Keys:
    """What was said (or stands in the document) last."""
    return sorted(question.passages, reverse=True)


def by_words(question: Question) -> Keys:
    return keywords.best(question.index.match(question.case.asked))


def by_words_and_context(question: Question) -> Keys:
    matches = question.index.match(
        question.case.asked, question.case.before, context_weight=recall.CONTEXT_WEIGHT
    )
    return keywords.best(matches)


def by_vectors(question: Question) -> Keys:
    return sorted(question.similarities, key=lambda key: (-question.similarities[key], key))


def by_ranks(question: Question) -> Keys:
    """Reciprocal-rank fusion of words and vectors."""
    scores: dict[str, float] = {}
    for ranking in (by_words(question), by_vectors(question)):
        for place, key in enumerate(ranking, 1):
            scores[key] = scores.get(key, 0.0) + 1 / (60 + place)
    return sorted(scores, key=lambda key: (-scores[key], key))


def fused(
    question: Question, word_weight: float = recall.WORD_WEIGHT, context_weight: float | None = None
) -> Keys:
    ranked = recall.rank(
        question.candidates,
        question.case.asked,
        question.case.before,
        question.index,
        word_weight=word_weight,
        context_weight=recall.CONTEXT_WEIGHT if context_weight is None else context_weight,
    )
    return [each.passage.key for each in ranked]


RANKINGS: Mapping[str, Callable[[Question], Keys]] = {
    "newest only": newest,
    "words only": by_words,
    "vectors only": by_vectors,
    "reciprocal ranks": by_ranks,
    "fused (what the agent uses)": fused,
}


def questions(dataset: Dataset, similarity: Callable[[Case], Mapping[str, float]]) -> list[Question]:
    indexes = {
        owner: keywords.KeywordIndex({key: passage.searchable for key, passage in passages.items()})
        for owner, passages in dataset.passages.items()
    }
    return [
        Question(case, dataset.passages[case.owner], indexes[case.owner], similarity(case))
        for case in dataset.cases
    ]


def recall_at(depth: int, ranking: Keys, evidence: frozenset[str]) -> float:
    """Share of the evidence among the first `depth`."""
    return len(evidence & set(ranking[:depth])) / len(evidence)


def mean_recall(depth: int, ranking: Callable[[Question], Keys], asked: Sequence[Question]) -> float:
    answerable = [question for question in asked if question.case.evidence]
    return sum(recall_at(depth, ranking(each), each.case.evidence) for each in answerable) / len(answerable)


def in_prompt(question: Question, rules: RecallRules) -> frozenset[str]:
    """What would stand in the prompt by the rules."""
    case = question.case
    chosen = recall.choose(
        Found(knowledge=question.candidates), rules, case.asked, case.before, knowledge_index=question.index
    )
    return frozenset(passage.key for passage in chosen.knowledge)
