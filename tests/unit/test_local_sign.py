"""What `sign` prints is taken by the product's own webhooks."""

import shlex
from datetime import UTC, datetime

import pytest

from tests.unit.local_stack import a_stack
from tools.local.commands import introduction
from tools.local.sign import curl, signed_request
from tools.local.sign_event import META_SECRET, WHASP_SECRET
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.providers.meta.webhook import MetaWebhook
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook

PERSON = "+34600111222"
TEXT = 'it\'s ¡hola! "quoted" $HOME'
STACKS = {
    "whasp": (WhaspWebhook(WHASP_SECRET), {"webhook_secret": WHASP_SECRET}, "+15550100"),
    "meta": (MetaWebhook(META_SECRET, "token"), {"webhook_secret": META_SECRET}, "106540352242922"),
}


@pytest.mark.parametrize("provider", sorted(STACKS))
def test_a_signed_request_is_taken_by_the_webhook(provider):
    webhook, secrets, number = STACKS[provider]
    info = a_stack(provider=provider, secrets=secrets, number=number)
    body, headers = signed_request(info, PERSON, TEXT)
    now = datetime.now(UTC)
    webhook.verify({name.lower(): value for name, value in headers.items()}, body, now)
    (event,) = webhook.parse(body, now).events
    assert isinstance(event, InboundMessage)
    assert (event.person, event.number, event.text) == (PERSON, number, TEXT)


def test_the_curl_command_survives_the_shell():
    body, headers = signed_request(a_stack(secrets={"webhook_secret": WHASP_SECRET}), PERSON, TEXT)
    words = shlex.split(curl("http://127.0.0.1:9/webhooks/whasp", body, headers))
    assert words[:4] == ["curl", "-sS", "-i", "http://127.0.0.1:9/webhooks/whasp"]
    assert words[words.index("--data-binary") + 1].encode() == body
    assert f"webhook-signature: {headers['webhook-signature']}" in words


@pytest.mark.parametrize(("provider", "ends"), [("whasp", True), ("meta", False)])
def test_only_a_signature_that_holds_the_time_is_said_to_end(provider, ends):
    _, secrets, number = STACKS[provider]
    said = introduction(a_stack(provider=provider, secrets=secrets, number=number))
    assert ("good for five minutes" in said) == ends
    assert "`python -m tools.local sign` prints a new one" in said
