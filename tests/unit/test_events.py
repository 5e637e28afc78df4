"""Events survive the queue, and queues of an older or newer version are read or refused clearly."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW, inbound
from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.events import (
    DeliveryStatus,
    Erase,
    Event,
    Media,
    NumberReplaced,
    OptOut,
    PersonChangedNumber,
    decode,
    encode,
    group_of,
)

EVENTS: list[Event] = [
    inbound(),
    inbound(text="", kind="image", media=Media("m1", "image/jpeg", 12, "a.jpg")),
    inbound(reply_to="m0", target_id="m1", contact_name="Zoë", label="sales", alias="US.1349"),
    NumberReplaced("e1", "+15550100", "+15550123", NOW, "sales"),
    PersonChangedNumber("e2", "+34600111222", "+34600111333", "+15550100", NOW),
    OptOut("e3", "+34600111222", "+15550100", NOW),
    Erase("e4", "sales", "+34600111222", NOW),
    DeliveryStatus("e5", "+34600111222", "+15550100", "m1", "failed", NOW, "131026"),
]


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: event.kind_name)
def test_an_event_comes_out_of_the_queue_as_it_went_in(event: Event) -> None:
    assert decode(encode(event)) == event


@given(
    st.text(st.characters(exclude_categories=("Cs",))),
    st.datetimes(min_value=datetime(2009, 1, 1), max_value=datetime(2200, 1, 1)),
)
def test_any_text_and_any_time_come_out_as_they_went_in(text: str, sent_at: datetime) -> None:
    milliseconds = sent_at.replace(microsecond=sent_at.microsecond // 1000 * 1000, tzinfo=UTC)
    event = inbound(text=text, sent_at=milliseconds)
    assert decode(encode(event)) == event


def test_a_field_of_a_later_version_is_passed_over() -> None:
    body = json.loads(encode(inbound()))
    assert decode(json.dumps({**body, "mood": "sunny", "kind_name": "x"})) == inbound()
    media = {"id": "m1", "sha256": "abc"}
    assert decode(json.dumps({**body, "media": media})) == inbound(media=Media("m1"))


def test_an_empty_text_or_id_comes_out_of_the_queue_empty() -> None:
    event = inbound(text="", number="", message_id="")
    assert decode(encode(event)) == event


def test_a_newer_schema_is_refused_with_what_to_do() -> None:
    body = json.loads(encode(inbound()))
    with pytest.raises(InvalidPayload, match="deploy the newer version"):
        decode(json.dumps({**body, "v": 2}))


@pytest.mark.parametrize(
    "change",
    [
        {"sent_at": "soon"},
        {"sent_at": 5},
        {"received_at": None},
        {"media": {"size": 1}},
        {"media": {"id": "a", "size": 1}, "person": None, "sent_at": "x"},
    ],
)
def test_a_wrong_field_is_an_invalid_payload_that_quotes_nothing(change: dict[str, Any]) -> None:
    body = {**json.loads(encode(inbound(text="xyzzy"))), **change}
    with pytest.raises(InvalidPayload) as caught:
        decode(json.dumps(body))
    assert "xyzzy" not in str(caught.value)


def test_a_missing_field_is_an_invalid_payload() -> None:
    body = json.loads(encode(inbound()))
    del body["person"]
    with pytest.raises(InvalidPayload):
        decode(json.dumps(body))


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", "5", "{}", '{"v":1}', '{"v":1,"event":"party"}', '{"v":1,"event":[]}']
)
def test_what_is_no_event_is_an_invalid_payload(body: str) -> None:
    with pytest.raises(InvalidPayload):
        decode(body)


def test_events_of_one_person_are_one_group_and_a_numbers_events_are_its_own() -> None:
    assert {group_of(event) for event in EVENTS} == {"+34600111222", "+15550100"}
