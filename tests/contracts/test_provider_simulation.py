"""The simulated provider keeps to the contract: what it delivers is read by the real webhook adapters."""

import base64
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import urllib3

from tests.builders import PERSON
from tests.contracts.scripted_http import Scripted, scripted_server
from tests.contracts.simulation import ControlClient, connections, simulated_provider
from tools.local.simulated_provider.webhooks import Target
from whatsapp_agent.clock import from_iso, utc_now
from whatsapp_agent.errors import InvalidSignature, ProviderUnavailable, RecipientOptedOut
from whatsapp_agent.events import DeliveryStatus, InboundMessage, NumberReplaced, OutboundMessage

ROOT = Path(__file__).parents[2]
WHASP_SECRET = "whsec_" + base64.b64encode(b"secret of the simulation").decode()


@pytest.fixture
def webhook() -> Iterator[Scripted]:
    with scripted_server() as scripted:
        yield scripted


@pytest.fixture
def whasp(webhook) -> Iterator[ControlClient]:
    target = Target(f"{webhook.url}/webhooks/whasp?x=1", "abc.lambda-url.example", WHASP_SECRET)
    with simulated_provider(target=target, attempts=3, wait_seconds=0.01) as (_, url), connections() as pool:
        yield ControlClient(url, pool, webhook, WHASP_SECRET)


def test_a_text_is_delivered_signed_and_read_as_it_was_said(whasp):
    answer = whasp.post(
        "inbound", person="+34600111222", text="¿Qué tal? 🙂", contact_name="Maya", label="sales"
    )
    assert answer == {"deliveries": [{"event_id": "evt_000002", "status": 200, "attempts": 1}]}
    [event] = whasp.events()
    assert isinstance(event, InboundMessage)
    assert (event.text, event.person, event.number) == ("¿Qué tal? 🙂", "+34600111222", "+15550100")
    assert (event.contact_name, event.label, event.event_id) == ("Maya", "sales", "evt_000002")
    [asked] = whasp.webhook.asked
    assert asked.path == "/webhooks/whasp?x=1"
    assert asked.headers["host"] == "abc.lambda-url.example"


def test_the_body_has_the_fields_of_the_contract_and_no_others(whasp):
    whasp.post("inbound", text="hi", event_id="evt_7", sent_at="2026-11-08T09:00:00Z", contact_name="Maya")
    body = whasp.webhook.asked[0].json()
    assert set(body) == {"id", "type", "created_at", "data"}
    assert set(body["data"]) == {"number", "label", "chat", "contact", "message"}
    assert set(body["data"]["message"]) == {"id", "type", "sent_at", "text", "reply_to"}
    assert whasp.events()[0].sent_at == from_iso("2026-11-08T09:00:00Z")


def test_any_kind_of_message_can_be_written(whasp):
    voice = {"type": "voice", "media": {"id": "media_1", "mime_type": "audio/ogg", "size": 9}}
    whasp.post("inbound", message=voice)
    [event] = whasp.events()
    assert (event.kind, event.media.id) == ("voice", "media_1")
    assert "text" not in whasp.webhook.asked[0].json()["data"]["message"]


def test_an_event_can_come_several_times_and_out_of_order(whasp):
    messages = [{"text": f"text {n}"} for n in range(6)]
    answer = whasp.post("inbound", messages=messages, duplicates=1, shuffle=True, seed=4)
    ids = [event.event_id for event in whasp.events()]
    assert [one["event_id"] for one in answer["deliveries"]] == ids
    assert len(ids) == 12
    assert len(set(ids)) == 6
    assert ids != sorted(ids)


def test_duplicates_can_come_at_the_same_moment(whasp):
    whasp.post("inbound", text="hi", duplicates=4, concurrent=True)
    assert len(whasp.events()) == 5


def test_a_webhook_that_is_not_answered_with_2xx_is_delivered_again(whasp):
    whasp.webhook.answers = [(500, {}, b""), (503, {}, b"")]
    answer = whasp.post("inbound", text="hi")
    assert answer["deliveries"][0] == {"event_id": "evt_000002", "status": 200, "attempts": 3}
    assert len({event.event_id for event in whasp.events()}) == 1
    assert whasp.get("log")["deliveries"][0]["statuses"] == [500, 503, 200]


def test_a_webhook_that_never_answers_well_is_given_up(whasp):
    whasp.webhook.then = (401, {}, b"")
    assert whasp.post("inbound", text="hi")["deliveries"][0]["attempts"] == 3
    assert whasp.post("inbound", text="hi", attempts=1)["deliveries"][0]["attempts"] == 1
    whasp.post("webhook", url="http://127.0.0.1:1/")
    assert whasp.post("inbound", text="hi", attempts=1)["deliveries"][0]["status"] == 0


def test_an_unsigned_webhook_can_be_sent(whasp):
    whasp.post("inbound", text="hi", signed=False)
    with pytest.raises(InvalidSignature):
        whasp.events()


def test_the_webhook_can_be_set_after_the_start(webhook):
    with simulated_provider() as (_, url), connections() as pool:
        client = ControlClient(url, pool, webhook, WHASP_SECRET)
        assert "no webhook URL" in client.post("inbound", 400, text="hi")["error"]
        client.post("webhook", url=webhook.url, secret=WHASP_SECRET)
        client.post("inbound", text="hi")
        assert len(client.events()) == 1


def test_delivery_can_go_on_while_the_caller_does_not_wait(whasp):
    whasp.webhook.answers = [(500, {}, b"")]
    answer = whasp.post("inbound", 202, text="hi", wait=False)
    assert answer == {"deliveries": [{"event_id": "evt_000002"}]}


def test_a_replaced_number_is_announced_and_refuses_messages(whasp):
    whasp.post("replace_number", old="+15550100", new="+15550123", label="sales")
    [event] = whasp.events()
    assert isinstance(event, NumberReplaced)
    assert (event.old_number, event.new_number, event.label) == ("+15550100", "+15550123", "sales")
    whasp.sender().send(OutboundMessage("+15550100", PERSON, "hello", "key"))
    assert [m["number"] for m in whasp.get("sent")["messages"]] == ["+15550123"]


def test_stop_blocks_messages_until_the_person_writes_again(whasp):
    whasp.post("inbound", person=PERSON, text=" Stop. ")
    with pytest.raises(RecipientOptedOut):
        whasp.sender().send(OutboundMessage("+15550100", PERSON, "bye", "key-1"))
    whasp.post("inbound", person=PERSON, text="hi again")
    whasp.sender().send(OutboundMessage("+15550100", PERSON, "welcome back", "key-2"))
    assert [m["text"] for m in whasp.get("sent")["messages"]] == ["welcome back"]


def test_what_was_sent_can_be_listed_by_person(whasp):
    for n, person in enumerate([PERSON, "+34600999888", PERSON]):
        whasp.sender().send(OutboundMessage("+15550100", person, f"text {n}", f"key-{n}"))
    assert [m["text"] for m in whasp.get("sent?person=%2B34600111222")["messages"]] == ["text 0", "text 2"]
    assert [m["text"] for m in whasp.get("sent?person=34600111222&after=1")["messages"]] == ["text 2"]
    one = whasp.get("sent?number=%2B15550100")["messages"][1]
    assert {name: one[name] for name in ("id", "person", "number", "key")} == {
        "id": "msg_000002",
        "person": "+34600999888",
        "number": "+15550100",
        "key": "key-1",
    }
    assert from_iso(one["at"]) <= utc_now()
    assert whasp.get("log")["requests"] == {"POST /v1/messages": 3}


@pytest.mark.parametrize("drop", [False, True])
def test_an_answer_can_be_lost_after_the_message_was_taken(whasp, drop):
    whasp.post("fail", status=500, accept=True, drop=drop)
    with pytest.raises(ProviderUnavailable):
        whasp.sender().send(OutboundMessage("+15550100", PERSON, "hello", "key"))
    whasp.sender().send(OutboundMessage("+15550100", PERSON, "hello", "key"))
    assert len(whasp.get("sent")["messages"]) == 1


def test_a_scripted_failure_can_wait_and_repeat(whasp):
    whasp.post("fail", status=503, times=2, skip=1)
    results = []
    for n in range(4):
        try:
            results.append(bool(whasp.sender().send(OutboundMessage("+15550100", PERSON, "hi", f"key-{n}"))))
        except ProviderUnavailable:
            results.append(False)
    assert results == [True, False, False, True]


def test_a_failed_delivery_is_reported_for_the_message_that_was_sent(whasp):
    sent_id = whasp.sender().send(OutboundMessage("+15550100", PERSON, "hello", "key"))
    whasp.post("delivery_failed", id=sent_id, code="unreachable")
    [event] = whasp.events()
    assert isinstance(event, DeliveryStatus)
    assert (event.message_id, event.code, event.person) == (sent_id, "unreachable", PERSON)
    whasp.post("delivery_failed", 400, id="msg_unknown")


def test_media_are_served_until_they_are_gone(whasp):
    data = base64.b64encode(b"\x00OggS").decode()
    media_id = whasp.post("media", data=data, mime_type="audio/ogg")["id"]
    response = whasp.fetch(f"/v1/media/{media_id}")
    assert (response.status, response.data, response.headers["Content-Type"]) == (200, b"\x00OggS", "audio/ogg")
    assert whasp.fetch("/v1/media/other").status == 404
    assert whasp.fetch(f"/v1/media/{media_id}", key="wrong").status == 401


def test_a_reset_forgets_everything_but_never_repeats_an_id(whasp):
    whasp.post("inbound", text="one")
    whasp.sender().send(OutboundMessage("+15550100", PERSON, "hello", "key"))
    whasp.post("reset")
    assert whasp.get("sent")["messages"] == []
    whasp.post("inbound", text="two")
    ids = [event.event_id for event in whasp.events()]
    assert len(set(ids)) == 2


@pytest.mark.parametrize(
    ("action", "fields"),
    [
        ("inbound", {}),
        ("inbound", {"text": 7}),
        ("inbound", {"text": "hi", "duplicates": -1}),
        ("inbound", {"text": "hi", "provider": "sms"}),
        ("inbound", {"messages": "hi"}),
        ("inbound", {"message": "hi"}),
        ("replace_number", {"old": "+1"}),
        ("media", {"data": "not base64!"}),
        ("event", {}),
    ],
)
def test_a_wrong_control_request_is_told_what_is_wrong(whasp, action, fields):
    assert whasp.post(action, 400, **fields)["error"]
    assert whasp.webhook.asked == []


def test_any_event_can_be_delivered(whasp):
    whasp.post("event", event={"id": "evt_x", "type": "message.read", "data": {}}, duplicates=1)
    assert [asked.json()["id"] for asked in whasp.webhook.asked] == ["evt_x", "evt_x"]
    assert whasp.events() == []


def test_as_a_program_it_says_its_port_first_and_ends_when_told():
    command = [sys.executable, "-m", "tools.local.simulated_provider", "--port", "0", "--secret", "s"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            port = json.loads(process.stdout.readline())["port"]
            with urllib3.PoolManager() as pool:
                assert pool.request("GET", f"http://127.0.0.1:{port}/_control/health").status == 200
            with subprocess.Popen(
                [*command[:4], str(port)], cwd=ROOT, stderr=subprocess.PIPE, text=True
            ) as second:
                _, complaint = second.communicate(timeout=30)
            assert second.returncode == 1
            assert complaint.count("\n") == 1
        finally:
            process.terminate()
        assert process.wait(timeout=30) == 0
