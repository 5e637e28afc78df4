"""The lines of docs/providers.md do what the page says, and its settings are those that there are."""

import json
import re
import tomllib
from pathlib import Path

from tests.fakes.queues import FakeTurnQueue
from tests.fakes.telemetry import RecordingTelemetry
from tests.unit.webhook_payloads import NOW, signed_meta
from tools.local.sign_event import META_SECRET, META_VERIFY_TOKEN
from whatsapp_agent.agents import load_agent
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.ingest import HttpRequest, Ingest
from whatsapp_agent.memory.allowance import Limits
from whatsapp_agent.providers.meta.webhook import MetaWebhook

PAGE = (Path(__file__).parents[2] / "docs" / "providers.md").read_text("utf-8")


def ingest(queue: FakeTurnQueue) -> Ingest:
    webhook = MetaWebhook(META_SECRET, META_VERIFY_TOKEN)
    return Ingest(webhook, "/webhooks/meta", queue, RecordingTelemetry(), lambda: NOW)


def test_the_batch_of_the_page_is_six_messages_of_two_people() -> None:
    written = re.search(r"<<JSON\n(.*?)\nJSON\n", PAGE, re.DOTALL)
    assert written is not None
    body = written[1].replace("$NOW", str(int(NOW.timestamp()))).encode()
    queue = FakeTurnQueue(lambda: NOW)
    answer = ingest(queue).handle(HttpRequest("POST", "/webhooks/meta", {}, signed_meta(body), body))
    assert (answer.status, answer.body) == (200, "ok")
    found = [event for event in queue.events if isinstance(event, InboundMessage)]
    assert len(found) == 6
    assert len({event.person for event in found}) == 2
    assert f"-hmac {META_SECRET} " in PAGE


def test_the_handshake_of_the_page_is_answered_with_its_challenge() -> None:
    query = dict(re.findall(r"[?&](hub\.[a-z_]+)=([\w-]+)", PAGE))
    answer = ingest(FakeTurnQueue(lambda: NOW)).handle(HttpRequest("GET", "/webhooks/meta", query))
    assert answer.body == query["hub.challenge"]


def test_the_settings_of_the_page_load_and_its_limits_are_the_defaults(tmp_path: Path) -> None:
    written = re.search(r"```toml\n(.*?)```", PAGE, re.DOTALL)
    assert written is not None
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "agent.toml").write_text(f'name = "Ana"\nlanguage = "en"\n{written[1]}', "utf-8")
    (tmp_path / "shop" / "persona.md").write_text("You are Ana.", "utf-8")
    profile = load_agent(tmp_path, "shop")
    assert profile.limits == Limits()
    assert profile.numbers == ("+34600111222", "+106540352242922")
    assert json.dumps(tomllib.loads(written[1])["limits"])
