"""README's table of cost, written from docs/benchmarks/results.json. Needs nothing but Python."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs" / "benchmarks" / "results.json"
README = ROOT / "README.md"
BEGIN, END = "<!-- cost:begin -->", "<!-- cost:end -->"


def table(money: Mapping[str, Any]) -> str:
    """The lines between the marks."""
    parts: dict[str, float] = {}
    for line in money["lines"]:
        parts[line["part"]] = parts.get(line["part"], 0.0) + line["dollars"]
    waited = money["assumed"]["seconds_of_waiting_for_the_model"]
    lines = [
        f"| a million messages, each answered, at list prices of {money['prices_as_of']} | $ |",
        "|---|---:|",
        *(f"| {_named(part, money['model'], waited)} | {dollars:,.2f} |" for part, dollars in parts.items()),
        f"| **all** | **{money['total_dollars']:,.2f}** |",
        f"| all, where every message finds the prompt cache empty | {money['cold_total_dollars']:,.2f} |",
    ]
    return "\n".join(lines)


def between_marks(text: str) -> str:
    """What README has there now."""
    return text[text.index(BEGIN) + len(BEGIN) : text.index(END)].strip()


def write(money: Mapping[str, Any], path: Path = README) -> None:
    """Replaces the table."""
    text = path.read_text("utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    path.write_text(f"{before}\n{table(money)}\n{after}", "utf-8")


def recorded() -> dict[str, Any]:
    """The money of the last run."""
    money: dict[str, Any] = json.loads(RESULTS.read_text("utf-8"))["money"]
    return money


def _named(part: str, model: str, waited: float) -> str:
    return {
        "Model": f"Model: {model} for replies and memory, no reasoning tokens counted",
        "Lambda": f"Lambda, most of it {waited:g} s of waiting for the model",
        "CloudWatch": "CloudWatch Logs",
    }.get(part, part)
