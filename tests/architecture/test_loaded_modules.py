"""Which heavy modules each handler loads, and that loading one asks nothing of its surroundings."""

import json
import subprocess
import sys

import pytest

from tests.architecture.template import ROOT

HEAVY = {"boto3", "openai", "httpx2", "pydantic", "regex", "urllib3", "aws_lambda_powertools"}
LOADED = {
    "ingest": {"boto3", "urllib3", "aws_lambda_powertools"},
    "erase": {"boto3", "urllib3", "aws_lambda_powertools"},
    "reply": HEAVY,
    "compact": HEAVY - {"regex"},
}
PROGRAM = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("app", sys.argv[1])
app = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
assert callable(app.handler)
print(json.dumps(sorted({name.split(".")[0] for name in sys.modules})))
"""


def loaded_by(function: str) -> set[str]:
    """Top-level modules after a fresh interpreter without any environment has imported the handler."""
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, ROOT / "functions" / function / "app.py"],
        env={"PYTHONPATH": str(ROOT / "layers" / "core"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return set(json.loads(answer.stdout))


@pytest.mark.parametrize("function", LOADED)
def test_a_handler_loads_what_it_needs_and_nothing_heavier(function: str) -> None:
    assert loaded_by(function) & HEAVY == LOADED[function]


def test_every_function_is_looked_at() -> None:
    assert {path.parent.name for path in (ROOT / "functions").glob("*/app.py")} == set(LOADED)
