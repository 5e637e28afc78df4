"""`make bench-recall`: measures recall and writes docs/benchmarks/recall.md and recall.json."""

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "layers" / "core"))

from tools.bench.recall import dataset, report
from tools.bench.recall.dataset import Case, Dataset
from tools.bench.recall.measure import questions
from tools.bench.recall.minilm import MiniLM

OUT = Path(__file__).resolve().parents[3] / "docs" / "benchmarks"


def main() -> int:
    """Writes both files; 1 where fusion does not beat every single ranking."""
    made = dataset.load()
    say(f"{len(made.cases)} questions; embedding (a minute or two) …")
    asked = questions(made, similarities(made))
    figures = report.figures(asked)
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "recall.json").write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    (OUT / "recall.md").write_text(report.markdown(figures), encoding="utf-8")
    for row in report.table(figures["rankings"]):
        say(row)
    beaten = report.fusion_wins(figures)
    say(f"fused beats every single ranking at 10: {'yes' if beaten else 'NO'}")
    return 0 if beaten else 1


def similarities(made: Dataset) -> Callable[[Case], Mapping[str, float]]:
    """Cosine similarities of a question to its owner's passages."""
    texts = {passage.searchable for passages in made.passages.values() for passage in passages.values()}
    texts |= {case.asked for case in made.cases}
    # By length, so that a batch is not padded to its longest text.
    ordered = sorted(texts, key=lambda text: (len(text), text))
    vectors = dict(zip(ordered, MiniLM().embed(ordered), strict=True))

    def similarity(case: Case) -> Mapping[str, float]:
        passages = made.passages[case.owner]
        return {key: float(vectors[each.searchable] @ vectors[case.asked]) for key, each in passages.items()}

    return similarity


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
