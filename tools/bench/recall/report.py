"""The figures of the benchmark of recall, and the page that shows them."""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tools.bench.recall.measure import RANKINGS, Keys, Question, fused, in_prompt, mean_recall
from tools.bench.recall.minilm import DIMENSIONS, NAME
from whatsapp_agent.memory import keywords, recall
from whatsapp_agent.memory.passages import RecallRules

DEPTHS = (5, 10)
FUSED = "fused (what the agent uses)"
SINGLE = ("newest only", "words only", "vectors only")
WEIGHTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
FLOORS = (0.2, 0.3, 0.4, 0.5)

Ranking = Callable[[Question], Keys]


def figures(asked: Sequence[Question]) -> dict[str, Any]:
    """Everything that is counted, as plain values."""
    answerable = [question for question in asked if question.case.evidence]
    cases = [question.case for question in asked]
    return {
        "questions": len(asked),
        "answerable": len(answerable),
        "kinds": {kind: sum(case.kind == kind for case in cases) for kind in _distinct(c.kind for c in cases)},
        "languages": {
            name: sum(case.language == name for case in cases) for name in _distinct(c.language for c in cases)
        },
        "passages": sum(
            len(passages)
            for passages in {case.owner: q.passages for case, q in zip(cases, asked, strict=True)}.values()
        ),
        "embedding": {"model": NAME, "dimensions": DIMENSIONS},
        "parameters": {
            "word_weight": recall.WORD_WEIGHT,
            "context_weight": recall.CONTEXT_WEIGHT,
            "piece_weight": keywords.PIECE_WEIGHT,
        },
        "rankings": {name: _recalls(ranking, answerable) for name, ranking in RANKINGS.items()},
        "by_language": _split(answerable, lambda question: question.case.language),
        "by_kind": _split(answerable, lambda question: question.case.kind),
        "word_weight": {
            str(weight): {
                half: _recalls(lambda question, weight=weight: fused(question, weight), part)  # type: ignore[misc]
                for half, part in (("even questions", answerable[::2]), ("odd questions", answerable[1::2]))
            }
            for weight in WEIGHTS
        },
        "floors": {str(floor): _floor(asked, floor) for floor in FLOORS},
    }


def fusion_wins(found: dict[str, Any]) -> bool:
    """Whether fusion finds more of the evidence at 10 than every single ranking."""
    rankings = found["rankings"]
    return all(rankings[FUSED]["10"] > rankings[single]["10"] for single in SINGLE)


def _distinct(names: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(names))


def _recalls(ranking: Ranking, asked: Sequence[Question]) -> dict[str, float]:
    return {str(depth): round(mean_recall(depth, ranking, asked), 3) for depth in DEPTHS}


def _split(asked: Sequence[Question], of: Callable[[Question], str]) -> dict[str, Any]:
    return {
        name: {
            ranking: _recalls(rank, [question for question in asked if of(question) == name])
            for ranking, rank in RANKINGS.items()
        }
        for name in _distinct(map(of, asked))
    }


def _floor(asked: Sequence[Question], floor: float) -> dict[str, Any]:
    """English questions only: for the others this embedding model says the same of everything."""
    rules = RecallRules(similarity_floor=floor)
    english = [question for question in asked if question.case.language == "en"]
    answerable = [question for question in english if question.case.evidence]
    none = [question for question in english if not question.case.evidence]
    shown = [in_prompt(question, rules) for question in answerable]
    found = [
        len(keys & each.case.evidence) / len(each.case.evidence)
        for keys, each in zip(shown, answerable, strict=True)
    ]
    return {
        "evidence_in_prompt": round(sum(found) / len(found), 3),
        "passages_in_prompt": round(sum(map(len, shown)) / len(shown), 1),
        "unanswerable_without_passage": f"{sum(not in_prompt(each, rules) for each in none)} of {len(none)}",
    }


def table(rows: dict[str, dict[str, float]]) -> list[str]:
    """Lines of a Markdown table of recall at both depths."""
    lines = ["| ranking | recall at 5 | recall at 10 |", "|---|---:|---:|"]
    return lines + [f"| {name} | {values['5']:.3f} | {values['10']:.3f} |" for name, values in rows.items()]


def _wide(rows: dict[str, Any]) -> list[str]:
    names = list(next(iter(rows.values())))
    lines = [f"| | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for row, rankings in rows.items():
        cells = (f"{rankings[name]['5']:.2f} / {rankings[name]['10']:.2f}" for name in names)
        lines.append(f"| {row} | {' | '.join(cells)} |")
    return lines


PAGE = """\
# Recall

`make bench-recall` writes this page. {questions} questions ({kinds}) in {languages} languages over {passages}
passages: twelve made talks of 69 exchanges, four made manuals. Recall at n is the share of a question's
evidence among the first n passages of its own owner, over the {answerable} questions that have any. The
vectors are those of {model} ({dimensions} dimensions), a small model for English that a package ships, so
that the benchmark runs offline; a deployment uses `EmbeddingModel`.

{rankings}

The agent adds both scores, each divided by its highest of the question (the vectors' from their lowest on),
the words' with a weight of {word_weight}. Words that were said just before the question count
{context_weight} times as much, pieces of words {piece_weight} times.

## By language, at 5 / at 10

{by_language}

In English the vectors of this model alone find about as much as fusion does. In the other languages they say
little, and the words carry the result. A model that knows all of these languages was not measured: there is no
network in the benchmark.

## By kind of question, at 5 / at 10

{by_kind}

## The weight of the words, by halves of the questions, at 5 / at 10

{weights}

## The similarity floor

English questions only. What a prompt shows by `similarity_floor`, neighbours included, with `word_floor` as
it is by default. A floor that is too high hides answers. An unanswerable question may still bring a passage
that shares words with it; the model is told to pass over what does not fit.

{floors}
"""


def markdown(found: dict[str, Any]) -> str:
    """The page."""
    floors = [
        "| floor | evidence in the prompt | passages in the prompt | unanswerable, no passage |",
        "|---:|---:|---:|---:|",
    ]
    for floor, row in found["floors"].items():
        cells = (
            f"{row['evidence_in_prompt']:.3f}",
            row["passages_in_prompt"],
            row["unanswerable_without_passage"],
        )
        floors.append(f"| {floor} | {' | '.join(map(str, cells))} |")
    page = PAGE.format(
        **{name: found[name] for name in ("questions", "answerable", "passages")},
        **found["embedding"],
        **found["parameters"],
        kinds=", ".join(f"{count} {kind}" for kind, count in found["kinds"].items()),
        languages=len(found["languages"]),
        rankings="\n".join(table(found["rankings"])),
        by_language="\n".join(_wide(found["by_language"])),
        by_kind="\n".join(_wide(found["by_kind"])),
        weights="\n".join(_wide(found["word_weight"])),
        floors="\n".join(floors),
    )
    return "\n\n".join(map(_filled, page.split("\n\n")))


def _filled(paragraph: str) -> str:
    """Prose in lines of like length; tables and headings as they are."""
    if paragraph.startswith(("|", "#")):
        return paragraph
    return textwrap.fill(paragraph, 110, break_long_words=False, break_on_hyphens=False)
