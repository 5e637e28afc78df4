"""What tests of the real senders send, and what they get for it."""

from typing import Any

import pytest

from tests.builders import NUMBER, PERSON
from whatsapp_agent.errors import AgentError
from whatsapp_agent.events import OutboundMessage
from whatsapp_agent.providers.meta.api import MetaProvider
from whatsapp_agent.providers.whasp.api import WhaspProvider

KEY = "secret-key-of-the-test"


def part(**changes: Any) -> OutboundMessage:
    fields = {"number": NUMBER, "address": PERSON, "text": "hello", "idempotency_key": "evt_1/0", **changes}
    return OutboundMessage(**fields)


def refusal(provider: WhaspProvider | MetaProvider, message: OutboundMessage | None = None) -> AgentError:
    with pytest.raises(AgentError) as raised:
        provider.send(message or part())
    return raised.value
