"""The use case: what is answered, what is queued, what is counted."""

import json
from collections.abc import Mapping
from datetime import datetime, timedelta

import pytest

from tests.fakes.queues import FakeTurnQueue
from tests.fakes.telemetry import RecordingTelemetry
from tests.unit.webhook_payloads import (
    NOW,
    encoded,
    env,
    signed_meta,
    signed_whasp,
    text,
    whasp_event,
)
from tools.local.sign_event import META_SECRET, WHASP_SECRET
from whatsapp_agent.errors import TransientError
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.ingest import HttpRequest, HttpResponse, Ingest
from whatsapp_agent.ports.provider import Delivery, Webhook
from whatsapp_agent.providers.meta.webhook import MetaWebhook
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook


class World:
    """One ingest use case and what it works with."""

    def __init__(self, webhook: Webhook, path: str) -> None:
        self.path = path
        self.queue = FakeTurnQueue(lambda: NOW)
        self.telemetry = RecordingTelemetry()
        self.ingest = Ingest(webhook, path, self.queue, self.telemetry, lambda: NOW)

    def post(self, body: bytes, headers: Mapping[str, str], path: str = "") -> HttpResponse:
        return self.ingest.handle(HttpRequest("POST", path or self.path, {}, headers, body))

    def get(self, query: Mapping[str, str]) -> HttpResponse:
        return self.ingest.handle(HttpRequest("GET", self.path, query))


def whasp(secret: str = WHASP_SECRET) -> World:
    return World(WhaspWebhook(secret), "/webhooks/whasp")


def meta(secret: str = META_SECRET, token: str = "token") -> World:
    return World(MetaWebhook(secret, token), "/webhooks/meta")


BODY = encoded(whasp_event())


def test_a_signed_message_is_queued_and_answered_with_200() -> None:
    world = whasp()
    assert world.post(BODY, signed_whasp(BODY)).status == 200
    (event,) = world.queue.events
    assert isinstance(event, InboundMessage)
    assert event.text == "hello"
    assert world.telemetry.counted("EventsQueued") == 1


def test_every_message_of_a_batch_is_queued_in_order() -> None:
    world, body = meta(), encoded(env(text(1, "a"), text(2, "b"), text(3, "c")))
    assert world.post(body, signed_meta(body)).status == 200
    assert [event.event_id for event in world.queue.events] == ["wamid.1", "wamid.2", "wamid.3"]


def test_a_body_of_megabytes_is_queued_whole() -> None:
    world, body = meta(), encoded(env(*(text(n, "x" * 5_700) for n in range(500))))
    assert len(body) > 2_900_000
    assert world.post(body, signed_meta(body)).status == 200
    assert len(world.queue.events) == 500


def test_the_same_request_twice_is_queued_once() -> None:
    world = whasp()
    for _ in range(5):
        assert world.post(BODY, signed_whasp(BODY)).status == 200
    assert len(world.queue.events) == 1


@pytest.mark.parametrize("queued", [0, 2])
def test_a_failing_queue_is_503_and_the_providers_retry_brings_everything(queued: int) -> None:
    world, body = meta(), encoded(env(text(1, "a"), text(2, "b"), text(3, "c")))
    world.queue.fail(queued=queued)
    assert world.post(body, signed_meta(body)).status == 503
    assert world.telemetry.counted("IngestFailed", reason="QueueUnavailable") == 1
    assert world.post(body, signed_meta(body)).status == 200
    assert [event.event_id for event in world.queue.events] == ["wamid.1", "wamid.2", "wamid.3"]


def test_what_is_passed_over_is_200_and_counted() -> None:
    world, body = meta(), encoded(env(text(1, " "), statuses=[{"id": "w", "status": "read"}]))
    assert world.post(body, signed_meta(body)).status == 200
    assert world.queue.events == []
    assert world.telemetry.counted("Ignored", reason="blank") == 1
    assert world.telemetry.counted("Ignored", reason="status.read") == 1


def test_a_failed_delivery_is_written_down_with_its_code() -> None:
    item = {"id": "wamid.X", "status": "failed", "recipient_id": "15550001111", "errors": [{"code": 131026}]}
    world, body = meta(), encoded(env(statuses=[item]))
    assert world.post(body, signed_meta(body)).status == 200
    (line,) = [line for line in world.telemetry.lines if line.event == "delivery_failed"]
    assert line.fields["code"] == "131026"


@pytest.mark.parametrize("secret", ["whsec_b3RoZXI=", "other"])
def test_a_wrong_signature_is_401_counted_and_queues_nothing(secret: str) -> None:
    world = whasp()
    assert world.post(BODY, signed_whasp(BODY, secret)).status == 401
    assert world.telemetry.counted("BadSignature") == 1
    assert world.queue.events == []


def test_an_unsigned_request_is_401() -> None:
    assert whasp().post(BODY, {}).status == 401
    assert meta().post(BODY, {}).status == 401


def test_a_signature_is_checked_before_the_body_is_read() -> None:
    assert whasp().post(b"{", {}).status == 401


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"\xff\xfe"])
def test_a_signed_body_that_is_no_json_object_is_400(body: bytes) -> None:
    world = whasp()
    assert world.post(body, signed_whasp(body)).status == 400
    assert world.telemetry.counted("BadPayload") == 1


@pytest.mark.parametrize("world", [whasp(""), meta("")])
def test_without_a_secret_nothing_is_believed_and_somebody_is_told(world: World) -> None:
    for headers in ({}, signed_whasp(BODY, "x"), signed_meta(BODY, "")):
        assert world.post(BODY, headers).status == 503
    assert world.queue.events == []
    assert world.telemetry.events("error") == ["misconfigured"] * 3


def test_only_the_configured_path_is_served() -> None:
    world = whasp()
    for path in ("/", "/webhooks/meta", "/webhooks/whasp/x", "/WEBHOOKS/WHASP", "//webhooks/whasp"):
        assert world.post(BODY, signed_whasp(BODY), path).status == 404
    assert world.post(BODY, signed_whasp(BODY), "/webhooks/whasp/").status == 200


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "OPTIONS", ""])
def test_other_methods_are_405(method: str) -> None:
    world = whasp()
    response = world.ingest.handle(HttpRequest(method, world.path, {}, signed_whasp(BODY), BODY))
    assert (response.status, response.headers["Allow"]) == (405, "GET, POST")
    assert world.queue.events == []


def test_a_handshake_answers_the_raw_challenge_without_any_signature() -> None:
    query = {"hub.mode": "subscribe", "hub.verify_token": "token", "hub.challenge": "1158"}
    assert meta().get(query) == HttpResponse(200, "1158")


@pytest.mark.parametrize("world", [whasp(), meta(), meta(token="")])
def test_a_wrong_handshake_is_403(world: World) -> None:
    query = {"hub.mode": "subscribe", "hub.verify_token": "", "hub.challenge": "1158"}
    assert world.get(query).status == 403
    assert world.telemetry.counted("BadHandshake") == 1


def test_no_refusal_repeats_anything_of_the_request() -> None:
    world = whasp()
    body = encoded({"secret-word": "xyzzy"})
    answers = [
        world.post(body, {"webhook-id": "xyzzy"}),
        world.post(b"xyzzy", signed_whasp(b"xyzzy")),
        world.post(body, {}, "/xyzzy"),
        world.get({"hub.challenge": "xyzzy"}),
    ]
    assert not any("xyzzy" in answer.body for answer in answers)


def test_no_line_holds_what_was_said_or_by_whom() -> None:
    world = whasp()
    body = encoded(whasp_event({"text": "xyzzy"}))
    world.post(body, signed_whasp(body))
    world.post(body, {})
    written = json.dumps([line.fields for line in world.telemetry.lines]) + str(world.telemetry.dimensioned)
    for private in ("xyzzy", "34600111222", "Maya", WHASP_SECRET):
        assert private not in written


class BrokenWebhook:
    """A webhook that raises what it is told to."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def handshake(self, query: Mapping[str, str]) -> str:
        raise self._error

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
        raise self._error

    def parse(self, body: bytes, now: datetime) -> Delivery:
        raise self._error


def test_secrets_that_cannot_be_read_are_503() -> None:
    world = World(BrokenWebhook(TransientError("throttled")), "/webhooks/whasp")
    assert world.post(BODY, {}).status == 503
    assert world.get({}).status == 503


def test_a_mistake_in_the_code_is_500_and_its_message_is_not_written() -> None:
    world = World(BrokenWebhook(RuntimeError("xyzzy said +34600111222")), "/webhooks/whasp")
    assert world.post(BODY, {}).status == 500
    (line,) = world.telemetry.lines
    assert line.fields["error"] == "RuntimeError"
    assert "test_ingest.py" in str(line.fields["place"])
    assert "xyzzy" not in str(line)


def test_a_message_that_waited_in_a_retry_for_days_is_taken() -> None:
    world, body = meta(), encoded(env(text(1, "hi", ts=str(int((NOW - timedelta(days=6)).timestamp())))))
    assert world.post(body, signed_meta(body)).status == 200
    assert len(world.queue.events) == 1
