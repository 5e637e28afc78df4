"""Payloads of any shape, signed: every one is answered, and what is queued can be read again."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.fakes.queues import FakeTurnQueue
from tests.fakes.telemetry import RecordingTelemetry
from tests.unit.webhook_payloads import (
    NOW,
    encoded,
    env,
    signed_meta,
    signed_whasp,
    text,
    typed,
    whasp_event,
)
from tools.local.sign_event import META_SECRET, WHASP_SECRET
from whatsapp_agent.events import InboundMessage, decode, encode
from whatsapp_agent.ingest import HttpRequest, HttpResponse, Ingest
from whatsapp_agent.providers.meta.webhook import MetaWebhook
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook

WHASP_TYPES = [
    "text",
    "voice",
    "audio",
    "image",
    "video",
    "document",
    "sticker",
    "location",
    "contacts",
    "reaction",
    "button",
    "list",
    "edited",
    "deleted",
]
META_TYPES = [
    "text",
    "audio",
    "image",
    "video",
    "document",
    "sticker",
    "location",
    "contacts",
    "reaction",
    "button",
    "interactive",
    "edit",
    "revoke",
    "order",
    "system",
    "unsupported",
    "unknown",
    "request_welcome",
]
NAMES = [
    "id",
    "type",
    "data",
    "message",
    "messages",
    "statuses",
    "contacts",
    "chat",
    "number",
    "text",
    "body",
    "from",
    "from_user_id",
    "wa_id",
    "user_id",
    "profile",
    "name",
    "phones",
    "phone",
    "media",
    "caption",
    "latitude",
    "longitude",
    "emoji",
    "message_id",
    "title",
    "interactive",
    "nfm_reply",
    "response_json",
    "timestamp",
    "sent_at",
    "errors",
    "code",
    "metadata",
    "value",
    "changes",
    "entry",
    "object",
    "field",
    "status",
    "system",
    "context",
    "reply_to",
]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=20)
    | st.sampled_from(
        ["+34600111222", "US.1349", "failed", "message.received", "../x", "1e999", "2026-13-45", "\ud83d"]
    )
    | st.sampled_from(WHASP_TYPES + META_TYPES)
)
anything = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=20,
)
PROFILE = settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True
)


def answered(provider: str, payload: Any) -> tuple[HttpResponse, FakeTurnQueue]:
    body = json.dumps(payload).encode()
    queue, telemetry = FakeTurnQueue(lambda: NOW), RecordingTelemetry()
    if provider == "whasp":
        webhook: Any = WhaspWebhook(WHASP_SECRET)
        headers = signed_whasp(body)
    else:
        webhook, headers = MetaWebhook(META_SECRET, "t"), signed_meta(body)
    ingest = Ingest(webhook, f"/webhooks/{provider}", queue, telemetry, lambda: NOW)
    return ingest.handle(HttpRequest("POST", f"/webhooks/{provider}", {}, headers, body)), queue


def check(provider: str, payload: Any) -> None:
    response, queue = answered(provider, payload)
    assert response.status == (200 if isinstance(payload, dict) else 400)
    for event in queue.events:
        assert decode(encode(event)) == event
        encode(event).encode()
        assert event.event_id
        assert len(event.event_id) <= 300
        if isinstance(event, InboundMessage):
            assert event.person
            assert len(event.text) <= 60_000
            assert event.sent_at <= event.received_at


@pytest.mark.parametrize("provider", ["whasp", "meta"])
@PROFILE
@given(payload=anything)
def test_any_payload_is_answered(provider: str, payload: Any) -> None:
    check(provider, payload)


@PROFILE
@given(kind=st.sampled_from(WHASP_TYPES) | scalars, fields=st.dictionaries(st.sampled_from(NAMES), anything))
def test_any_content_of_a_whasp_message_is_answered(kind: Any, fields: dict[str, Any]) -> None:
    check("whasp", whasp_event({**fields, "type": kind}))


@PROFILE
@given(
    fields=st.dictionaries(st.sampled_from(NAMES), anything),
    kind=st.sampled_from(["message.failed", "number.replaced"]),
)
def test_any_data_of_a_whasp_event_is_answered(fields: dict[str, Any], kind: str) -> None:
    payload = whasp_event()
    check("whasp", {**payload, "type": kind, "data": {**payload["data"], **fields}})


@PROFILE
@given(
    kind=st.sampled_from(META_TYPES), content=anything, fields=st.dictionaries(st.sampled_from(NAMES), anything)
)
def test_any_content_of_a_meta_message_is_answered_and_costs_no_other(
    kind: str, content: Any, fields: dict[str, Any]
) -> None:
    bad = {**typed(kind, content), **fields}
    payload = env(text("first", "a"), bad, text("last", "b"))
    check("meta", payload)
    _, queue = answered("meta", payload)
    found = [event.event_id for event in queue.events]
    assert {"wamid.first", "wamid.last"} <= set(found)


@PROFILE
@given(statuses=anything, contacts=anything, metadata=anything)
def test_any_surroundings_of_a_meta_message_cost_nothing(statuses: Any, contacts: Any, metadata: Any) -> None:
    payload = env(text("good", "a"), statuses=statuses, contacts=contacts, metadata=metadata)
    check("meta", payload)
    _, queue = answered("meta", payload)
    assert "wamid.good" in {event.event_id for event in queue.events}


@PROFILE
@given(body=st.binary(max_size=60))
def test_any_bytes_are_answered(body: bytes) -> None:
    ingest = Ingest(
        WhaspWebhook(WHASP_SECRET), "/w", FakeTurnQueue(lambda: NOW), RecordingTelemetry(), lambda: NOW
    )
    assert ingest.handle(HttpRequest("POST", "/w", {}, signed_whasp(body), body)).status in (200, 400)


def test_the_builders_make_what_providers_send() -> None:
    check("whasp", whasp_event())
    check("meta", env(text(1, "a")))
    assert encoded(env())
