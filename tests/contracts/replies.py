"""A turn on its way from a claim to a reply that is written down."""

from datetime import timedelta

from tests.builders import message, turn
from tests.contracts.stores import Stores
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Message

A_MONTH = timedelta(days=30)


def reply(seq: int = 2, text: str = "hi there", **changes: object) -> Message:
    return message(seq, text, role="assistant", event_id="evt_1", **changes)


def replied(*parts: str, **changes: object) -> Turn:
    return turn(**{"state": "replied", "reply_seq": 2, "parts": parts or ("hi there",), **changes})


def waiting(stores: Stores, *parts: str) -> Turn:
    """A turn whose reply is written down and not sent."""
    stores.ledger.claim(turn(), message())
    stores.ledger.commit(reply(), replied(*parts), [])
    return replied(*parts)
