"""What the functions ask of the outside, counted in the real functions on the emulator: exact bounds, so that a
call more is noticed, and one less is written down.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import pytest

from tools.bench.arriving import message, webhook_body
from tools.bench.deployment import Deployment, deployment
from tools.bench.grown import MINUTES, Grown
from tools.bench.talk import exchange
from whatsapp_agent.clock import utc_now

pytestmark = pytest.mark.emulator
PEOPLE = count(1)
HELD_UP = 0.2
"""Seconds by which each call is held up, so that those side by side overlap on a busy machine, too."""
ATTEMPTS = 5


@pytest.fixture(scope="module")
def deployed(emulator: str) -> Iterator[Deployment]:
    with deployment(endpoint=emulator, held_up=HELD_UP) as made:
        yield made


def person_with(deployed: Deployment, messages: int) -> str:
    """Somebody with a history of so many messages, as the product itself would have grown and compacted it."""
    person = f"+346002220{next(PEOPLE):02}"
    deployed.put(Grown(messages, ending=utc_now() - timedelta(minutes=MINUTES)), person)
    return person


def counted(deployed: Deployment) -> dict[str, Any]:
    meter = deployed.meter
    found = {
        "calls": len(meter.made),
        "one after another": meter.longest_chain(),
        "read units": meter.units["read"],
        "write units": meter.units["write"],
    }
    meter.reset()
    return found


def cost(calls: int, one_after_another: int, read: float, write: float) -> dict[str, Any]:
    return {
        "calls": calls,
        "one after another": one_after_another,
        "read units": read,
        "write units": write,
    }


def least(measure: Callable[[], dict[str, Any]], one_after_another: int) -> dict[str, Any]:
    """Measures again where more calls came one after another than that. A machine that stalls tears apart calls
    that were made side by side, and never puts together what was not.
    """
    found = measure()
    for _ in range(ATTEMPTS - 1):
        if found["one after another"] <= one_after_another:
            break
        found = measure()
    return found


# The messages of a full window are two read units more than those of a new conversation.
@pytest.mark.parametrize(("history", "read"), [(10, 6.5), (1_000, 8.5)])
def test_a_text_turn(deployed: Deployment, history: int, read: float) -> None:
    def turn() -> dict[str, Any]:
        person = person_with(deployed, history)
        deployed.reply(message(1, exchange(1)[0], person))
        counted(deployed)
        deployed.reply(message(2, exchange(2)[0], person))
        return counted(deployed)

    assert least(turn, 5) == cost(9, 5, read, 9)


def test_five_messages_of_one_person_at_once(deployed: Deployment) -> None:
    def turn() -> dict[str, Any]:
        person = person_with(deployed, 10)
        deployed.reply(message(1, exchange(1)[0], person))
        counted(deployed)
        now = utc_now()
        burst = [
            replace(message(number, exchange(number)[0], person), sent_at=now + timedelta(seconds=number - 9))
            for number in range(2, 7)
        ]
        deployed.replies(burst)
        return counted(deployed)

    # Beside a turn's own calls, each further message is claimed, and the directory is asked about the last one.
    assert least(turn, 10) == cost(14, 10, 7, 33)


def test_five_people_at_once(deployed: Deployment) -> None:
    people = [person_with(deployed, 10) for _ in range(5)]
    deployed.replies([message(1, exchange(1)[0], person) for person in people])
    counted(deployed)
    deployed.replies([message(2, exchange(2)[0], person) for person in people])
    five = counted(deployed)
    # How the calls of different people fall together is up to the machine.
    assert five | {"one after another": 5} == cost(45, 5, 32.5, 45)


def test_a_compaction(deployed: Deployment) -> None:
    person, numbers = person_with(deployed, 38), count(1)
    deployed.sqs_calls.clear()
    while not any(call == "SendMessage" for call in deployed.sqs_calls):
        number = next(numbers)
        deployed.reply(message(number, exchange(number)[0], person))
    counted(deployed)
    assert deployed.compact() == 1
    assert counted(deployed) == cost(6, 6, 8, 32)


def test_a_webhook(deployed: Deployment) -> None:
    deployed.sqs_calls.clear()
    counted(deployed)
    assert deployed.ingest(webhook_body())["statusCode"] == 200
    assert deployed.sqs_calls == ["SendMessage"]
    assert counted(deployed)["calls"] == 0
