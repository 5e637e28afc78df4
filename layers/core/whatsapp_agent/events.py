"""What happens, in the application's own words, and its JSON form on the queue.

Providers' payloads become these events at the edge; nothing behind the edge knows a provider's format.
"""

import json
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any, ClassVar

from whatsapp_agent.clock import from_iso, to_iso
from whatsapp_agent.errors import InvalidPayload

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Media:
    """A medium that the provider holds; `size` in bytes, 0 where the provider did not say."""

    id: str
    mime_type: str = ""
    size: int = 0
    filename: str = ""


@dataclass(frozen=True, slots=True)
class InboundMessage:
    """A person wrote.

    Attributes:
        event_id: The provider's id of the delivery: the same for every retry of it.
        person: The person's canonical key, see `whatsapp_agent.phones`.
        address: Where a reply goes, exactly as the provider gave it.
        number: Business number that the message came through.
        message_id: The provider's id of the message, for quoting it and for read marks.
        kind: `text`, `voice`, `audio`, `image`, `video`, `document`, `sticker`, `location`, `contacts`,
            `reaction`, `button`, `list`, `edited`, `deleted`, `unsupported`.
        text: What was said, or a readable description of what was sent; may be empty.
        target_id: For a reaction, an edit or a deletion: the message that it is about.
        reply_to: The message that the person quotes.
        alias: Another key of the same person that came with the message: a user id beside a phone number.
    """

    kind_name: ClassVar[str] = "message"
    event_id: str
    person: str
    address: str
    number: str
    message_id: str
    kind: str
    text: str
    sent_at: datetime
    received_at: datetime
    media: Media | None = None
    target_id: str = ""
    reply_to: str = ""
    contact_name: str = ""
    label: str = ""
    alias: str = ""


@dataclass(frozen=True, slots=True)
class OwnerMessage:
    """The human owner of a business number answered a person by hand.

    Attributes:
        person, address: Whom they wrote to.
        kind, text, target_id: As of an `InboundMessage`.
    """

    kind_name: ClassVar[str] = "owner_message"
    event_id: str
    person: str
    address: str
    number: str
    message_id: str
    kind: str
    text: str
    sent_at: datetime
    received_at: datetime
    target_id: str = ""
    label: str = ""


@dataclass(frozen=True, slots=True)
class NumberReplaced:
    """A business number was retired and another took its place; nobody's memory changes."""

    kind_name: ClassVar[str] = "number_replaced"
    event_id: str
    old_number: str
    new_number: str
    received_at: datetime
    label: str = ""


@dataclass(frozen=True, slots=True)
class PersonChangedNumber:
    """A person moved to another phone number and keeps their memory."""

    kind_name: ClassVar[str] = "person_changed_number"
    event_id: str
    person: str
    new_person: str
    number: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class OptOut:
    """The provider reports that a person asked for silence."""

    kind_name: ClassVar[str] = "opt_out"
    event_id: str
    person: str
    number: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class Erase:
    """Everything about a person is to be forgotten, after what is already queued for them."""

    kind_name: ClassVar[str] = "erase"
    event_id: str
    agent: str
    person: str
    received_at: datetime


@dataclass(frozen=True, slots=True)
class DeliveryStatus:
    """The provider reports that a message of ours failed; other statuses are only counted."""

    kind_name: ClassVar[str] = "delivery_status"
    event_id: str
    person: str
    number: str
    message_id: str
    status: str
    received_at: datetime
    code: str = ""


Event = InboundMessage | OwnerMessage | NumberReplaced | PersonChangedNumber | OptOut | Erase | DeliveryStatus

_CLASSES: dict[str, type[Any]] = {
    cls.kind_name: cls
    for cls in (
        InboundMessage,
        OwnerMessage,
        NumberReplaced,
        PersonChangedNumber,
        OptOut,
        Erase,
        DeliveryStatus,
    )
}
_MOMENTS = frozenset({"sent_at", "received_at"})


@dataclass(frozen=True, slots=True)
class OutboundMessage:
    """One part of a reply on its way to the provider."""

    number: str
    address: str
    text: str
    idempotency_key: str
    reply_to: str = ""


def group_of(event: Event) -> str:
    """Who the event is about: events of one group are handled one after another, in order."""
    return event.old_number if isinstance(event, NumberReplaced) else event.person


def encode(event: Event) -> str:
    """The event as compact JSON: `{"v": 1, "event": "message", …}`."""
    # Only what `decode` puts back by itself is left out: a field's own default.
    defaults = {field.name: field.default for field in fields(event)}
    values = {
        name: to_iso(value) if name in _MOMENTS else value
        for name, value in asdict(event).items()
        if value != defaults[name]
    }
    return json.dumps(
        {"v": SCHEMA_VERSION, "event": event.kind_name, **values}, ensure_ascii=False, separators=(",", ":")
    )


def decode(body: str) -> Event:
    """The event that `encode` wrote. Fields that this version does not know are passed over.

    Raises:
        InvalidPayload: The text is no event, or one of a newer schema than this code knows.
    """
    try:
        values = json.loads(body)
        version, name = values.pop("v"), values.pop("event")
        cls = _CLASSES[name]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
        raise InvalidPayload("the queued text is no event of this application") from error
    if version != SCHEMA_VERSION:
        raise InvalidPayload(
            f"the queued event has schema version {version!r}, this code reads {SCHEMA_VERSION}: "
            "deploy the newer version, then redrive"
        )
    known = _known(cls, values)
    try:
        for moment in _MOMENTS & known.keys():
            known[moment] = from_iso(known[moment])
        if isinstance(known.get("media"), dict):
            known["media"] = Media(**_known(Media, known["media"]))
        event: Event = cls(**known)
        _check_types(event)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidPayload(f"the queued {name} event lacks a field or holds a wrong one") from error
    return event


def _check_types(record: Any) -> None:
    """Every field but moments and media is a text or a whole number, as its default or its name says."""
    for field in fields(record):
        value = getattr(record, field.name)
        if field.name in _MOMENTS:
            continue
        if field.name == "media":
            if value is not None:
                if not isinstance(value, Media):
                    raise TypeError(field.name)
                _check_types(value)
        elif not isinstance(value, int if field.name == "size" else str) or isinstance(value, bool):
            raise TypeError(field.name)


def _known(cls: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    names = {field.name for field in fields(cls)}
    return {name: value for name, value in values.items() if name in names}
