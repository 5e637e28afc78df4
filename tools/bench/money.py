"""Dollars per million messages, by part: the counts of the other sections times the prices of one day."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from statistics import mean
from typing import Any

from tools.bench.grown import MODEL, ROOT
from tools.local.template import load_template
from whatsapp_agent import prices
from whatsapp_agent.prices import MILLION, MODELS

NAME = "money"
NEEDS = ("database", "prompt")
MANAGED = Path(__file__).with_name("managed.toml")

# What no benchmark on one machine can count. The page says so.
ASSUMED = {
    "seconds_of_waiting_for_the_model": 2.0,
    "other_seconds_of_reply": 0.15,
    "seconds_of_ingest": 0.05,
    "seconds_of_compaction": 6.0,
    "platform_log_bytes_per_invocation": 350,
    "gpt_reasoning_tokens": 0,
}

Line = dict[str, Any]


def measure(database: Mapping[str, Any], prompt: Mapping[str, Any]) -> dict[str, Any]:
    """Figures from those of the two sections."""
    per_turn = 1 / prompt["turns_per_compaction"]
    settled = database["histories"]["1000"]
    compactions = [each for row in database["histories"].values() for each in row["compactions"]]
    lines = [
        *_model(prompt, per_turn),
        *_database(settled, compactions, per_turn),
        *_functions(database, settled, compactions, per_turn),
    ]
    total = round(sum(line["dollars"] for line in lines), 2)
    ours = prompt["layouts"]["ours"]
    colder = 1000 * (ours["cold_dollars_per_1000_turns"] - ours["input_dollars_per_1000_turns"])
    memory = round(sum(line["dollars"] for line in lines if line["memory"]), 2)
    return {
        "prices_as_of": prices.AS_OF.isoformat(),
        "model": MODEL,
        "assumed": ASSUMED,
        "lines": lines,
        "total_dollars": total,
        "cold_total_dollars": round(total + colder, 2),
        "memory_dollars": memory,
        "reasoning_dollars_per_100_tokens": round(100 * MODELS[MODEL].output, 2),
        "metrics": database["metrics"],
        "metrics_dollars_per_month": round(max(0, database["metrics"] - 10) * prices.METRIC_MONTH, 2),
        "managed": [_managed(service) for service in tomllib.loads(MANAGED.read_text("utf-8"))["service"]],
    }


def _line(part: str, what: str, amount: float, price: float, *, memory: bool = False) -> Line:
    """One line; `price` in dollars for one. `memory`: it would be there for memory's sake alone."""
    return {
        "part": part,
        "what": what,
        "per_message": round(amount, 3),
        "dollars": round(amount * price * MILLION, 2),
        "memory": memory,
    }


def _model(prompt: Mapping[str, Any], per_turn: float) -> list[Line]:
    price, ours = MODELS[MODEL], prompt["layouts"]["ours"]
    read, written = prompt["compaction_input_tokens"], prompt["compaction_output_tokens"]
    compaction = (read * price.input + written * price.output) / (read + written)
    return [
        _line("Model", "input tokens, plain", ours["plain_tokens_mean"], price.input / MILLION),
        _line(
            "Model",
            "input tokens, cached anew",
            ours["written_tokens_mean"],
            price.cache_write / MILLION,
        ),
        _line("Model", "input tokens, from the cache", ours["cached_tokens_mean"], price.cached / MILLION),
        _line("Model", "output tokens", prompt["reply_output_tokens"], price.output / MILLION),
        _line("Model", "tokens of compactions", (read + written) * per_turn, compaction / MILLION, memory=True),
        _line("Model", "tokens of embeddings (no documents, no episodes, up to 30 facts)", 0, 0.0),
    ]


def _database(settled: Mapping[str, Any], compactions: list[dict[str, Any]], per_turn: float) -> list[Line]:
    units = {
        kind: settled[kind] + per_turn * mean(each[kind] for each in compactions)
        for kind in ("write_units", "read_units")
    }
    return [
        _line("DynamoDB", "units written", units["write_units"], prices.DYNAMODB_WRITE, memory=True),
        _line("DynamoDB", "units read", units["read_units"], prices.DYNAMODB_READ, memory=True),
    ]


def _functions(
    database: Mapping[str, Any], settled: Mapping[str, Any], compactions: list[dict[str, Any]], per_turn: float
) -> list[Line]:
    gigabytes = _gigabytes()
    waited = ASSUMED["seconds_of_waiting_for_the_model"]
    # Queue, take, delete: of a message that comes alone.
    requests = len(database["webhook"]["sqs_calls"]) + 2 + 3 * per_turn
    invocations = 2 + per_turn
    own = gigabytes["ReplyFunction"] * ASSUMED["other_seconds_of_reply"]
    own += gigabytes["IngestFunction"] * ASSUMED["seconds_of_ingest"]
    compacting = gigabytes["CompactFunction"] * ASSUMED["seconds_of_compaction"] * per_turn
    logged = database["webhook"]["logged_bytes"] + settled["logged_bytes"]
    logged += per_turn * mean(each["logged_bytes"] for each in compactions)
    logged += invocations * ASSUMED["platform_log_bytes_per_invocation"]
    gb_second = prices.LAMBDA_GB_SECOND
    return [
        _line("SQS", "requests", requests, prices.SQS_REQUEST),
        _line("Lambda", "requests", invocations, prices.LAMBDA_REQUEST),
        _line("Lambda", "GB-seconds of waiting for the model", gigabytes["ReplyFunction"] * waited, gb_second),
        _line("Lambda", "GB-seconds of work", own, gb_second),
        _line("Lambda", "GB-seconds of compactions", compacting, gb_second, memory=True),
        _line("CloudWatch", "bytes of logs", logged, prices.LOG_GB / 1e9),
    ]


def _gigabytes() -> dict[str, float]:
    template = load_template(ROOT / "template.yaml")
    default = template["Globals"]["Function"]["MemorySize"]
    functions = ("IngestFunction", "ReplyFunction", "CompactFunction")
    resources = template["Resources"]
    return {name: resources[name]["Properties"].get("MemorySize", default) / 1024 for name in functions}


def _managed(service: Mapping[str, Any]) -> dict[str, Any]:
    parts = service["per_message"]
    dollars = sum(part["amount"] * part["dollars"] for part in parts)
    return {
        "name": service["name"],
        "dollars": round(dollars * MILLION, 2),
        "parts": [
            f"{part['amount']} {part['what']} at ${part['dollars']:g}" for part in service["per_message"]
        ],
        "note": service["note"],
        "source": service["source"],
        "read_on": service["read_on"].isoformat(),
    }


def page(figures: Mapping[str, Any]) -> str:
    """The section of the page."""
    assumed = figures["assumed"]
    lines = [
        "## Money",
        "",
        "Dollars per million messages of people, each answered, in conversations that have gone on for "
        f"long, at list prices of {figures['prices_as_of']} (us-east-1, arm64, {figures['model']}; "
        "`layers/core/whatsapp_agent/prices.py`). Tokens, units, requests and bytes are those counted "
        f"above. Assumed are {assumed['seconds_of_waiting_for_the_model']:g} s of waiting for the model, "
        f"{assumed['other_seconds_of_reply']:g} s of other work in a reply, {assumed['seconds_of_ingest']:g} "
        f"s of ingest, {assumed['seconds_of_compaction']:g} s for a compaction, messages that come alone, "
        "a prompt cache that lasts from one turn to the next, and no reasoning tokens: each 100 of those per "
        f"reply are ${figures['reasoning_dollars_per_100_tokens']:g} more.",
        "",
        "| part | | per message | $ per million |",
        "|---|---|---:|---:|",
    ]
    lines += [
        f"| {line['part']} | {line['what']} | {line['per_message']:,.10g} | {line['dollars']:,.2f} |"
        for line in figures["lines"]
    ]
    lines += [
        f"| **all** | | | **{figures['total_dollars']:,.2f}** |",
        f"| all, where every message finds the prompt cache empty | | | {figures['cold_total_dollars']:,.2f} |",
        "",
        f"Of these, ${figures['memory_dollars']:,.2f} are there for memory: the database, and compactions. "
        f"Beside, the {figures['metrics']} metrics of ordinary talk cost "
        f"${figures['metrics_dollars_per_month']:g} in a month in which all of it is in use every hour, and "
        "there are README's fixed costs. What the provider asks for messages is not in it.",
        "",
        "| managed | $ per million messages | for | read on |",
        "|---|---:|---|---|",
    ]
    lines += [
        f"| [{each['name']}]({each['source']}) | {each['dollars']:,.0f} "
        f"| {', '.join(each['parts'])}; {each['note']} | {each['read_on']} |"
        for each in figures["managed"]
    ]
    lines += [
        "",
        "Mem0 and Zep are left out: no list price of theirs could be read from where this was written.",
        "",
        "![Dollars per million messages by part](money.svg)",
        "",
    ]
    return "\n".join(lines)
