"""Which modules each handler loads, and that loading one asks nothing of its surroundings."""

import json
import subprocess
import sys

import pytest

from tests.architecture.template import ROOT

AWS = {"boto3", "botocore", "s3transfer", "jmespath", "dateutil", "six", "urllib3"}
POWERTOOLS = {"aws_lambda_powertools", "typing_extensions"}
OPENAI = {
    *("openai", "httpx2", "anyio", "idna", "sniffio"),
    *("pydantic", "pydantic_core", "annotated_types", "typing_inspection"),
}
LOADED = {
    "ingest": (AWS | POWERTOOLS, 35),
    "erase": (AWS | POWERTOOLS, 26),
    "reply": (AWS | POWERTOOLS | OPENAI | {"regex"}, 135),
    "compact": (AWS | POWERTOOLS | OPENAI, 81),
}
"""By function: every third party's package that it loads, and how many modules of our own."""

OTHERS = {"ingest": 480, "erase": 470, "reply": 1150, "compact": 1150}
"""At most so many modules of others; how many exactly is up to Python's and their versions."""
LEFT_OUT = {"app", "whatsapp_agent", "certifi"}
"""botocore takes certifi where there is one; the layers hold none."""

PROGRAM = """
import importlib.util, json, sys
spec = importlib.util.spec_from_file_location("app", sys.argv[1])
app = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
assert callable(app.handler)
print(json.dumps(sorted(sys.modules)))
"""


def loaded_by(function: str) -> list[str]:
    """Modules after a fresh interpreter without any environment has imported the handler."""
    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM, ROOT / "functions" / function / "app.py"],
        env={"PYTHONPATH": str(ROOT / "layers" / "core"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    modules: list[str] = json.loads(answer.stdout)
    return modules


def third_parties(modules: list[str]) -> set[str]:
    tops = {module.split(".")[0] for module in modules}
    return {top for top in tops - sys.stdlib_module_names if not top.startswith("_")} - LEFT_OUT


@pytest.mark.parametrize("function", LOADED)
def test_a_handler_loads_what_it_needs_and_nothing_else(function: str) -> None:
    packages, own_modules = LOADED[function]
    modules = loaded_by(function)
    own = [module for module in modules if module.split(".")[0] == "whatsapp_agent"]
    assert third_parties(modules) == packages
    assert len(own) == own_modules
    assert len(modules) - len(own) <= OTHERS[function]


def test_every_function_is_looked_at() -> None:
    assert {path.parent.name for path in (ROOT / "functions").glob("*/app.py")} == set(LOADED)
