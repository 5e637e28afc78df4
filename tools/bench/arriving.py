"""What arrives: messages as events, as records of the queue, and in webhooks."""

import json
from datetime import timedelta
from typing import Any

from tests.builders import NUMBER
from whatsapp_agent.clock import utc_now
from whatsapp_agent.events import InboundMessage, encode


def message(number: int, text: str, person: str) -> InboundMessage:
    """A message that was sent and received now."""
    now = utc_now()
    event_id = f"wamid.HBgLMzQ2MDAxMTEyMjIVAgASGBQ{person[-4:]}{number:06}"
    return InboundMessage(
        event_id=event_id,
        person=person,
        address=person,
        number=NUMBER,
        message_id=event_id,
        kind="text",
        text=text,
        sent_at=now - timedelta(seconds=2),
        received_at=now,
    )


def webhook_body(number: int = 1, text: str = "Hola", person: str = "+34600111222") -> bytes:
    """One message in a webhook of whasp."""
    return json.dumps(
        {
            "id": f"evt_{number}",
            "type": "message.received",
            "created_at": "2026-11-29T10:00:00.000Z",
            "data": {
                "number": "+15550100",
                "chat": person,
                "contact": {"name": "Maya"},
                "message": {
                    "id": f"msg_{number}",
                    "sent_at": "2026-11-29T09:59:58Z",
                    "type": "text",
                    "text": text,
                },
            },
        }
    ).encode()


def record_of(message: InboundMessage) -> dict[str, Any]:
    """As the queue hands it over; the record's id is the event's."""
    return record(message.event_id, encode(message), message.person)


def record(message_id: str, body: str, group: str) -> dict[str, Any]:
    attributes = {"ApproximateReceiveCount": "1", "MessageGroupId": group}
    return {"messageId": message_id, "receiptHandle": "r", "body": body, "attributes": attributes}
