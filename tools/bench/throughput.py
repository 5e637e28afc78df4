"""What a webhook and a text turn take of the processor, and where it goes.

The real functions. The emulator, the model and the provider are other processes, so the CPU time of this one is
that of the functions and of the clients that they speak through. What else the machine does is in it too, so it
is given as a multiple of a yardstick: one GetItem by a plain boto3 client in the same round.
"""

import cProfile
import multiprocessing
import pstats
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from tests.fakes.world import InlineExecutor
from tools.bench import changes
from tools.bench.arriving import message, webhook_body
from tools.bench.deployment import Deployment, deployment, model_and_provider
from tools.bench.talk import exchange

NAME = "throughput"

ROUNDS = 7
TURNS = 8
"""Turns, and webhooks, of one round."""
YARDSTICKS = 40
_PERSON = "+34600111555"
_FUNCTIONS = 6
"""Functions of the application that are named, those that take the most of their own."""

_Stats = Mapping[tuple[str, int, str], tuple[int, int, float, float, Mapping[tuple[str, int, str], Any]]]


def measure() -> dict[str, Any]:
    """CPU per webhook and per turn, as multiples of the yardstick, and the shares of each package."""
    numbers = count()
    # Everything in one thread: a profile sees one only.
    inline = patch("whatsapp_agent.bootstrap.reply.ThreadPoolExecutor", lambda **_: InlineExecutor())
    with _apart() as services, deployment(held_up=0.0, services=services) as deployed, inline:
        steps: dict[str, Callable[[], object]] = {
            "webhook": lambda: deployed.ingest(_webhook(next(numbers))),
            "turn": lambda: deployed.reply(_message(next(numbers))),
        }
        for step in steps.values():
            for _ in range(TURNS):
                step()
        rounds = [_round(deployed, steps) for _ in range(ROUNDS)]
        profiles = {name: _profile(step) for name, step in steps.items()}
        deployed.meter.reset()
        steps["turn"]()
        calls = len(deployed.meter.made)
    return {
        "rounds": ROUNDS,
        "database_calls_per_turn": calls,
        "yardstick_cpu_ms": round(1000 * median(each["yardstick"] for each in rounds), 2),
        **{
            name: {
                "cpu_ms": round(1000 * median(each[name] for each in rounds), 2),
                "yardstick_ratio": round(median(each[name] / each["yardstick"] for each in rounds), 1),
                "share_percent": packages_of(profiles[name]),
                "own_functions_percent": _largest_of_ours(profiles[name]),
            }
            for name in steps
        },
    }


def page(figures: Mapping[str, Any]) -> str:
    """The section of the page."""
    lines = [
        "## Processor time",
        "",
        "CPU of the real functions when they are warm, with everything outside in other processes, as a "
        f"multiple of one GetItem by a plain boto3 client (medians of {figures['rounds']} rounds; that took "
        f"{figures['yardstick_cpu_ms']:.1f} ms on the machine of this run). A turn makes "
        f"{figures['database_calls_per_turn']} calls to the database, and some to the model and the provider.",
        "",
        "| | × GetItem | where it goes, in percent |",
        "|---|---:|---|",
    ]
    for name in ("webhook", "turn"):
        shares = ", ".join(f"{package} {share}" for package, share in figures[name]["share_percent"].items())
        lines.append(f"| {name} | {figures[name]['yardstick_ratio']:.1f} | {shares} |")
    lines += ["", "The largest of the application's own functions, in percent of the whole:", ""]
    for name in ("webhook", "turn"):
        largest = ", ".join(f"`{one}` {share}" for one, share in figures[name]["own_functions_percent"].items())
        lines.append(f"- {name}: {largest}")
    return "\n".join([*lines, "", *changes.table(changes.of(NAME))])


def _round(deployed: Deployment, steps: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """CPU seconds of one of each."""
    client, key = deployed.dynamodb, {"conversation": {"S": "nobody"}}
    taken = {
        "yardstick": _cpu(lambda: client.get_item(TableName=deployed.tables["summaries"], Key=key), YARDSTICKS)
    }
    taken |= {name: _cpu(step, TURNS) for name, step in steps.items()}
    deployed.compact()
    return taken


def _cpu(step: Callable[[], object], times: int) -> float:
    began = time.process_time()
    for _ in range(times):
        step()
    return (time.process_time() - began) / times


def _profile(step: Callable[[], object]) -> _Stats:
    profile = cProfile.Profile(time.process_time)
    profile.enable()
    for _ in range(TURNS):
        step()
    profile.disable()
    stats: _Stats = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    return stats


def packages_of(stats: _Stats, least: int = 3) -> dict[str, int]:
    """Share of each package in percent, largest first, without those below `least`. What is built in counts for
    whoever calls it.
    """
    spent: Counter[str] = Counter()
    for (file, _, _), (_, _, own, _, callers) in stats.items():
        if file != "~":
            spent[_package(file)] += own  # type: ignore[assignment]
            continue
        for (caller, _, _), (_, _, share, _) in callers.items():
            spent[_package(caller)] += share
    total = sum(spent.values())
    shares = {name: round(100 * own / total) for name, own in spent.most_common()}
    return {name: share for name, share in shares.items() if share >= least}


def _largest_of_ours(stats: _Stats) -> dict[str, float]:
    """Functions of the application with the most time of their own, what is built in included."""
    spent: Counter[str] = Counter()
    for (file, _, name), (_, _, own, _, callers) in stats.items():
        if file != "~":
            spent[_own_name(file, name)] += own  # type: ignore[assignment]
            continue
        for (caller, _, called_by), (_, _, share, _) in callers.items():
            spent[_own_name(caller, called_by)] += share
    total = sum(spent.values())
    ours = [(name, round(100 * own / total, 1)) for name, own in spent.most_common() if name]
    return dict(ours[:_FUNCTIONS])


def _own_name(file: str, function: str) -> str:
    """`memory/prompt.reply_prompt`; empty for what is not the application's."""
    _, found, place = file.partition("/whatsapp_agent/")
    return f"{place.removesuffix('.py')}.{function}" if found else ""


def _package(file: str) -> str:
    parts = Path(file).parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1].removesuffix(".py")
    if "whatsapp_agent" in parts or "functions" in parts:
        return "application"
    if "bench" in parts or "tests" in parts:
        return "benchmark"
    return "standard library"


def _webhook(number: int) -> bytes:
    return webhook_body(number, exchange(number)[0], _PERSON)


def _message(number: int) -> Any:
    return message(number, exchange(number)[0], _PERSON)


@contextmanager
def _apart() -> Iterator[tuple[str, str]]:
    """The model and the provider in a process of their own; yields their addresses."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(there, sys.path), daemon=True)
    process.start()
    try:
        yield here.recv()
    finally:
        here.send("end")
        process.join(10)


def _serve(told: Connection, path: list[str]) -> None:
    sys.path[:] = path
    with model_and_provider() as addresses:
        told.send(addresses)
        told.recv()
