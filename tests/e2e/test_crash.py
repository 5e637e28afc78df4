"""What breaks in the middle is done again, once."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.e2e.watching import idle, reply_inputs, waiting_in, workers_of
from tools.local.clients import client
from tools.local.talk import Talk, poll


@pytest.fixture
def calm_model(talk: Talk) -> Iterator[None]:
    yield
    talk.model_control("reset", {})


@contextmanager
def redelivery_after(talk: Talk, seconds: int) -> Iterator[None]:
    """Hands a crashed function's messages out again after seconds instead of minutes."""
    sqs = client("sqs", talk.info.endpoint)
    url = talk.info.outputs["InboundQueueUrl"]
    before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["VisibilityTimeout"])["Attributes"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": str(seconds)})
    try:
        yield
    finally:
        sqs.set_queue_attributes(QueueUrl=url, Attributes=before)


def messages_of(talk: Talk, person: str, role: str) -> int:
    return len([message for message in talk.remembered(person).messages if message.role == role])


@pytest.mark.usefixtures("calm_model")
def test_a_reply_function_killed_while_the_model_thinks_answers_once(talk, person):
    mark = f"Hola ({person})"
    with redelivery_after(talk, 8):
        talk.model_control("delay", {"seconds": 4})
        (delivery,) = talk.write(person, mark)
        assert poll(lambda: reply_inputs(talk, mark), 60), "the model was never asked"
        killed = workers_of(talk, "ReplyFunction")
        assert killed
        for process in killed:
            os.kill(process, signal.SIGKILL)
        talk.model_control("delay", {"seconds": 0})
        assert talk.received(person) == []
        assert talk.wait_until_answered(person, [delivery["event_id"]])
        assert idle(talk)
    assert len(talk.received(person)) == 1
    assert (messages_of(talk, person, "user"), messages_of(talk, person, "assistant")) == (1, 1)


@pytest.mark.usefixtures("calm_model")
def test_a_model_that_fails_for_a_while_is_asked_again_and_answers_once(talk, person):
    talk.model_control("fail", {"status": 503, "times": 2})
    (delivery,) = talk.write(person, "Hola")
    assert talk.wait_until_answered(person, [delivery["event_id"]], seconds=150)
    assert idle(talk)
    assert len(talk.received(person)) == 1
    assert messages_of(talk, person, "user") == 1


def test_a_provider_that_fails_after_taking_the_message_gets_it_once(talk, person):
    talk.control("fail", {"status": 503, "times": 1, "accept": True})
    (delivery,) = talk.write(person, "Hola")
    assert talk.wait_until_answered(person, [delivery["event_id"]], seconds=150)
    assert idle(talk)
    assert len(talk.received(person)) == 1


def test_nothing_was_given_up(talk):
    assert waiting_in(talk, "InboundDeadLetterQueueUrl") == 0
    assert waiting_in(talk, "CompactionDeadLetterQueueUrl") == 0
