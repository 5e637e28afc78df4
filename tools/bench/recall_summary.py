"""Recall, from the figures of its own benchmark (`make bench-recall`, docs/benchmarks/recall.md)."""

import json
from collections.abc import Mapping
from typing import Any

from tools.bench.grown import ROOT

NAME = "recall_summary"
FILE = ROOT / "docs" / "benchmarks" / "recall.json"


def measure() -> dict[str, Any]:
    """The share of evidence found among the first ten passages, by ranking."""
    figures = json.loads(FILE.read_text("utf-8"))
    return {
        "questions": figures["questions"],
        "passages": figures["passages"],
        "found_at_10": {name: row["10"] for name, row in figures["rankings"].items()},
    }


def page(figures: Mapping[str, Any]) -> str:
    """The section of the page."""
    lines = [
        "## Recall",
        "",
        f"Share of the evidence of {figures['questions']} questions among the first ten of "
        f"{figures['passages']} passages; more in [recall.md](recall.md).",
        "",
        "| " + " | ".join(figures["found_at_10"]) + " |",
        "|" + "---:|" * len(figures["found_at_10"]),
        "| " + " | ".join(f"{found:.2f}" for found in figures["found_at_10"].values()) + " |",
        "",
    ]
    return "\n".join(lines)
