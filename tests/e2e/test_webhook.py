"""A webhook over real HTTP, and what comes of it."""

import json

import pytest

from tests.e2e.watching import idle
from tools.local import http_json
from tools.local.sign import signed_request


def test_a_signed_message_gets_200_and_its_reply_reaches_the_provider(talk, person):
    body, headers = signed_request(talk.info, person, "Hola, me llamo Maya.")
    status, _ = http_json.send("POST", talk.info.webhook_url, body, headers)
    assert status == 200
    (reply,) = talk.wait_for_reply(person, already=0)
    assert reply["number"] == talk.info.number
    assert reply["text"].strip()


def test_the_same_event_five_times_is_answered_once(talk, person):
    body, headers = signed_request(talk.info, person, "¿Me oyes?")
    statuses = [http_json.send("POST", talk.info.webhook_url, body, headers)[0] for _ in range(5)]
    assert statuses == [200] * 5
    assert talk.wait_until_answered(person, [json.loads(body)["id"]])
    assert idle(talk)
    assert len(talk.received(person)) == 1
    assert len([message for message in talk.remembered(person).messages if message.role == "user"]) == 1


def test_a_redelivery_after_the_reply_sends_nothing_twice(talk, person):
    (first,) = talk.write(person, "Hola")
    assert talk.wait_until_answered(person, [first["event_id"]])
    talk.write(person, "Hola", event_id=first["event_id"])
    assert idle(talk)
    assert len(talk.received(person)) == 1


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_an_unsigned_request_is_refused_and_leaves_nothing(talk, person, missing):
    body, headers = signed_request(talk.info, person, "Hola")
    unsigned = {name: value for name, value in headers.items() if name != missing}
    status, answer = http_json.send("POST", talk.info.webhook_url, body, unsigned)
    assert status == 401
    assert b"Hola" not in answer
    assert talk.turn_states(person) == {}


def test_a_changed_body_is_refused(talk, person):
    body, headers = signed_request(talk.info, person, "Hola")
    status, _ = http_json.send("POST", talk.info.webhook_url, body.replace(b"Hola", b"Olas"), headers)
    assert status == 401


def test_three_quick_messages_are_answered_once(talk, person):
    deliveries = talk.write(person, "Hola", "soy Maya", "¿qué tal?")
    assert talk.wait_until_answered(person, [delivery["event_id"] for delivery in deliveries])
    assert idle(talk)
    assert len(talk.received(person)) == 1


def test_another_path_is_not_found(talk):
    assert http_json.send("POST", f"{talk.info.gateway_url}/webhooks/other", b"{}", {})[0] == 404
