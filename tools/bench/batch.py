"""Ten people in one batch: nobody waits for the others' model calls, and nobody's failure is anybody else's.

The real reply function over the emulator's tables, with a model behind HTTP that takes a second to answer.
"""

import json
import time
from collections.abc import Mapping, Sequence
from itertools import count
from statistics import median
from typing import Any

from tools.bench.arriving import message
from tools.bench.deployment import Deployment, deployment
from tools.bench.made_model import Refused
from whatsapp_agent.events import InboundMessage

NAME = "batch"

PEOPLE = 10
MODEL_SECONDS = 1.0
ROUNDS = 3
MOST_RATIO = 2.0
_NUMBERS = count(1)
UNANSWERABLE = "This one the model's service refuses."


def measure() -> dict[str, Any]:
    """Times as ratios within a round: the batch of ten, beside the slowest of ten batches of one."""
    with deployment(say=_say, held_up=0.0) as deployed:
        # The first invocation builds the function.
        deployed.replies([_said(0, "Hello!")])
        ratios, batches, slowest = [], [], []
        for _ in range(ROUNDS):
            alone = max(_seconds(deployed, [_said(person, "How are you?")]) for person in range(PEOPLE))
            together = _seconds(deployed, [_said(person, "And today?") for person in range(PEOPLE)])
            ratios.append(together / alone)
            batches.append(together)
            slowest.append(alone)
        asked = [_said(person, UNANSWERABLE if person == 3 else "Are you there?") for person in range(PEOPLE)]
        failed = deployed.replies(asked)
        answered = sum(deployed.state(each) == "sent" for each in asked)
    return {
        "people": PEOPLE,
        "model_seconds": MODEL_SECONDS,
        "rounds": ROUNDS,
        "batch_to_slowest_ratio": round(median(ratios), 2),
        "batch_to_model_ratio": round(median(batches) / MODEL_SECONDS, 2),
        "slowest_to_model_ratio": round(median(slowest) / MODEL_SECONDS, 2),
        "answered_beside_a_failure": answered,
        "records_returned": len(failed),
        "returned_is_the_failing_one": failed == [asked[3].event_id],
    }


def check(figures: Mapping[str, Any]) -> None:
    """Raises AssertionError, with the figure, where people wait for each other or fail with each other."""
    ratio = figures["batch_to_slowest_ratio"]
    assert ratio < MOST_RATIO, f"ten people take {ratio} × the slowest of them, {MOST_RATIO} at most"
    assert figures["answered_beside_a_failure"] == PEOPLE - 1, figures
    assert figures["returned_is_the_failing_one"], figures


def page(figures: Mapping[str, Any]) -> str:
    """The section of the page."""
    return f"""\
## Ten people in one batch

One invocation of the real reply function with the messages of {figures["people"]} people, over the emulator, \
with a model that takes {figures["model_seconds"]:g} s (medians of {figures["rounds"]} rounds).

| | time |
|---|---:|
| slowest person alone | {figures["slowest_to_model_ratio"]:.2f} × the model |
| all {figures["people"]} in one batch | {figures["batch_to_model_ratio"]:.2f} × the model |
| **batch by slowest** | **{figures["batch_to_slowest_ratio"]:.2f}** |

One after another they would take {figures["people"]}. Where the model fails one of them, \
{figures["answered_beside_a_failure"]} are answered and {figures["records_returned"]} record goes back to the \
queue. `make bench` fails from a ratio of {MOST_RATIO:g} on."""


def _say(body: dict[str, Any]) -> str:
    time.sleep(MODEL_SECONDS)
    if UNANSWERABLE in json.dumps(body["input"][-1]):
        raise Refused
    return "I am fine, thank you, and glad that you ask."


def _said(person: int, text: str) -> InboundMessage:
    return message(next(_NUMBERS), text, f"+3460011122{person}")


def _seconds(deployed: Deployment, messages: Sequence[InboundMessage]) -> float:
    began = time.monotonic()
    failed = deployed.replies(messages)
    assert not failed, f"{len(failed)} of {len(messages)} records went back"
    return time.monotonic() - began
