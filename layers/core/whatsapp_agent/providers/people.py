"""Whom a payload is about: a person's key, or a chat that is nobody's."""

import re

from whatsapp_agent.events import Media
from whatsapp_agent.phones import canonical
from whatsapp_agent.providers.payload import line_of, object_of, text_of

_SHARED_CHAT = re.compile(r"@(g\.us|broadcast|newsletter|lists)$", re.IGNORECASE)
MEDIA_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:=-]{0,255}")


def person_of(address: str) -> str:
    """The canonical key of the person at this address, or an empty text where it is nobody's address."""
    try:
        return canonical(address)
    except ValueError:
        return ""


def is_shared_chat(address: str) -> bool:
    """Whether the address is a group, a broadcast list or a channel, by WhatsApp's own suffixes."""
    return _SHARED_CHAT.search(address.strip()) is not None


def media_of(value: object) -> Media | None:
    """A medium with an id that is safe in a URL's path, or None: `../x` and `1?fields=owner` are no ids."""
    fields = object_of(value)
    identifier = text_of(fields.get("id"), 300)
    if not MEDIA_ID.fullmatch(identifier):
        return None
    size = fields.get("size", fields.get("file_size"))
    plausible = isinstance(size, int) and not isinstance(size, bool) and 0 <= size < 10**12
    return Media(
        id=identifier,
        mime_type=line_of(fields.get("mime_type"), 100),
        size=size if plausible and isinstance(size, int) else 0,
        filename=line_of(fields.get("filename")),
    )
