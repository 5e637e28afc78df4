"""What a command prints: tables for people, or one JSON document.

What people wrote is shown without control characters and never read as markup: a message must not be able to
repaint the operator's terminal.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whatsapp_agent.clock import to_iso
from whatsapp_agent.memory.quoting import clean


class Output:
    """Prints to stdout; what is no result (questions, progress, errors) goes to stderr."""

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self._console = Console(highlight=False, soft_wrap=not sys.stdout.isatty())
        self._errors = Console(stderr=True, highlight=False, soft_wrap=True)

    def document(self, value: Any) -> None:
        """One JSON document."""
        print(json.dumps(value, ensure_ascii=False, indent=2, default=_plain))

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """A table; a value that is empty is shown as a dash."""
        table = Table(title=title, title_justify="left", header_style="bold", show_edge=False, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(shown(value) for value in row))
        self._console.print(table)

    def pairs(self, title: str, values: Iterable[tuple[str, object]]) -> None:
        """Names and values, one per line."""
        table = Table(
            title=title, title_justify="left", show_header=False, show_edge=False, box=None, pad_edge=False
        )
        table.add_column(style="dim")
        table.add_column(overflow="fold")
        for name, value in values:
            table.add_row(name, shown(value))
        self._console.print(table)

    def line(self, text: str = "") -> None:
        """A line of the result."""
        self._console.print(Text(text))

    def say(self, text: str) -> None:
        """A line beside the result."""
        self._errors.print(Text(text))

    def error(self, text: str) -> None:
        """Why the command ends; a JSON object where JSON was asked for."""
        if self.as_json:
            print(json.dumps({"error": text}, ensure_ascii=False), file=sys.stderr)
        else:
            self._errors.print(Text(text, style="red"))


def shown(value: object) -> Text:
    """A value as a table shows it."""
    if value is None or value == "":
        return Text("–", style="dim")
    if isinstance(value, datetime):
        return Text(value.strftime("%Y-%m-%d %H:%M:%S"))
    if isinstance(value, bool):
        return Text("yes" if value else "no")
    if isinstance(value, float):
        return Text(f"{value:g}")
    return Text("\n".join(clean(line) for line in str(value).splitlines()))


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return to_iso(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
