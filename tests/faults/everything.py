"""What `make faults` does: each part tries everything that there is to try, and reports."""

import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context

from tests.faults.campaign import Campaign, Tally, pairs, sample
from tests.faults.deployment import laboratory
from tests.faults.mutations import HARMLESS, Suite, all_mutants, named_conditions
from tests.faults.processes import ROOT
from tests.faults.scenarios import SCENARIOS

PAIRS = 4
FAILURES = 16


@dataclass(frozen=True)
class Chunk:
    """A share of a scenario's work, for one process."""

    scenario: int
    part: int
    seed: int


@dataclass
class Report:
    """What a part has found."""

    lines: list[str] = field(default_factory=list)
    good: bool = True

    def add(self, good: bool, line: str) -> None:
        self.good &= good
        self.lines.append(line)


def crashes(seed: int, processes: int) -> Report:
    """Plays every scenario with something going wrong, in several processes."""
    chunks = [Chunk(index, part, seed) for index in range(len(SCENARIOS)) for part in range(3)]
    totals = [[Tally(scenario.name) for scenario in SCENARIOS] for _ in range(3)]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_work, chunk) for chunk in chunks]):
            chunk, tally = future.result()
            totals[chunk.part][chunk.scenario].include(tally)
            sys.stderr.write(f"{tally.name}: {tally.survived} of {tally.runs}\n")
    titles = (
        "the process dies before or after a call",
        f"it dies twice ({PAIRS} random pairs each, seed {seed})",
        f"a call fails, or its answer is lost (everywhere in the first; {FAILURES} of each other, seed {seed})",
    )
    report = Report()
    for title, tallies in zip(titles, totals, strict=True):
        report.lines += table(title, tallies)
        report.good &= not any(tally.failures for tally in tallies)
    return report


def _work(chunk: Chunk) -> tuple[Chunk, Tally]:
    scenario = SCENARIOS[chunk.scenario]
    tally = Tally(scenario.name)
    with laboratory() as fresh:
        campaign = Campaign(fresh)
        found = campaign.find(scenario)
        if chunk.part == 0:
            tally.points = len(found.calls)
            campaign.kill(found, found.kills(), tally)
        elif chunk.part == 1:
            campaign.kill_twice(found, pairs(found, PAIRS, chunk.seed), tally)
        else:
            failures = found.failures()
            some = failures if chunk.scenario == 0 else sample(failures, FAILURES, chunk.seed)
            campaign.fail(found, some, tally)
    return chunk, tally


def table(title: str, tallies: Sequence[Tally]) -> list[str]:
    head = (
        "scenario",
        "crash points",
        "runs",
        "survived",
        "lost",
        "stored twice",
        "replies doubled",
        "in the window",
    )
    rows = [tally.row() for tally in tallies]
    sums = (sum(int(row[column] or 0) for row in rows) for column in range(1, len(head)))
    rows.append(("all", next(sums) or "", *sums))
    widths = [max(len(str(row[column])) for row in [head, *rows]) for column in range(len(head))]
    lines = ["", title, ""]
    for row in [head, *rows]:
        first, *numbers = (str(cell) for cell in row)
        cells = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
        lines.append("  ".join([first.ljust(widths[0]), *cells]).rstrip())
    return lines + [f"FAILED {failure}" for tally in tallies for failure in tally.failures]


def conditions() -> Report:
    """Takes away each condition of the store's writes; tells which test notices."""
    report = Report(["", "without one condition of the store's writes, at least one test fails", ""])
    with Suite() as suite:
        sites = suite.sites()
        for name, text in named_conditions().items():
            places = sum(text in site.condition for site in sites)
            report.add(places > 0, f"{name}: {places or 'NO'} conditional writes are tested")
        for mutant in all_mutants(sites):
            killer = suite.judge(mutant, sites[mutant.site]).killer
            report.add(bool(killer), f"{mutant}\n    {killer.rpartition('::')[2] or 'NOBODY NOTICES'}")
        report.lines += [f"{mutant}\n    harmless: {reason}" for mutant, reason in HARMLESS.items()]
    return report


def states() -> Report:
    """Runs the state machine deeper than `make test` does."""
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "tests/faults/test_state_machine.py",
            "tests/faults/test_isolation.py",
        ],
        cwd=ROOT,
        env={**os.environ, "FAULTS": "deep"},
        capture_output=True,
        text=True,
        check=False,
    )
    return Report(["", "anything in any order, deeper", "", ran.stdout.rstrip()], ran.returncode == 0)
