"""Finds every call of a scenario, lets things go wrong at each, and counts what comes of it."""

import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.faults.deployment import Deployment
from tests.faults.front import failures_at
from tests.faults.people import bystanders
from tests.faults.scenarios import Scenario
from tests.faults.services import Call
from tests.faults.troubles import KILL_BEFORE, KILLS, Point, Trouble
from tests.faults.verify import Findings, state, verify

AMAZON = ("dynamodb", "sqs", "secretsmanager")
SDK_ATTEMPTS = 3
"""How often botocore sends a request, by the functions' settings."""


@dataclass
class Tally:
    """What came of a scenario's runs.

    Attributes:
        points: Places at which something could go wrong.
        failures: Each run that broke a promise, in words.
    """

    name: str
    points: int = 0
    runs: int = 0
    survived: int = 0
    lost: int = 0
    duplicated: int = 0
    doubled: int = 0
    in_window: int = 0
    failures: list[str] = field(default_factory=list)

    def add(self, what: str, findings: Findings) -> None:
        self.runs += 1
        self.survived += findings.good
        self.lost += findings.lost
        self.duplicated += findings.duplicated
        self.doubled += findings.doubled
        self.in_window += findings.in_window
        if not findings.good:
            counts = f"lost {findings.lost}, duplicated {findings.duplicated}, doubled {findings.doubled}"
            self.failures.append(f"{self.name}, {what}: {counts}; {'; '.join(findings.other)}")

    def include(self, other: "Tally") -> None:
        """Adds what another process has counted."""
        for name in ("points", *COUNTS):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.failures += other.failures

    def row(self) -> tuple[str | int, ...]:
        return (self.name, self.points or "", *(getattr(self, name) for name in COUNTS))


COUNTS = ("runs", "survived", "lost", "duplicated", "doubled", "in_window")


@dataclass(frozen=True)
class Found:
    """A scenario without trouble: its calls, and where it ends."""

    scenario: Scenario
    calls: tuple[tuple[Point, Call], ...]
    end: dict[str, Any]

    def kills(self) -> list[Trouble]:
        """Death before and after each call that changes something, and before the first of the reads that
        follow: whichever of those it is, the process leaves the same behind.
        """
        troubles: list[Trouble] = []
        reading = False
        for point, call in self.calls:
            if call.changes:
                troubles += [Trouble(point, kind) for kind in KILLS]
            elif not reading or point.invocation != troubles[-1].point.invocation:
                troubles.append(Trouble(point, KILL_BEFORE))
            reading = not call.changes
        return troubles

    def failures(self) -> list[Trouble]:
        """Each call failing once, and so often that the SDK gives up."""
        troubles = []
        for point, call in self.calls:
            for kind in failures_at(call):
                patient = call.service in AMAZON
                troubles += [
                    Trouble(point, kind, times) for times in ((1, 2 * SDK_ATTEMPTS) if patient else (1,))
                ]
        return troubles


class Campaign:
    """Runs scenarios on fresh deployments."""

    def __init__(self, fresh: Callable[..., Deployment]) -> None:
        self._fresh = fresh

    def find(self, scenario: Scenario) -> Found:
        """Plays the scenario without trouble.

        Raises:
            AssertionError: It does not keep the promises even then.
        """
        deployment, findings = self._play(scenario)
        assert findings.good, (scenario.name, findings)
        calls = [pair for run in deployment.runs for pair in zip(run.calls, run.asked, strict=True)]
        return Found(scenario, tuple(calls), state(deployment, scenario.expected))

    def kill(self, found: Found, troubles: Iterable[Trouble], tally: Tally) -> None:
        """Lets the process die at each of these; in the end everything is as if it had not."""
        for trouble in troubles:
            deployment, findings = self._play(found.scenario, trouble)
            if deployment.met != [trouble]:
                findings.other.append("this call was not reached")
            if self._ends_elsewhere(found, deployment):
                findings.other.append("the end is another one than without the crash")
            tally.add(str(trouble), findings)

    def kill_twice(self, found: Found, pairs: Iterable[tuple[Trouble, Trouble]], tally: Tally) -> None:
        """Lets the process die at one call, and at another one while it makes good for that."""
        for first, second in pairs:
            deployment, findings = self._play(found.scenario, first, second)
            if self._ends_elsewhere(found, deployment):
                findings.other.append("the end is another one than without the crashes")
            tally.add(f"{first}, then {second}", findings)

    def fail(self, found: Found, troubles: Iterable[Trouble], tally: Tally) -> None:
        """Lets calls fail; the promises hold, though people may be answered in other groups."""
        for trouble in troubles:
            deployment, findings = self._play(found.scenario, trouble)
            if not deployment.met:
                findings.other.append("this call was not reached")
            tally.add(str(trouble), findings)

    def _ends_elsewhere(self, found: Found, deployment: Deployment) -> bool:
        return found.scenario.same_end and state(deployment, found.scenario.expected) != found.end

    def _play(self, scenario: Scenario, *troubles: Trouble) -> tuple[Deployment, Findings]:
        deployment = self._fresh(scenario.provider, troubles)
        bystanders(deployment)
        scenario.prepare(deployment)
        before = deployment.aws.items()
        scenario.play(deployment)
        return deployment, verify(deployment, scenario.expected, before)


def pairs(found: Found, count: int, seed: int) -> Iterator[tuple[Trouble, Trouble]]:
    """Random pairs of crashes, the second in the invocation that follows the first."""
    chance = random.Random(seed)
    kills = found.kills()
    for _ in range(count):
        first, second = chance.choice(kills), chance.choice(kills)
        later = Point(first.point.invocation + 1, second.point.label, second.point.nth)
        yield first, Trouble(later, second.kind)


def sample(troubles: list[Trouble], count: int, seed: int) -> list[Trouble]:
    """So many of them, the same for the same seed, in order."""
    chosen = set(random.Random(seed).sample(range(len(troubles)), min(count, len(troubles))))
    return [trouble for index, trouble in enumerate(troubles) if index in chosen]
