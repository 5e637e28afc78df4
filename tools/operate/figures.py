"""Commands with figures: stats, costs."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated

import typer

from tools.operate.deployment import Deployment
from tools.operate.session import session_of
from whatsapp_agent import prices
from whatsapp_agent.clock import to_iso
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Usage

Days = Annotated[
    int, typer.Option("--days", min=1, max=30, help="Of how many past days; turns are kept for 30.")
]

# Counted by tests/architecture/test_costs.py for a text turn of one part, rounded up; see docs/data-model.md.
WRITES_PER_TURN = 9
READS_PER_TURN = 9
# One to queue, one to take, one to delete.
REQUESTS_PER_TURN = 3
# 1 GB, two seconds of waiting for the model and a webhook of 512 MB; see docs/operations.md.
GB_SECONDS_PER_TURN = 2.1
INVOCATIONS_PER_TURN = 2

COMPACTION_METRICS = (
    "Compaction",
    "CompactionInputTokens",
    "CompactionCachedTokens",
    "CompactionOutputTokens",
)


@dataclass(frozen=True, slots=True)
class Cost:
    """One line of a bill: `amount` of `what`, and the dollars; None where no price is known."""

    what: str
    amount: float
    dollars: float | None
    counted: bool = True


def stats(context: typer.Context, days: Days = 7) -> None:
    """Show what is going on: turns by state, people, tokens, and what waits in which queue.

    It reads the tables of turns and of summaries once, which costs half a unit per 4 kB of them.
    """
    session = session_of(context)
    deployment, now = session.deployment, session.deployment.now()
    turns = recent(deployment, now - timedelta(days=days))
    states = Counter(turn.state for turn in turns)
    summaries = list(deployment.census.summaries())
    usage = used(turns)
    values = {
        "since": now - timedelta(days=days),
        "turns": len(turns),
        "turns_by_state": dict(sorted(states.items())),
        "people": len({turn.conversation for turn in turns}),
        "opted_out": sum(summary.opted_out_at is not None for summary in summaries),
        "paused": sum(summary.paused_until is not None and summary.paused_until > now for summary in summaries),
        "conversations_compacted": sum(summary.version > 0 for summary in summaries),
        "input_tokens": usage.input_tokens,
        "cached_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
        "cached_share": round(usage.cached_tokens / usage.input_tokens, 3) if usage.input_tokens else None,
        "waiting": {name: deployment.waiting(name) for name in deployment.dead_letters},
        "dead_letters": {name: queue.count() for name, queue in deployment.dead_letters.items()},
    }
    if session.output.as_json:
        session.output.document(values)
        return
    lines = {
        **values,
        **{name: _listed(values[name]) for name in ("turns_by_state", "waiting", "dead_letters")},
    }
    title = f"{deployment.name}, the last {days} day(s)"
    session.output.pairs(title, ((name.replace("_", " "), value) for name, value in lines.items()))


def costs(context: typer.Context, days: Days = 30) -> None:
    """Estimate what the past days cost, from counted tokens and turns and one dated list of prices.

    Reply tokens are those that the model's service counted, per turn. Compactions are counted by metrics (AWS
    only). Units of the database, requests and seconds are what a text turn takes, times the turns.
    """
    session = session_of(context)
    deployment, now = session.deployment, session.deployment.now()
    since = now - timedelta(days=days)
    turns = recent(deployment, since)
    lines = bill(turns, deployment.models, deployment.figures.sums(COMPACTION_METRICS, since, now))
    total = sum(line.dollars or 0.0 for line in lines)
    answered = sum(turn.reply_seq > 0 for turn in turns)
    values = {
        "since": to_iso(since),
        "prices_as_of": prices.AS_OF.isoformat(),
        "turns": len(turns),
        "replies": answered,
        "lines": [
            {"what": line.what, "amount": line.amount, "dollars": line.dollars, "counted": line.counted}
            for line in lines
        ],
        "total_dollars": total,
        "dollars_per_1000_replies": 1000 * total / answered if answered else None,
    }
    if session.output.as_json:
        session.output.document(values)
        return
    rows = [
        (line.what, f"{line.amount:,.0f}", _money(line.dollars), "" if line.counted else "by rule")
        for line in lines
    ]
    title = f"{deployment.name}, the last {days} day(s), prices of {prices.AS_OF}"
    session.output.table(title, ("what", "amount", "dollars", ""), rows)
    session.output.line(f"total {_money(total)} for {len(turns)} turns and {answered} replies")


def recent(deployment: Deployment, since: datetime) -> list[Turn]:
    """Every turn since a moment."""
    return [turn for turn in deployment.census.turns() if turn.created_at >= since]


def used(turns: list[Turn]) -> Usage:
    """The tokens of all replies."""
    return Usage(
        sum(turn.usage.input_tokens for turn in turns),
        sum(turn.usage.cached_tokens for turn in turns),
        sum(turn.usage.output_tokens for turn in turns),
    )


def bill(
    turns: list[Turn], models: dict[str, str] | object, compactions: dict[str, float] | None
) -> list[Cost]:
    """What the turns and compactions cost, line by line."""
    assert isinstance(models, dict)
    count = len(turns)
    found = _tokens("reply", models["reply"], used(turns))
    if compactions is not None:
        counted = [int(compactions.get(name, 0)) for name in COMPACTION_METRICS[1:]]
        found += _tokens("memory", models["memory"], Usage(*counted))
    return [
        *found,
        Cost(
            "database: units written",
            WRITES_PER_TURN * count,
            WRITES_PER_TURN * count * prices.DYNAMODB_WRITE,
            counted=False,
        ),
        Cost(
            "database: units read",
            READS_PER_TURN * count,
            READS_PER_TURN * count * prices.DYNAMODB_READ,
            counted=False,
        ),
        Cost(
            "queue: requests",
            REQUESTS_PER_TURN * count,
            REQUESTS_PER_TURN * count * prices.SQS_REQUEST,
            counted=False,
        ),
        Cost(
            "functions: GB-seconds",
            GB_SECONDS_PER_TURN * count,
            GB_SECONDS_PER_TURN * count * prices.LAMBDA_GB_SECOND
            + INVOCATIONS_PER_TURN * count * prices.LAMBDA_REQUEST,
            counted=False,
        ),
    ]


def _tokens(role: str, model: str, usage: Usage) -> list[Cost]:
    price = prices.model_price(model)
    plain = Usage(usage.input_tokens - usage.cached_tokens)
    parts = [
        ("input", plain.input_tokens, plain),
        ("cached input", usage.cached_tokens, Usage(usage.cached_tokens, usage.cached_tokens)),
        ("output", usage.output_tokens, Usage(output_tokens=usage.output_tokens)),
    ]
    return [
        Cost(f"{role} model {model}: {name} tokens", amount, price.dollars(part) if price else None)
        for name, amount, part in parts
    ]


def _listed(counts: object) -> str:
    assert isinstance(counts, dict)
    return ", ".join(f"{number} {name}" for name, number in counts.items())


def _money(dollars: float | None) -> str:
    return "no price known" if dollars is None else f"${dollars:,.6f}"
