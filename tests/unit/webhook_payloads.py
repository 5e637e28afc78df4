"""Payloads of both providers, with a default for everything that a test is not about."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from tools.local.sign_event import META_SECRET, WHASP_SECRET, meta_headers, whasp_headers

NOW = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
PNID = "106540352242922"
PERSON = "15550001111"


def encoded(payload: Any) -> bytes:
    return json.dumps(payload).encode()


def whasp_event(message: Mapping[str, Any] | None = None, **data: Any) -> dict[str, Any]:
    return {
        "id": "evt_1",
        "type": "message.received",
        "created_at": "2026-11-29T09:59:59.000Z",
        "data": {
            "number": "+15550100",
            "label": "sales",
            "chat": "+34600111222",
            "contact": {"name": "Maya"},
            "message": {
                "id": "msg_1",
                "type": "text",
                "sent_at": "2026-11-29T09:59:58Z",
                "text": "hello",
                "reply_to": None,
                **(message or {}),
            },
            **data,
        },
    }


def text(identifier: int | str, body: Any, frm: str = PERSON, ts: str = "1700000000") -> dict[str, Any]:
    return {"from": frm, "id": f"wamid.{identifier}", "timestamp": ts, "type": "text", "text": {"body": body}}


def typed(kind: str, content: Any, **fields: Any) -> dict[str, Any]:
    base = {"from": PERSON, "id": "wamid.1", "timestamp": "1700000000", "type": kind, kind: content}
    return {**base, **fields}


def value_of(*messages: Any, **fields: Any) -> dict[str, Any]:
    value: dict[str, Any] = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": "15550783881", "phone_number_id": PNID},
    }
    if messages:
        value["contacts"] = [{"profile": {"name": "Maya"}, "wa_id": PERSON}]
        value["messages"] = list(messages)
    return {**value, **fields}


def change(value: Any, field: str = "messages") -> dict[str, Any]:
    return {"value": value, "field": field}


def envelope(*changes: Any) -> dict[str, Any]:
    return {"object": "whatsapp_business_account", "entry": [{"id": "1", "changes": list(changes)}]}


def env(*messages: Any, **fields: Any) -> dict[str, Any]:
    return envelope(change(value_of(*messages, **fields)))


def signed_whasp(
    body: bytes, secret: str = WHASP_SECRET, at: datetime = NOW, identifier: str = "evt_1"
) -> dict[str, str]:
    return whasp_headers(body, message_id=identifier, timestamp=int(at.timestamp()), secret=secret)


def signed_meta(body: bytes, secret: str = META_SECRET) -> dict[str, str]:
    return meta_headers(body, secret=secret)
