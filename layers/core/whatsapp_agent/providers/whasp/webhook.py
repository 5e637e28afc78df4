"""Reads whasp's webhooks. Everything that is assumed about them, and not known, stands in this file."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from whatsapp_agent.errors import InvalidPayload, InvalidSignature
from whatsapp_agent.events import DeliveryStatus, Event, InboundMessage, NumberReplaced
from whatsapp_agent.memory.quoting import is_blank
from whatsapp_agent.ports.provider import Delivery
from whatsapp_agent.providers import described
from whatsapp_agent.providers.payload import (
    DeliveryBuilder,
    code_of,
    event_id_of,
    id_of,
    line_of,
    moment_of,
    name_of,
    object_of,
    read_json,
    text_of,
)
from whatsapp_agent.providers.people import is_shared_chat, media_of, person_of
from whatsapp_agent.providers.whasp.signature import is_signed, keys_of

_MEDIA = frozenset({"voice", "audio", "image", "video", "document", "sticker"})
_ABOUT_ANOTHER = frozenset({"reaction", "edited", "deleted"})


class WhaspWebhook:
    """whasp, incoming side.

    Args:
        secrets: One or more secrets separated by blanks; each of them is valid.
        tolerance_seconds: How far the signed time may lie from now; 0 takes any.
    """

    def __init__(
        self,
        secrets: str,
        tolerance_seconds: int = 300,
        *,
        id_header: str = "webhook-id",
        timestamp_header: str = "webhook-timestamp",
        signature_header: str = "webhook-signature",
    ) -> None:
        self._secrets = secrets
        self._tolerance = tolerance_seconds
        self._headers = (id_header.lower(), timestamp_header.lower(), signature_header.lower())

    def handshake(self, query: Mapping[str, str]) -> str:  # noqa: ARG002 - the protocol's signature
        """Whasp asks for no handshake.

        Raises:
            InvalidSignature: Always.
        """
        raise InvalidSignature("this provider asks for no handshake")

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
        """Checks the signature over `<id>.<timestamp>.<raw body>`.

        Raises:
            InvalidSignature: Not signed, wrongly signed, or signed outside the tolerance.
            ConfigurationError: No secret is configured, or one is malformed.
        """
        keys = keys_of(self._secrets)
        message_id, timestamp, signatures = (headers.get(name, "") for name in self._headers)
        if not (message_id and timestamp and signatures):
            raise InvalidSignature("a header of the signature is missing")
        if not is_signed(keys, message_id, timestamp, body, signatures):
            raise InvalidSignature("the signature belongs to no secret of this deployment")
        if self._tolerance and not self._is_recent(timestamp, now):
            raise InvalidSignature("the signature's time lies outside the tolerance")

    def _is_recent(self, timestamp: str, now: datetime) -> bool:
        digits = timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12
        return digits and abs(now.timestamp() - int(timestamp)) <= self._tolerance

    def parse(self, body: bytes, now: datetime) -> Delivery:
        """Reads one event; a type that is not known is counted.

        Raises:
            InvalidPayload: The body is no JSON object.
        """
        payload = read_json(body)
        if not isinstance(payload, dict):
            raise InvalidPayload("the webhook's body is no JSON object")
        builder = DeliveryBuilder()
        builder.read(lambda event: _event(event, now), payload)
        return builder.build()


def _event(payload: Mapping[str, Any], now: datetime) -> tuple[Event, ...] | str:
    data = object_of(payload.get("data"))
    kind = name_of(payload.get("type"))
    if kind == "message.received":
        return _message(payload, data, now)
    if kind == "message.failed":
        return _failure(payload, data, now)
    if kind == "number.replaced":
        return _replacement(payload, data, now)
    return kind


def _message(payload: Mapping[str, Any], data: Mapping[str, Any], now: datetime) -> tuple[Event, ...] | str:
    message = object_of(data.get("message"))
    address = text_of(data.get("chat"), 256).strip()
    if is_shared_chat(address) or data.get("group"):
        return "group"
    person = person_of(address)
    if not person:
        return "bad_address"
    kind, text = _content(message)
    if kind in ("text", "button", "list") and is_blank(text):
        return "blank"
    created_at = moment_of(payload.get("created_at"), now)
    event = InboundMessage(
        event_id=event_id_of(payload.get("id"), payload),
        person=person,
        address=address,
        number=line_of(data.get("number"), 64),
        message_id=id_of(message.get("id")),
        kind=kind,
        text=text,
        sent_at=moment_of(message.get("sent_at"), created_at),
        received_at=now,
        media=media_of(message.get("media")) if kind in _MEDIA else None,
        target_id=id_of(_part(message, kind).get("message_id")) if kind in _ABOUT_ANOTHER else "",
        reply_to=id_of(message.get("reply_to")),
        contact_name=line_of(object_of(data.get("contact")).get("name")),
        label=line_of(data.get("label"), 100),
    )
    return (event,)


def _content(message: Mapping[str, Any]) -> tuple[str, str]:
    """The message's kind, and what was said or a description of it."""
    kind = name_of(message.get("type"))
    part = _part(message, kind)
    match kind:
        case "text" | "edited":
            text = text_of(part.get("text"))
        case "location":
            text = described.location(part)
        case "contacts":
            text = described.contacts(message.get("contacts"))
        case "button" | "list":
            text = described.choice(part)
        case "reaction":
            text = text_of(part.get("emoji"), 32)
        case "deleted":
            text = ""
        case _ if kind in _MEDIA:
            text = described.caption(message.get("caption") or object_of(message.get("media")).get("caption"))
        case _:
            kind, text = "unsupported", described.unsupported(kind)
    return kind, text


def _part(message: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
    """Where a type's own fields lie: in the message, or one level down under the type's name."""
    return object_of(message.get(kind)) or message


def _failure(payload: Mapping[str, Any], data: Mapping[str, Any], now: datetime) -> tuple[Event, ...] | str:
    message = object_of(data.get("message"))
    person = person_of(text_of(data.get("chat"), 256))
    if not person:
        return "bad_address"
    error = object_of(data.get("error")) or object_of(message.get("error"))
    event = DeliveryStatus(
        event_id=event_id_of(payload.get("id"), payload),
        person=person,
        number=line_of(data.get("number"), 64),
        message_id=id_of(message.get("id")) or id_of(data.get("message_id")),
        status="failed",
        received_at=now,
        code=code_of(error.get("code")),
    )
    return (event,)


def _replacement(payload: Mapping[str, Any], data: Mapping[str, Any], now: datetime) -> tuple[Event, ...] | str:
    old, new = line_of(data.get("old_number"), 64), line_of(data.get("new_number"), 64)
    if not old or not new:
        return "malformed"
    event = NumberReplaced(
        event_id=event_id_of(payload.get("id"), payload),
        old_number=old,
        new_number=new,
        received_at=now,
        label=line_of(data.get("label"), 100),
    )
    return (event,)
