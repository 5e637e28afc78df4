"""Plays whasp: its REST API, and the events that it signs and delivers."""

import base64
import hashlib
import hmac
import json
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from tools.local.simulated_provider.exchange import Request, Response, json_response
from tools.local.simulated_provider.state import State, iso

NAME = "whasp"
MAX_UTF16_UNITS = 4096


class WhaspApi:
    """Answers `/v1/…` as the contract says."""

    def __init__(self, state: State, api_key: str) -> None:
        self._state = state
        self._api_key = api_key

    def handle(self, request: Request) -> Response:
        expected = f"Bearer {self._api_key}"
        if not hmac.compare_digest(request.headers.get("authorization", "").encode(), expected.encode()):
            return _error(401, "unauthorized", "the API key is wrong")
        match request.method, request.path.strip("/").split("/"):
            case "POST", ["v1", "messages"]:
                return self._send(request)
            case "POST", ["v1", "chats", chat, "typing"]:
                return self._typing(request, unquote(chat))
            case "GET", ["v1", "media", media_id]:
                return self._media(unquote(media_id))
        return _error(404, "not_found", "no such path")

    def _send(self, request: Request) -> Response:
        fields = request.json()
        if fields is None:
            return _error(422, "invalid_json", "the body is no JSON object")
        for name in ("number", "chat", "text"):
            if not isinstance(fields.get(name), str) or not fields[name]:
                return _error(422, "missing_field", f"{name} must be a text")
        failure = self._state.take_failure(request.path)
        if failure is not None and not failure.accept:
            return failed(failure.status, failure.code, failure.retry_after, drop=failure.drop)
        key = request.headers.get("idempotency-key", "")
        refusal = None if self._state.by_key(key) else self._refusal(fields)
        if refusal is not None:
            return refusal
        sent = self._state.accept(
            NAME,
            "msg_",
            {
                "number": fields["number"],
                "person": fields["chat"],
                "text": fields["text"],
                "reply_to": str(fields.get("reply_to") or ""),
            },
            key,
        )
        if failure is not None:
            return failed(failure.status, failure.code, failure.retry_after, drop=failure.drop)
        return json_response(202, {"id": sent.id, "status": "queued"})

    def _refusal(self, fields: dict[str, Any]) -> Response | None:
        if len(fields["text"].encode("utf-16-le", "surrogatepass")) // 2 > MAX_UTF16_UNITS:
            return _error(413, "text_too_long", f"more than {MAX_UTF16_UNITS} UTF-16 units")
        with self._state.lock:
            successor = self._state.successors.get(fields["number"])
        if successor is not None:
            return _error(409, "number_retired", "the number is retired", replaced_by=successor)
        if self._state.is_opted_out(fields["chat"]):
            return _error(403, "opted_out", "the chat opted out")
        return None

    def _typing(self, request: Request, chat: str) -> Response:
        failure = self._state.take_failure(request.path)
        if failure is not None:
            return failed(failure.status, failure.code, failure.retry_after, drop=failure.drop)
        number = str((request.json() or {}).get("number", ""))
        with self._state.lock:
            self._state.typing.append({"provider": NAME, "person": chat, "number": number})
        return Response(204)

    def _media(self, media_id: str) -> Response:
        failure = self._state.take_failure(f"/v1/media/{media_id}")
        if failure is not None:
            return failed(failure.status, failure.code, failure.retry_after, drop=failure.drop)
        with self._state.lock:
            medium = self._state.media.get(media_id)
        if medium is None:
            return _error(404, "media_gone", "the medium is gone")
        return Response(200, medium.data, {"Content-Type": medium.mime_type})


def failed(status: int, code: str, retry_after: str, *, drop: bool) -> Response:
    """A scripted failure as whasp would say it."""
    if drop:
        return Response(0, drop=True)
    return json_response(
        status,
        {
            "error": {
                "code": code or ("rate_limited" if status == 429 else "internal"),
                "message": "as scripted",
            }
        },
        Retry_After=retry_after,
    )


def _error(status: int, code: str, message: str, **more: str) -> Response:
    return json_response(status, {"error": {"code": code, "message": message, **more}})


def message_received(
    *,
    event_id: str,
    message: dict[str, Any],
    person: str,
    number: str,
    created_at: str,
    label: str = "",
    contact_name: str = "",
) -> dict[str, Any]:
    """The `message.received` event."""
    data: dict[str, Any] = {"number": number, "label": label, "chat": person}
    if contact_name:
        data["contact"] = {"name": contact_name}
    return {
        "id": event_id,
        "type": "message.received",
        "created_at": created_at,
        "data": {**data, "message": message},
    }


def number_replaced(*, event_id: str, old: str, new: str, label: str, at: datetime) -> dict[str, Any]:
    """The `number.replaced` event."""
    data = {"old_number": old, "new_number": new, "label": label}
    return {"id": event_id, "type": "number.replaced", "created_at": iso(at), "data": data}


def message_failed(
    *, event_id: str, number: str, person: str, message_id: str, code: str, at: datetime
) -> dict[str, Any]:
    """The `message.failed` event; the contract names the type and leaves its fields open."""
    message = {"id": message_id, "status": "failed", "error": {"code": code}}
    data = {"number": number, "chat": person, "message": message}
    return {"id": event_id, "type": "message.failed", "created_at": iso(at), "data": data}


def signature_headers(secret: str, event_id: str, body: bytes, at: datetime) -> dict[str, str]:
    """Signs as the Standard Webhooks specification says; several secrets give several signatures."""
    timestamp = str(int(at.timestamp()))
    signatures = []
    for one in secret.split():
        key = base64.b64decode(one.removeprefix("whsec_")) if one.startswith("whsec_") else one.encode()
        digest = hmac.digest(key, f"{event_id}.{timestamp}.".encode() + body, hashlib.sha256)
        signatures.append("v1," + base64.b64encode(digest).decode())
    return {
        "webhook-id": event_id,
        "webhook-timestamp": timestamp,
        "webhook-signature": " ".join(signatures),
    }


def body_of(event: dict[str, Any]) -> bytes:
    return json.dumps(event, ensure_ascii=False).encode("utf-8", "surrogatepass")
