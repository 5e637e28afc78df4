"""Plays Meta's Cloud API: Graph endpoints, and the envelopes that it signs and delivers."""

import hashlib
import hmac
import json
import re
from collections.abc import Sequence
from datetime import datetime
from typing import Any
from urllib.parse import unquote

from tools.local.simulated_provider.exchange import Request, Response, json_response
from tools.local.simulated_provider.state import Failure, State

NAME = "meta"
MAX_CHARS = 4096
ACCOUNT_ID = "102290129340398"
USER_ID = re.compile(r"[A-Z]{2}\.[A-Za-z0-9.]+")
VERSION = re.compile(r"v[0-9]+\.[0-9]+")

_TITLES = {
    4: "Application request limit reached",
    100: "Invalid parameter",
    190: "Access token has expired",
    130429: "Rate limit hit",
    131000: "Something went wrong",
    131026: "Message undeliverable",
    131030: "Recipient phone number not in allowed list",
    131047: "Re-engagement message",
    131050: "User has stopped these messages",
    131056: "Pair rate limit hit",
}


class MetaApi:
    """Answers `/v<version>/…` as the Graph API does."""

    def __init__(self, state: State, access_token: str) -> None:
        self._state = state
        self._access_token = access_token

    def handle(self, request: Request) -> Response:
        expected = f"Bearer {self._access_token}"
        if not hmac.compare_digest(request.headers.get("authorization", "").encode(), expected.encode()):
            return graph_error(401, 190, subcode=463)
        parts = [unquote(part) for part in request.path.strip("/").split("/")]
        match request.method, parts:
            case "POST", [version, number, "messages"] if VERSION.fullmatch(version):
                return self._messages(request, number)
            case "GET", [version, "media", media_id] if VERSION.fullmatch(version):
                return self._bytes(media_id)
            case "GET", [version, media_id] if VERSION.fullmatch(version):
                return self._media(request, version, media_id)
        return graph_error(404, 100)

    def _messages(self, request: Request, number: str) -> Response:
        fields = request.json()
        if fields is None or fields.get("messaging_product") != "whatsapp" or not number.isdigit():
            return graph_error(400, 100, subcode=33)
        reading = fields.get("status") == "read"
        # A script for "typing" fails the read mark, one for "messages" (the default) a message.
        failure = self._state.take_failure(
            request.path.replace("messages", "typing") if reading else request.path
        )
        if failure is not None and not failure.accept:
            return _failed(failure)
        answer = self._read(fields, number) if reading else self._text(fields, number)
        return _failed(failure) if failure is not None and answer.status == 200 else answer

    def _read(self, fields: dict[str, Any], number: str) -> Response:
        message_id = fields.get("message_id")
        if not isinstance(message_id, str) or not message_id:
            return graph_error(400, 100)
        with self._state.lock:
            self._state.typing.append({"provider": NAME, "message_id": message_id, "number": number})
        return json_response(200, {"success": True})

    def _text(self, fields: dict[str, Any], number: str) -> Response:
        to, recipient = fields.get("to"), fields.get("recipient")
        text = (fields.get("text") or {}).get("body") if isinstance(fields.get("text"), dict) else None
        if fields.get("type") != "text" or not isinstance(text, str) or not 0 < len(text) <= MAX_CHARS:
            return graph_error(400, 100)
        if to is not None:
            if not isinstance(to, str) or not to.removeprefix("+").isdigit():
                return graph_error(400, 100)
        elif not isinstance(recipient, str) or not USER_ID.fullmatch(recipient):
            return graph_error(400, 100)
        person = str(to or recipient)
        with self._state.lock:
            closed = person.removeprefix("+") in self._state.closed_windows
        if closed:
            return graph_error(400, 131047)
        if self._state.is_opted_out(person):
            return graph_error(400, 131050)
        context = fields.get("context")
        reply_to = str(context.get("message_id", "")) if isinstance(context, dict) else ""
        sent = self._state.accept(
            NAME, "wamid.OUT", {"number": number, "person": person, "text": text, "reply_to": reply_to}
        )
        contact = (
            {"input": person, "wa_id": person.removeprefix("+")} if to else {"input": person, "user_id": person}
        )
        return json_response(
            200, {"messaging_product": "whatsapp", "contacts": [contact], "messages": [{"id": sent.id}]}
        )

    def _media(self, request: Request, version: str, media_id: str) -> Response:
        failure = self._state.take_failure(request.path)
        if failure is not None:
            return _failed(failure)
        with self._state.lock:
            medium = self._state.media.get(media_id)
        if medium is None:
            return graph_error(400, 100, subcode=33)
        host = request.headers.get("host", "127.0.0.1")
        return json_response(
            200,
            {
                "messaging_product": "whatsapp",
                "url": f"http://{host}/{version}/media/{media_id}",
                "mime_type": medium.mime_type,
                "sha256": hashlib.sha256(medium.data).hexdigest(),
                "file_size": len(medium.data),
                "id": media_id,
            },
        )

    def _bytes(self, media_id: str) -> Response:
        with self._state.lock:
            medium = self._state.media.get(media_id)
        if medium is None:
            return Response(404)
        return Response(200, medium.data, {"Content-Type": medium.mime_type})


def _failed(failure: Failure) -> Response:
    if failure.drop:
        return Response(0, drop=True)
    usual = {401: 190, 429: 4}.get(failure.status, 100 if failure.status < 500 else 131000)
    code = int(failure.code) if failure.code.isdigit() else usual
    return graph_error(failure.status, code, retry_after=failure.retry_after)


def graph_error(status: int, code: int, *, subcode: int = 0, retry_after: str = "") -> Response:
    """An error in the form of the Graph API."""
    error: dict[str, Any] = {
        "message": f"(#{code}) {_TITLES.get(code, 'Error')}",
        "type": "OAuthException",
        "code": code,
        "fbtrace_id": "simulated",
    }
    if subcode:
        error["error_subcode"] = subcode
    return json_response(status, {"error": error}, Retry_After=retry_after)


def received(
    *, message: dict[str, Any], person: str, contact_name: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """`(contact, message)` of a value: a person without a visible phone has a user id only."""
    profile = {"name": contact_name or "Somebody"}
    if USER_ID.fullmatch(person):
        return {"user_id": person, "profile": profile}, {"from_user_id": person, **message}
    digits = person.removeprefix("+")
    return {"wa_id": digits, "profile": profile}, {"from": digits, **message}


def envelope(number: str, entries: Sequence[tuple[dict[str, Any], dict[str, Any]]]) -> dict[str, Any]:
    """The webhook body for messages that came through one phone number id."""
    value = {
        "messaging_product": "whatsapp",
        "metadata": {"display_phone_number": number, "phone_number_id": number},
        "contacts": [contact for contact, _ in entries],
        "messages": [message for _, message in entries],
    }
    return _change("messages", value)


def status_failed(*, number: str, message_id: str, person: str, code: str, at: datetime) -> dict[str, Any]:
    """The webhook body that reports a message as not delivered."""
    status = {
        "id": message_id,
        "status": "failed",
        "timestamp": str(int(at.timestamp())),
        "recipient_id": person.removeprefix("+"),
        "errors": [{"code": int(code) if code.isdigit() else 131026, "title": "Message undeliverable"}],
    }
    metadata = {"display_phone_number": number, "phone_number_id": number}
    return _change("messages", {"messaging_product": "whatsapp", "metadata": metadata, "statuses": [status]})


def _change(field: str, value: dict[str, Any]) -> dict[str, Any]:
    return {
        "object": "whatsapp_business_account",
        "entry": [{"id": ACCOUNT_ID, "changes": [{"field": field, "value": value}]}],
    }


def signature_headers(secret: str, body: bytes) -> dict[str, str]:
    """Signs the raw bytes with the app secret; with several, the first is Meta's."""
    key = (secret.split() or [""])[0].encode()
    return {"X-Hub-Signature-256": "sha256=" + hmac.digest(key, body, hashlib.sha256).hex()}


def body_of(payload: dict[str, Any]) -> bytes:
    """Meta escapes what is not ASCII."""
    return json.dumps(payload, ensure_ascii=True).encode("ascii")
