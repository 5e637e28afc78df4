"""Media: what a file is by its bytes, and what the use cases need to fetch one and to read it. No I/O."""

from dataclasses import dataclass
from typing import Literal, Protocol

from whatsapp_agent.events import Media

Sort = Literal["audio", "image", "pdf", "text", "other"]

_AUDIO_BRANDS = (b"M4A ", b"M4B ")
_NAMES = ("ogg", "mp3", "m4a", "mp4", "wav", "webm", "flac")
"""Containers that transcription services take, by the ending of their file's name."""


@dataclass(frozen=True, slots=True)
class FileType:
    """What a file is.

    Attributes:
        extension: The usual ending of its name, without the dot; empty where it is unknown.
        mime_type: Its media type, without parameters.
        readable: Whether it can become text: by transcription, vision or extraction.
    """

    sort: Sort
    extension: str = ""
    mime_type: str = "application/octet-stream"
    readable: bool = False


@dataclass(frozen=True, slots=True)
class Heard:
    """A transcript; `silent` where nobody speaks in the recording, whatever the text says."""

    text: str
    silent: bool = False


class MediaStore(Protocol):
    """Where the provider keeps media.

    Raises, beside `TransientError`:
        MediaUnreadable: It is gone, or may not be fetched.
        MediaTooLarge: It is larger than `most_bytes`; no more than that was held.
    """

    def fetch(self, number: str, media: Media, *, seconds: float, most_bytes: int) -> bytes:
        """The bytes of a medium that came through `number`, within `seconds`."""


class Senses(Protocol):
    """Hears and sees. Raises as `ports.Model` does."""

    def transcribe(self, audio: bytes, filename: str, *, model: str, seconds: float) -> Heard:
        """What is said in a recording. `filename` tells the container by its ending."""

    def describe(self, picture: bytes, mime_type: str, *, language: str, caption: str, seconds: float) -> str:
        """What a picture shows, in the language with that tag; never empty."""


class DocumentReader(Protocol):
    """Reads documents."""

    def pdf_text(self, data: bytes, *, seconds: float, most_characters: int) -> str:
        """The text of a PDF, from its beginning.

        Raises:
            MediaUnreadable: It holds no text (a scan), is encrypted or broken, or took too long.
        """


def file_type(data: bytes) -> FileType:
    """What the bytes are, by their beginning; what a sender says about them does not count."""
    head = data[:64]
    for found in (_image(head), _audio(head)):
        if found is not None:
            return found
    if b"%PDF-" in data[:1024]:
        return FileType("pdf", "pdf", "application/pdf", readable=True)
    if data and _is_text(data):
        return FileType("text", "txt", "text/plain", readable=True)
    return FileType("other", "zip" if head.startswith(b"PK\x03\x04") else "")


def _image(head: bytes) -> FileType | None:
    if head.startswith(b"\xff\xd8\xff"):
        return FileType("image", "jpg", "image/jpeg", readable=True)
    if head.startswith(b"\x89PNG\r\n\x1a\n"):
        return FileType("image", "png", "image/png", readable=True)
    if head.startswith((b"GIF87a", b"GIF89a")):
        return FileType("image", "gif", "image/gif", readable=True)
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        # Bit 1 of the extended header's flags: an animation, which vision services refuse.
        moving = head[12:16] == b"VP8X" and len(head) > 20 and bool(head[20] & 2)
        return FileType("image", "webp", "image/webp", readable=not moving)
    return None


def _audio(head: bytes) -> FileType | None:
    extension = ""
    if head.startswith(b"OggS"):
        extension = "ogg"
    elif head.startswith(b"ID3") or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2):
        extension = "mp3"
    elif head[4:8] == b"ftyp":
        extension = "m4a" if head[8:12] in _AUDIO_BRANDS else "mp4"
    elif head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        extension = "wav"
    elif head.startswith(b"fLaC"):
        extension = "flac"
    elif head.startswith(b"\x1a\x45\xdf\xa3"):
        extension = "webm"
    elif head.startswith(b"#!AMR"):
        extension = "amr"
    elif len(head) > 1 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0:
        extension = "aac"
    if not extension:
        return None
    return FileType("audio", extension, f"audio/{extension}", readable=extension in _NAMES)


def _is_text(data: bytes) -> bool:
    if b"\x00" in data[:4096]:
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
