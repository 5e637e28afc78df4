"""What measuring has led to: figures before and after a change, with their date."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("changes.toml")


def of(section: str) -> list[dict[str, Any]]:
    """The changes that a section of the benchmark led to, oldest first."""
    rows = tomllib.loads(FILE.read_text("utf-8"))["change"]
    return [{**row, "date": row["date"].isoformat()} for row in rows if row["section"] == section]


def table(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Lines of a Markdown table; none where nothing changed."""
    if not rows:
        return []
    lines = ["What was changed because of these figures:", "", "| date | change | figure | before | after |"]
    lines.append("|---|---|---|---:|---:|")
    return lines + [
        f"| {row['date']} | {row['what']} | {row['figure']} | {row['before']} | {row['after']} |"
        for row in rows
    ]
