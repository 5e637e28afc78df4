"""What a message of Meta's Cloud API says, by its type."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from whatsapp_agent.events import Media
from whatsapp_agent.providers import described
from whatsapp_agent.providers.payload import id_of, name_of, object_of, text_of
from whatsapp_agent.providers.people import media_of


@dataclass(frozen=True, slots=True)
class Content:
    """A message's kind in this application's words, and what it carries."""

    kind: str
    text: str = ""
    media: Media | None = None
    target_id: str = ""


def content_of(message: Mapping[str, Any], kind: str) -> Content:
    """The content of a message whose `type` is `kind`."""
    read = _READERS.get(kind)
    if read is None:
        return Content("unsupported", described.unsupported(kind))
    # The field of contact cards is a list; that of every other type is an object.
    return read(message if kind == "contacts" else object_of(message.get(kind)))


def _text(part: Mapping[str, Any]) -> Content:
    return Content("text", text_of(part.get("body")))


def _medium(kind: str) -> Callable[[Mapping[str, Any]], Content]:
    def read(part: Mapping[str, Any]) -> Content:
        name = "voice" if kind == "audio" and part.get("voice") is True else kind
        return Content(name, described.caption(part.get("caption")), media_of(part))

    return read


def _location(part: Mapping[str, Any]) -> Content:
    return Content("location", described.location(part))


def _contacts(message: Mapping[str, Any]) -> Content:
    return Content("contacts", described.contacts(message.get("contacts")))


def _order(part: Mapping[str, Any]) -> Content:
    return Content("text", described.order(part))


def _template_button(part: Mapping[str, Any]) -> Content:
    return Content("button", described.choice(part))


def _reaction(part: Mapping[str, Any]) -> Content:
    return Content("reaction", text_of(part.get("emoji"), 32), target_id=id_of(part.get("message_id")))


def _revoked(part: Mapping[str, Any]) -> Content:
    return Content("deleted", target_id=id_of(part.get("original_message_id")))


def _unsupported(part: Mapping[str, Any]) -> Content:
    return Content("unsupported", described.unsupported(name_of(part.get("type"))))


def _interactive(part: Mapping[str, Any]) -> Content:
    kind = name_of(part.get("type"))
    if kind == "button_reply":
        return Content("button", described.choice(object_of(part.get(kind))))
    if kind == "list_reply":
        return Content("list", described.choice(object_of(part.get(kind))))
    if kind == "nfm_reply":
        return Content("button", described.form(object_of(part.get(kind))))
    return Content("unsupported", described.unsupported(kind))


def _edit(part: Mapping[str, Any]) -> Content:
    """The new text of an earlier message: its body, or the new caption of its medium."""
    new = object_of(part.get("message"))
    body = object_of(new.get(name_of(new.get("type"))))
    text = text_of(body.get("body")) or described.caption(body.get("caption"))
    return Content("edited", text, target_id=id_of(part.get("original_message_id")))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Content]] = {
    "text": _text,
    **{kind: _medium(kind) for kind in ("audio", "image", "video", "document", "sticker")},
    "location": _location,
    "contacts": _contacts,
    "order": _order,
    "button": _template_button,
    "interactive": _interactive,
    "reaction": _reaction,
    "edit": _edit,
    "revoke": _revoked,
    "unsupported": _unsupported,
}
