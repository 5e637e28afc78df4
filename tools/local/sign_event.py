"""Writes `events/ingest-*.json`: webhooks as Lambda function URL events, signed with the sample secrets.

    python -m tools.local.sign_event [directory]

The signed time is fixed, so that the files do not change from run to run: for `sam local invoke`, the function
gets `WEBHOOK_TOLERANCE_SECONDS=0` and the sample secrets.
"""

import base64
import hashlib
import hmac
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tools.local import sample_messages

WHASP_SECRET = "whsec_c2FtcGxlLXNlY3JldC1mb3ItbG9jYWwtdGVzdHM="
META_SECRET = "sample-app-secret"
META_VERIFY_TOKEN = "sample-verify-token"

SIGNED_AT = 1_795_946_400
"""2026-11-29T10:00:00Z."""

NUMBER = "+15550100"
MAYA = "+34600111222"
PHONE_NUMBER_ID = "106540352242922"
USER_ID = "ES.13491208655302741918"


def whasp_headers(
    body: bytes, *, message_id: str, timestamp: int, secret: str = WHASP_SECRET
) -> dict[str, str]:
    """The three headers of the Standard Webhooks specification."""
    key = base64.b64decode(secret.removeprefix("whsec_")) if secret.startswith("whsec_") else secret.encode()
    digest = hmac.digest(key, f"{message_id}.{timestamp}.".encode() + body, hashlib.sha256)
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


def meta_headers(body: bytes, *, secret: str = META_SECRET) -> dict[str, str]:
    """Meta's signature over the raw body."""
    return {"x-hub-signature-256": "sha256=" + hmac.digest(secret.encode(), body, hashlib.sha256).hex()}


def function_url_event(
    method: str,
    path: str,
    *,
    body: bytes = b"",
    headers: Mapping[str, str] | None = None,
    query: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """An event of payload format 2.0, as a function URL sends it."""
    host = "sample.lambda-url.eu-west-1.on.aws"
    event: dict[str, Any] = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": urlencode(query or {}),
        "headers": {
            "host": host,
            "user-agent": "sample",
            "x-forwarded-proto": "https",
            **({"content-type": "application/json"} if body else {}),
            **(headers or {}),
        },
        "requestContext": {
            "accountId": "anonymous",
            "apiId": "sample",
            "domainName": host,
            "domainPrefix": "sample",
            "http": {
                "method": method,
                "path": path,
                "protocol": "HTTP/1.1",
                "sourceIp": "192.0.2.1",
                "userAgent": "sample",
            },
            "requestId": "00000000-0000-4000-8000-000000000000",
            "routeKey": "$default",
            "stage": "$default",
            "time": "29/Nov/2026:10:00:00 +0000",
            "timeEpoch": SIGNED_AT * 1000,
        },
        "isBase64Encoded": False,
    }
    if query:
        event["queryStringParameters"] = dict(query)
    if body:
        event["body"] = body.decode()
    return event


def whasp_message(event_id: str, message: Mapping[str, Any]) -> dict[str, Any]:
    """A `message.received` event from Maya."""
    return {
        "id": event_id,
        "type": "message.received",
        "created_at": "2026-11-29T10:00:00.000Z",
        "data": {
            "number": NUMBER,
            "label": "sales",
            "chat": MAYA,
            "contact": {"name": "Maya"},
            "message": {
                "id": event_id.replace("evt", "msg"),
                "sent_at": "2026-11-29T09:59:58Z",
                "reply_to": None,
                **message,
            },
        },
    }


def meta_text(wamid: str, sender: str, text: str) -> dict[str, Any]:
    """One text message of a Cloud API value."""
    return {
        "from": sender,
        "id": wamid,
        "timestamp": str(SIGNED_AT - 2),
        "type": "text",
        "text": {"body": text},
    }


def meta_envelope(value: Mapping[str, Any]) -> dict[str, Any]:
    """One entry with one change of the field `messages`."""
    metadata = {"display_phone_number": "15550783881", "phone_number_id": PHONE_NUMBER_ID}
    value = {"messaging_product": "whatsapp", "metadata": metadata, **value}
    entry = {"id": "102290129340398", "changes": [{"value": value, "field": "messages"}]}
    return {"object": "whatsapp_business_account", "entry": [entry]}


def _whasp(payload: Mapping[str, Any]) -> dict[str, Any]:
    body = json.dumps(payload, ensure_ascii=False).encode()
    headers = whasp_headers(body, message_id=payload["id"], timestamp=SIGNED_AT)
    return function_url_event("POST", "/webhooks/whasp", body=body, headers=headers)


def _meta(payload: Mapping[str, Any]) -> dict[str, Any]:
    body = json.dumps(payload, ensure_ascii=False).encode()
    return function_url_event("POST", "/webhooks/meta", body=body, headers=meta_headers(body))


def _contact(name: str, phone: str) -> dict[str, Any]:
    return {"profile": {"name": name}, "wa_id": phone}


def events() -> dict[str, dict[str, Any]]:
    """Every sample by its file's name."""
    voice = {"id": "media_voice_1", "mime_type": "audio/ogg; codecs=opus", "size": 8_412, "filename": ""}
    photo = {"id": "media_photo_1", "mime_type": "image/jpeg", "size": 120_334, "filename": ""}
    forged = _whasp(whasp_message("evt_forged", {"type": "text", "text": "nobody signed this"}))
    forged["headers"]["webhook-signature"] = "v1," + base64.b64encode(bytes(32)).decode()
    maya, omar = "34600111222", "5511987654321"
    batch = [
        meta_text("wamid.sample-1", maya, "Hi, I am Maya"),
        meta_text("wamid.sample-2", maya, "I start the new job on Monday"),
        meta_text("wamid.sample-3", omar, "Olá!"),
        {
            "from": omar,
            "id": "wamid.sample-4",
            "timestamp": str(SIGNED_AT - 1),
            "type": "location",
            "location": {"latitude": -23.55, "longitude": -46.63, "name": "Praça da Sé"},
        },
        {
            "from": maya,
            "id": "wamid.sample-5",
            "timestamp": str(SIGNED_AT - 1),
            "type": "audio",
            "audio": {"id": "1003383421387256", "mime_type": "audio/ogg; codecs=opus", "voice": True},
        },
        meta_text("wamid.sample-6", omar, "Onde fica a loja?"),
    ]
    failed = {
        "id": "wamid.sample-reply",
        "status": "failed",
        "timestamp": str(SIGNED_AT),
        "recipient_id": maya,
        "errors": [{"code": 131026, "title": "Message undeliverable"}],
    }
    replaced = {"old_number": NUMBER, "new_number": "+15550123", "label": "sales"}
    created = {"created_at": "2026-11-29T11:00:00.000Z"}
    handshake = {"hub.mode": "subscribe", "hub.verify_token": META_VERIFY_TOKEN, "hub.challenge": "1158201444"}
    return {
        "ingest-whasp-text.json": _whasp(
            whasp_message("evt_text", {"type": "text", "text": "I start the new job on Monday"})
        ),
        "ingest-whasp-voice.json": _whasp(whasp_message("evt_voice", {"type": "voice", "media": voice})),
        "ingest-whasp-photo.json": _whasp(
            whasp_message("evt_photo", {"type": "image", "media": photo, "caption": "My new desk"})
        ),
        "ingest-whasp-stop.json": _whasp(whasp_message("evt_stop", {"type": "text", "text": "STOP"})),
        "ingest-whasp-number-replaced.json": _whasp(
            {"id": "evt_replaced", "type": "number.replaced", **created, "data": replaced}
        ),
        "ingest-whasp-unknown.json": _whasp(
            {"id": "evt_unknown", "type": "number.renamed", **created, "data": {"number": NUMBER}}
        ),
        "ingest-whasp-forged.json": forged,
        "ingest-meta-handshake.json": function_url_event("GET", "/webhooks/meta", query=handshake),
        "ingest-meta-batch.json": _meta(
            meta_envelope({"contacts": [_contact("Maya", maya), _contact("Omar", omar)], "messages": batch})
        ),
        "ingest-meta-failed.json": _meta(meta_envelope({"statuses": [failed]})),
        **_one_of_each(),
    }


def _one_of_each() -> dict[str, dict[str, Any]]:
    """A sample of every type that is not among the others."""
    found = {
        f"ingest-whasp-{name}.json": _whasp(whasp_message(f"evt_{name}", message))
        for name, message in sample_messages.WHASP.items()
    }
    failed: dict[str, Any] = {
        "number": NUMBER,
        "chat": MAYA,
        "message": {"id": "msg_reply", "error": {"code": "undeliverable"}},
    }
    created = {"created_at": "2026-11-29T10:00:00.000Z"}
    found["ingest-whasp-failed.json"] = _whasp(
        {"id": "evt_failed", "type": "message.failed", **created, "data": failed}
    )
    sender, sent_at = MAYA.removeprefix("+"), str(SIGNED_AT - 2)
    for name, message in sample_messages.META.items():
        one = {"from": sender, "id": f"wamid.sample-{name}", "timestamp": sent_at, **message}
        # Meta names no contact beside a system message.
        contacts = {} if message["type"] == "system" else {"contacts": [_contact("Maya", sender)]}
        found[f"ingest-meta-{name}.json"] = _meta(meta_envelope({**contacts, "messages": [one]}))
    hidden = {"from_user_id": USER_ID, "id": "wamid.sample-user-id", "timestamp": sent_at}
    contact = {"user_id": USER_ID, "profile": {"name": "Maya", "username": "maya"}}
    value = {"contacts": [contact], "messages": [{**hidden, **sample_messages.META["text"]}]}
    found["ingest-meta-user-id.json"] = _meta(meta_envelope(value))
    echo: dict[str, Any] = {
        "from": "15550783881",
        "to": sender,
        "id": "wamid.sample-echo",
        "timestamp": sent_at,
    }
    echo |= {"type": "text", "text": {"body": "This is Ana, I take over"}}
    envelope = meta_envelope({"message_echoes": [echo]})
    envelope["entry"][0]["changes"][0]["field"] = "smb_message_echoes"
    found["ingest-meta-echo.json"] = _meta(envelope)
    read = {"id": "wamid.sample-reply", "status": "read", "timestamp": sent_at, "recipient_id": sender}
    found["ingest-meta-read.json"] = _meta(meta_envelope({"statuses": [read]}))
    return found


def written(event: Mapping[str, Any]) -> str:
    """The event as its file holds it."""
    return json.dumps(event, indent=2, ensure_ascii=False) + "\n"


def main() -> None:
    """Writes the files."""
    directory = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parents[2] / "events"
    for name, event in events().items():
        (directory / name).write_text(written(event), encoding="utf-8")


if __name__ == "__main__":
    main()
