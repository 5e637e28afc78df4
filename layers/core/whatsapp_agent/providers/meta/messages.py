"""Reads one `value` of Meta's `messages` field: its messages and statuses.

A person is known by their phone number where Meta gives one, else by their business-scoped user id
(`from_user_id`, for example `US.1349…`). Where both come, the phone is the key and the id its alias.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from whatsapp_agent.events import DeliveryStatus, Event, InboundMessage, OwnerMessage, PersonChangedNumber
from whatsapp_agent.memory.quoting import is_blank
from whatsapp_agent.providers.meta.content import content_of
from whatsapp_agent.providers.payload import (
    code_of,
    event_id_of,
    id_of,
    items_of,
    line_of,
    moment_of,
    name_of,
    object_of,
    text_of,
)
from whatsapp_agent.providers.people import is_shared_chat, person_of

_NOTHING_SAID = frozenset({"request_welcome", "ephemeral"})
"""Messages that the app writes by itself: somebody opened the chat, or turned on disappearing messages."""

_NEVER_BLANK = frozenset({"text", "button", "list"})


class ValueReader:
    """One `value` object.

    Attributes:
        number: The `phone_number_id`: what the sending side needs, and how Meta names a business number.
    """

    def __init__(self, value: Mapping[str, Any], now: datetime) -> None:
        metadata = object_of(value.get("metadata"))
        self.number = line_of(metadata.get("phone_number_id"), 64)
        self.messages = items_of(value.get("messages"))
        self.statuses = items_of(value.get("statuses"))
        self.errors = items_of(value.get("errors"))
        self.echoes = items_of(value.get("message_echoes"))
        self._label = line_of(metadata.get("display_phone_number"), 64)
        self._contacts = [object_of(contact) for contact in items_of(value.get("contacts"))]
        self._now = now

    def message(self, message: Mapping[str, Any]) -> tuple[Event, ...] | str:
        """The events in one message, or the name under which it is passed over."""
        kind = name_of(message.get("type"))
        if kind == "system":
            return self._system(message)
        if kind in _NOTHING_SAID:
            return kind
        contact = self._contact(message)
        phone = text_of(message.get("from"), 256).strip() or text_of(contact.get("wa_id"), 256).strip()
        if message.get("group_id") or is_shared_chat(phone):
            return "group"
        user_id = text_of(message.get("from_user_id"), 256) or text_of(contact.get("user_id"), 256)
        address = phone if person_of(phone) else user_id.strip()
        person = person_of(address)
        if not person:
            return "bad_address"
        content = content_of(message, kind)
        if content.kind in _NEVER_BLANK and is_blank(content.text):
            return "blank"
        alias = person_of(user_id) if address == phone else ""
        event = InboundMessage(
            event_id=event_id_of(message.get("id"), message),
            person=person,
            address=address,
            number=self.number,
            message_id=id_of(message.get("id")),
            kind=content.kind,
            text=content.text,
            sent_at=moment_of(message.get("timestamp"), self._now),
            received_at=self._now,
            media=content.media,
            target_id=content.target_id,
            reply_to=id_of(object_of(message.get("context")).get("id")),
            contact_name=line_of(object_of(contact.get("profile")).get("name")),
            label=self._label,
            alias="" if alias == person else alias,
        )
        return (event,)

    def _contact(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """The contact with the sender's number or user id; where the message names no sender, the only
        contact of an only message.
        """
        for contact in self._contacts:
            for mine, theirs in (("from", "wa_id"), ("from_user_id", "user_id")):
                if message.get(mine) and message.get(mine) == contact.get(theirs):
                    return contact
        nameless = not message.get("from") and not message.get("from_user_id")
        alone = len(self._contacts) == len(self.messages) == 1
        return self._contacts[0] if nameless and alone else {}

    def _system(self, message: Mapping[str, Any]) -> tuple[Event, ...] | str:
        """A person's changed phone number, changed user id, or both; each new one leads to the old key."""
        system = object_of(message.get("system"))
        kind = name_of(system.get("type"))
        if kind not in ("user_changed_number", "user_changed_user_id"):
            return "system"
        former = (
            person_of(text_of(message.get("from"), 256)),
            person_of(text_of(system.get("previous_user_id"), 256)),
        )
        person = next((key for key in former if key), "")
        # `new_wa_id` is how earlier versions of the API named it.
        phone = text_of(system.get("wa_id"), 256) or text_of(system.get("new_wa_id"), 256)
        addresses = (phone, text_of(system.get("user_id"), 256))
        changed = [new for address in addresses if (new := person_of(address)) and new != person]
        if not person or not changed:
            return "bad_address"
        event_id = event_id_of(message.get("id"), message)
        return tuple(
            PersonChangedNumber(
                event_id=event_id if place == 0 else f"{event_id}:{place}",
                person=person,
                new_person=new,
                number=self.number,
                received_at=self._now,
            )
            for place, new in enumerate(dict.fromkeys(changed))
        )

    def echo(self, message: Mapping[str, Any]) -> tuple[Event, ...] | str:
        """What the owner wrote from the WhatsApp Business app: `from` is the business, `to` the person."""
        kind = name_of(message.get("type"))
        if kind in _NOTHING_SAID or kind == "system":
            return kind
        phone = text_of(message.get("to"), 256).strip()
        if message.get("group_id") or is_shared_chat(phone):
            return "group"
        address = phone if person_of(phone) else text_of(message.get("to_user_id"), 256).strip()
        person = person_of(address)
        if not person:
            return "bad_address"
        content = content_of(message, kind)
        if content.kind in _NEVER_BLANK and is_blank(content.text):
            return "blank"
        event = OwnerMessage(
            event_id=event_id_of(message.get("id"), message),
            person=person,
            address=address,
            number=self.number,
            message_id=id_of(message.get("id")),
            kind=content.kind,
            text=content.text,
            sent_at=moment_of(message.get("timestamp"), self._now),
            received_at=self._now,
            target_id=content.target_id,
            label=self._label,
        )
        return (event,)

    def status(self, status: Mapping[str, Any]) -> tuple[Event, ...] | str:
        """A failed delivery with its code, or the name of a status that is only counted."""
        name = name_of(status.get("status"))
        if name != "failed":
            return f"status.{name}"
        if not id_of(status.get("id")):
            return "malformed"
        # Beside messages, the contacts are their senders.
        contact = self._contacts[0] if len(self._contacts) == 1 and not self.messages else {}
        recipients = (
            status.get("recipient_id"),
            status.get("recipient_user_id"),
            contact.get("wa_id"),
            contact.get("user_id"),
        )
        person = next((key for value in recipients if (key := person_of(text_of(value, 256)))), "")
        if not person:
            return "bad_address"
        errors = [object_of(error) for error in items_of(status.get("errors"))]
        event = DeliveryStatus(
            event_id=f"{id_of(status.get('id'))}:failed",
            person=person,
            number=self.number,
            message_id=id_of(status.get("id")),
            status="failed",
            received_at=self._now,
            code=code_of(errors[0].get("code")) if errors else "",
        )
        return (event,)
