"""How a medium reads in the conversation: what was heard or seen, or why that was not possible. Pure.

Notes stand in round brackets behind the kind of the message (`[voice]`, `[image]`, …); the standing rules
tell the model how to read them.
"""

from whatsapp_agent.events import InboundMessage

DOCUMENT_CHARACTERS = 20_000
"""Characters of a document that are remembered: some ten pages. More would push the talk out of the window."""

CUT_MARK = " […]"

_WHY = {
    "too_large": "it is too large",
    "gone": "it is no longer there",
    "no_text": "it holds no text, perhaps it is a scan",
    "encrypted": "it is protected by a password",
    "over_limit": "too many were sent within an hour",
}


def _with_caption(event: InboundMessage, note: str) -> str:
    return f"{event.text.strip()}\n{note}".strip()


def heard(event: InboundMessage, transcript: str) -> str:
    """The words of a recording are the message; a caption stands before them."""
    return _with_caption(event, transcript.strip())


def seen(event: InboundMessage, description: str) -> str:
    """The caption, and what the picture shows."""
    return _with_caption(event, f"(The picture shows: {_one_line(description)})")


def read(event: InboundMessage, text: str) -> str:
    """The caption, the document's name, and its text up to `DOCUMENT_CHARACTERS`."""
    text = text.strip()
    if len(text) > DOCUMENT_CHARACTERS:
        text = text[: DOCUMENT_CHARACTERS - len(CUT_MARK)] + CUT_MARK
    return _with_caption(event, f"({_name(event)} says:)\n{text}")


def named(event: InboundMessage) -> str:
    """A document of a kind that is not read: its name is all there is."""
    return _with_caption(event, f"({_name(event)}: files of this kind cannot be opened)")


def unseen_video(event: InboundMessage) -> str:
    """A video is known by its caption."""
    return _with_caption(event, "(A video; videos are not watched)")


def unread(event: InboundMessage, code: str) -> str:
    """A medium that could not be read, and why in general terms."""
    why = _WHY.get(code, "it could not be read")
    return _with_caption(event, f"({_thing(event)} could not be opened: {why})")


def _thing(event: InboundMessage) -> str:
    names = {"voice": "The voice message", "audio": "The recording", "document": _name(event)}
    return names.get(event.kind, f"The {event.kind}")


def _name(event: InboundMessage) -> str:
    filename = _one_line(event.media.filename) if event.media else ""
    return f'The document "{filename}"' if filename else "The document"


def _one_line(text: str) -> str:
    return " ".join(text.split())
