"""The simulated provider as Meta: what it delivers is read by the real webhook adapter."""

import base64
import json
from collections.abc import Iterator

import pytest

from tests.contracts.scripted_http import scripted_server
from tests.contracts.simulation import API_KEY, ControlClient, connections, simulated_provider
from tools.local.simulated_provider.webhooks import Target
from whatsapp_agent.events import OutboundMessage
from whatsapp_agent.providers.meta.api import MetaProvider

SECRET = "app-secret-of-the-simulation"


@pytest.fixture
def meta() -> Iterator[ControlClient]:
    with scripted_server() as webhook, connections() as pool:
        target = Target(f"{webhook.url}/webhooks/meta", "", SECRET)
        with simulated_provider(provider="meta", target=target) as (_, url):
            yield ControlClient(url, pool, webhook, SECRET)


def test_metas_envelope_is_signed_and_read_as_it_was_said(meta):
    meta.post("inbound", person="+34600111222", text="¿Qué tal? 🙂", contact_name="Maya")
    [event] = meta.events(1)
    assert (event.text, event.person, event.address) == ("¿Qué tal? 🙂", "+34600111222", "34600111222")
    assert (event.number, event.contact_name) == ("106540352242922", "Maya")
    assert b"\\u00bf" in meta.webhook.asked[0].body


def test_meta_can_put_several_messages_into_one_envelope(meta):
    people = ["+34600111222", "+34600111333"]
    messages = [{"text": f"text {n}", "person": people[n % 2]} for n in range(6)]
    meta.post("inbound", messages=messages, batch=True)
    assert len(meta.webhook.asked) == 1
    assert [event.text for event in meta.events(1)] == [f"text {n}" for n in range(6)]


def test_a_person_of_meta_may_have_no_phone(meta):
    meta.post("inbound", person="US.13491208655302741918", text="hi")
    [event] = meta.events(1)
    assert (event.person, event.address) == ("US.13491208655302741918", "US.13491208655302741918")


def test_meta_reports_a_failed_delivery(meta):
    with connections() as pool:
        message = OutboundMessage("106540352242922", "34600111222", "hi", "key")
        sent_id = MetaProvider(meta.url, API_KEY, pool=pool).send(message)
    meta.post("delivery_failed", id=sent_id, code="131026")
    [event] = meta.events(1)
    assert (event.message_id, event.code, event.person) == (sent_id, "131026", "+34600111222")


def test_meta_serves_a_medium_in_two_steps(meta):
    media_id = meta.post("media", data=base64.b64encode(b"bytes").decode(), mime_type="image/jpeg", id="99")[
        "id"
    ]
    about = json.loads(meta.fetch(f"/v26.0/{media_id}").data)
    assert about["file_size"] == 5
    assert meta.fetch(about["url"].removeprefix(meta.url)).data == b"bytes"
    assert meta.fetch("/v26.0/100").status == 400
