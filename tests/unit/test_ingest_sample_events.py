"""`events/ingest-*.json`: what the script writes, and what the function says to them."""

import json
from pathlib import Path

import pytest

from tests.fakes.queues import FakeTurnQueue
from tests.fakes.telemetry import RecordingTelemetry
from tests.unit.webhook_payloads import NOW
from tools.local import sample_messages
from tools.local.sign_event import META_SECRET, META_VERIFY_TOKEN, WHASP_SECRET, events, written
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.function_url import request_of, response_of
from whatsapp_agent.ingest import Ingest
from whatsapp_agent.providers.meta.webhook import MetaWebhook
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook

META_EVENTS = {"group": [], "number-changed": ["person_changed_number"]}
DIRECTORY = Path(__file__).parents[2] / "events"


def test_the_files_are_what_the_script_writes() -> None:
    files = {path.name: path.read_text(encoding="utf-8") for path in DIRECTORY.glob("ingest-*.json")}
    assert files == {name: written(event) for name, event in events().items()}


@pytest.mark.parametrize(
    ("name", "status", "queued"),
    [
        ("ingest-whasp-text.json", 200, ["message"]),
        ("ingest-whasp-voice.json", 200, ["message"]),
        ("ingest-whasp-photo.json", 200, ["message"]),
        ("ingest-whasp-stop.json", 200, ["message"]),
        ("ingest-whasp-number-replaced.json", 200, ["number_replaced"]),
        ("ingest-whasp-unknown.json", 200, []),
        ("ingest-whasp-forged.json", 401, []),
        ("ingest-meta-handshake.json", 200, []),
        ("ingest-meta-batch.json", 200, ["message"] * 6),
        ("ingest-meta-failed.json", 200, ["delivery_status"]),
        *((f"ingest-whasp-{name}.json", 200, ["message"]) for name in sample_messages.WHASP),
        ("ingest-whasp-failed.json", 200, ["delivery_status"]),
        *(
            (f"ingest-meta-{name}.json", 200, META_EVENTS.get(name, ["message"]))
            for name in sample_messages.META
        ),
        ("ingest-meta-user-id.json", 200, ["message"]),
        ("ingest-meta-echo.json", 200, ["owner_message"]),
        ("ingest-meta-read.json", 200, []),
    ],
)
def test_each_sample_is_answered_as_its_name_says(name: str, status: int, queued: list[str]) -> None:
    queue = FakeTurnQueue(lambda: NOW)
    provider = name.split("-")[1]
    webhook = WhaspWebhook(WHASP_SECRET) if provider == "whasp" else MetaWebhook(META_SECRET, META_VERIFY_TOKEN)
    ingest = Ingest(webhook, f"/webhooks/{provider}", queue, RecordingTelemetry(), lambda: NOW)
    event = json.loads((DIRECTORY / name).read_text(encoding="utf-8"))
    response = response_of(ingest.handle(request_of(event)))
    assert response["statusCode"] == status
    assert [item.kind_name for item in queue.events] == queued


def test_every_sample_is_tested() -> None:
    marks = test_each_sample_is_answered_as_its_name_says.pytestmark  # type: ignore[attr-defined]
    assert {case[0] for case in marks[0].args[1]} == set(events())


def test_the_batch_is_of_two_people() -> None:
    payload = events()["ingest-meta-batch.json"]["body"].encode()
    found = MetaWebhook(META_SECRET, "").parse(payload, NOW).events
    assert [(e.person, e.kind) for e in found if isinstance(e, InboundMessage)] == [
        ("+34600111222", "text"),
        ("+34600111222", "text"),
        ("+5511987654321", "text"),
        ("+5511987654321", "location"),
        ("+34600111222", "voice"),
        ("+5511987654321", "text"),
    ]
