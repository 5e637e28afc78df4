"""Takes the conditions of the store's writes away one by one: the contract suite must notice each."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from tests.faults.conditions import Mutant, Site, mutants_of
from tests.faults.processes import ROOT
from whatsapp_agent.store import compaction, conditions

CONTRACTS = ROOT / "tests" / "contracts"
FAULTS = ROOT / "tests" / "faults"
STORE = ROOT / "layers" / "core" / "whatsapp_agent" / "store"
KEYS = re.compile(r"OF_.*|AFTER_SEQ|THROUGH_SEQ|WITH_PREFIX")
"""Constants of the store that say what to read, not when to write."""


HARMLESS = {
    Mutant(
        Site(
            "DynamoConversationStore.commit_compaction",
            "ConditionCheck summaries",
            compaction.NEVER_COMPACTED,
        ),
        conditions.ALIVE,
    ): "an expired item without a version: the facts are true, and the last transaction checks it again",
}
"""Conditions whose absence nobody could ever notice, and why."""


@dataclass(frozen=True)
class Verdict:
    """What the suite says to a mutant: the test that fails, or nothing."""

    mutant: Mutant
    killer: str
    ran: int


class Suite:
    """The contract suite on moto, in a process that forks for each run. Close it after use."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.suite_runner"],
            env={
                "PATH": os.environ.get("PATH", ""),
                "HOME": os.environ.get("HOME", "/"),
                "PYTHONPATH": os.pathsep.join([str(ROOT / "layers" / "core"), str(ROOT)]),
                "AWS_DEFAULT_REGION": "eu-west-1",
            },
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        assert json.loads(self._process.stdout.readline()) == {"ready": True}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(60)

    def sites(self, files: Sequence[str] = ()) -> dict[Site, list[str]]:
        """Every conditional write that the suite makes, and the tests that make it."""
        chosen = [CONTRACTS / name for name in files] or sorted(CONTRACTS.glob("test_store_*.py"))
        paths = [str(path) for path in (*chosen, *sorted(FAULTS.glob("test_store_*.py")))]
        answer = self._ask(arguments=[*paths, "-k", "moto"])
        assert answer["code"] == 0, answer["said"]
        return {
            Site(each["caller"], each["action"], each["condition"]): each["tests"] for each in answer["sites"]
        }

    def judge(self, mutant: Mutant, tests: Iterable[str]) -> Verdict:
        given = {
            "site": [mutant.site.caller, mutant.site.action, mutant.site.condition],
            "dropped": mutant.dropped,
        }
        answer = self._ask(arguments=list(tests), mutant=given)
        assert answer["code"] in (0, 1), answer["said"]
        return Verdict(mutant, answer["failed"][0] if answer["failed"] else "", answer["ran"])

    def _ask(self, **order: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def all_mutants(sites: Iterable[Site]) -> list[Mutant]:
    return [mutant for site in sorted(sites) for mutant in mutants_of(site) if mutant not in HARMLESS]


def named_conditions(folder: Path = STORE) -> dict[str, str]:
    """The store's named condition constants and their text, as `module.NAME`."""
    values: dict[str, str] = {}
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.py"), key=lambda path: (path.stem != "conditions", path.stem)):
        for node in ast.parse(path.read_text("utf-8")).body:
            if not (isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)):
                continue
            name, text = node.targets[0].id, _text(node.value, values)
            if name.isupper() and text and "#" in text and (":" in text or "(" in text):
                values[name] = text
                if not KEYS.fullmatch(name):
                    found[f"{path.stem}.{name}"] = text
    return found


def _text(node: ast.expr, known: dict[str, str]) -> str:
    """A text constant, or one that is put together from others."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else ""
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, known) for part in node.values)
    if isinstance(node, ast.FormattedValue) and isinstance(node.value, ast.Name):
        return known.get(node.value.id, "")
    return ""
