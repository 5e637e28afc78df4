"""Files stay small enough to be read at once, and package markers stay empty."""

import ast
from pathlib import Path

import pytest

from tests.architecture.template import ROOT

MOST_LINES = 250
"""Lines that are not blank."""
MOST_HANDLER_LINES = 60
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "misc", "base"}

SOURCES = sorted(
    path
    for folder in ("layers/core", "layers/build", "functions", "tools")
    for path in (ROOT / folder).rglob("*.py")
)


def lines(path: Path) -> int:
    return sum(1 for line in path.read_text("utf-8").splitlines() if line.strip())


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_file_has_one_job_and_a_bounded_length(path: Path) -> None:
    handler = path.parts[-3] == "functions"

    assert lines(path) <= (MOST_HANDLER_LINES if handler else MOST_LINES)
    assert not {path.stem, path.parent.name} & VAGUE


@pytest.mark.parametrize(
    "path",
    [path for path in SOURCES if path.name == "__init__.py"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_a_package_marker_holds_a_docstring_at_most(path: Path) -> None:
    body = ast.parse(path.read_text("utf-8")).body

    assert len(body) <= 1
    assert all(isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) for node in body)
