"""What a turn asks of the database, with short and with long histories: the real functions on the emulator."""

from collections.abc import Mapping
from datetime import timedelta
from statistics import mean
from typing import Any

from tools.bench import changes, peers
from tools.bench.arriving import message, webhook_body
from tools.bench.deployment import Deployment, deployment
from tools.bench.grown import MINUTES, Grown
from tools.bench.talk import exchange
from whatsapp_agent.clock import utc_now

NAME = "database"
HISTORIES = (10, 100, 1_000, 10_000)
CYCLE = 11
"""Turns measured at each history: from one compaction to the next, so that every fill of the window counts."""

MOST_CHAIN, MOST_WRITE_UNITS, MOST_READ_UNITS = 5, 10, 10
FLAT = 0.10
SETTLED = 1_000
"""Messages by which the window is full and the facts are those of a person that one knows."""
_FIGURES = ("calls", "chain", "request_bytes", "response_bytes", "read_units", "write_units")


def measure() -> dict[str, Any]:
    """Counts ours and the peers' on one emulator."""
    with deployment() as deployed:
        ours = _ours(deployed)
        webhook = _webhook(deployed)
        others = peers.measure(deployed, HISTORIES)
        metrics = len(deployed.metrics)
    return {
        "turns_measured": CYCLE,
        "histories": ours,
        "webhook": webhook,
        "metrics": metrics,
        "peers": others,
    }


def check(figures: Mapping[str, Any]) -> None:
    """Raises AssertionError, with the figure, where a promise does not hold."""
    rows = figures["histories"]
    for history, row in rows.items():
        for name, most in (
            ("chain", MOST_CHAIN),
            ("write_units", MOST_WRITE_UNITS),
            ("read_units", MOST_READ_UNITS),
        ):
            assert row[f"{name}_most"] <= most, f"{name} at {history} messages: {row[f'{name}_most']} > {most}"
    # Up to there the window fills and facts are learned; what matters is that it ends.
    settled = [row for history, row in rows.items() if int(history) >= SETTLED]
    for name in _FIGURES:
        most = (1 + FLAT) * min(row[name] for row in settled)
        for history, row in rows.items():
            assert row[name] <= most, f"{name} grows: {row[name]} at {history} messages, {most:.0f} at most"


def _ours(deployed: Deployment) -> dict[str, Any]:
    rows = {}
    for place, history in enumerate(HISTORIES):
        grown = Grown(ending=utc_now() - timedelta(minutes=MINUTES), messages=history)
        person = f"+3460011100{place}"
        deployed.put(grown, person)
        deployed.cold()
        rows[str(history)] = _cycle(deployed, person, history // 2)
    return rows


def _cycle(deployed: Deployment, person: str, first: int) -> dict[str, Any]:
    turns, compactions, logged, sqs = [], [], [], len(deployed.sqs_calls)
    for number in range(first, first + CYCLE):
        deployed.meter.reset()
        deployed.logged = 0
        deployed.reply(message(number, exchange(number)[0], person))
        turns.append(_counted(deployed))
        logged.append(deployed.logged)
        deployed.meter.reset()
        deployed.logged = 0
        if deployed.compact():
            compactions.append({**_counted(deployed), "logged_bytes": deployed.logged})
    row: dict[str, Any] = {name: round(mean(turn[name] for turn in turns), 2) for name in _FIGURES}
    row |= {
        f"{name}_most": max(turn[name] for turn in turns) for name in ("chain", "read_units", "write_units")
    }
    row["logged_bytes"] = round(mean(logged))
    row["sqs_calls"] = deployed.sqs_calls[sqs:]
    row["compactions"] = compactions
    return row


def _counted(deployed: Deployment) -> dict[str, Any]:
    meter = deployed.meter
    return {
        "calls": len(meter.made),
        "chain": meter.longest_chain(),
        "request_bytes": sum(call.request_bytes for call in meter.made),
        "response_bytes": sum(call.response_bytes for call in meter.made),
        "read_units": meter.units["read"],
        "write_units": meter.units["write"],
    }


def _webhook(deployed: Deployment) -> dict[str, Any]:
    """One webhook with one message: what ingest asks of the queue, and what it logs."""
    before, deployed.logged = len(deployed.sqs_calls), 0
    answer = deployed.ingest(webhook_body())
    assert answer["statusCode"] == 200, answer
    return {"sqs_calls": deployed.sqs_calls[before:], "logged_bytes": deployed.logged}


def page(figures: Mapping[str, Any]) -> str:
    """The section of the page."""
    lines = [
        "## Database per turn",
        "",
        f"A text message and its reply through the real reply function on the emulator; means over {CYCLE} "
        "turns in a row, which is one whole cycle of compaction, after a history of so many messages that "
        "the product itself grew and compacted. Round trips are calls that follow one another, of the turn "
        "with the most; units go by AWS's rules.",
        "",
        "| messages before | calls | round trips | bytes sent | bytes received | read units | write units |",
        "|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [
        f"| {int(history):,} | {row['calls']:g} | {row['chain_most']} | {row['request_bytes']:,.0f} "
        f"| {row['response_bytes']:,.0f} | {row['read_units']:g} | {row['write_units']:g} |"
        for history, row in figures["histories"].items()
    ]
    compaction = [each for row in figures["histories"].values() for each in row["compactions"]]
    if compaction:
        lines += [
            "",
            f"Behind one turn in {CYCLE}, a compaction: {_mean(compaction, 'calls')} calls, "
            f"{_mean(compaction, 'read_units')} read and {_mean(compaction, 'write_units')} write units. "
            "Until the window is full and the facts are learned a turn takes less; from "
            f"{SETTLED:,} messages on no figure grows by more than {FLAT:.0%}. `make bench` fails where that "
            f"does not hold, or where a turn takes more than {MOST_CHAIN} round trips, {MOST_READ_UNITS} read "
            f"or {MOST_WRITE_UNITS} write units.",
        ]
    theirs = peers.page(figures["peers"]).splitlines()
    picture = "![Units of a turn by the length of the history](database.svg)"
    return "\n".join([*lines, "", *changes.table(changes.of(NAME)), "", *theirs, "", picture, ""])


def _mean(rows: list[dict[str, Any]], name: str) -> str:
    return f"{mean(row[name] for row in rows):.1f}"
