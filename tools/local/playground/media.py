"""What a person sends that is no text, in the form of the stack's provider, with samples to send at once."""

import base64
import struct
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tools.local.errors import LocalError
from tools.local.simulated_model.transcribe import MARKER
from tools.local.simulated_provider import meta

MOST_BYTES = 25_000_000

_PLACE = {
    "latitude": 37.377222,
    "longitude": -5.986944,
    "name": "Plaza de España",
    "address": "Sevilla",
}
_SAMPLE_TEXT = (
    "Appointment: Tuesday at 10:30, Calle Sierpes 12. Please bring your card and be there ten minutes early."
)


@dataclass(frozen=True, slots=True)
class File:
    """Bytes that the provider is to hold."""

    name: str
    mime_type: str
    data: bytes


def file_of(kind: str, words: str, given: Mapping[str, Any] | None) -> File:
    """The file that was chosen on the page, or a sample.

    Args:
        words: Of a sample voice note: what is said in it. Only the simulated model can hear that.

    Raises:
        LocalError: It is too large, or not encoded as it must be.
    """
    if given:
        try:
            data = base64.b64decode(str(given.get("data", "")), validate=True)
        except ValueError as error:
            raise LocalError("the file is not base64") from error
        if len(data) > MOST_BYTES:
            raise LocalError("the file is larger than 25 MB")
        return File(str(given.get("name", "")), str(given.get("type") or "application/octet-stream"), data)
    if kind == "voice":
        return File("voice.ogg", "audio/ogg; codecs=opus", b"OggS\0\2" + MARKER + words.encode() + b"\0")
    if kind == "image":
        return File("photo.png", "image/png", sunset())
    return File("appointment.txt", "text/plain", _SAMPLE_TEXT.encode())


def message_of(provider: str, kind: str, media_id: str, file: File | None, caption: str) -> dict[str, Any]:
    """The provider's message object.

    Raises:
        LocalError: The kind is none that the page sends.
    """
    if kind == "location":
        return {"type": "location", "location": _PLACE} if provider == meta.NAME else {"type": kind, **_PLACE}
    if kind not in ("voice", "image", "document") or file is None:
        raise LocalError(f"the page sends no {kind}")
    said = {"caption": caption} if caption and kind != "voice" else {}
    if provider == meta.NAME:
        name = "audio" if kind == "voice" else kind
        more: dict[str, Any] = {"voice": True} if kind == "voice" else {}
        more |= {"filename": file.name} if kind == "document" else {}
        return {"type": name, name: {"id": media_id, "mime_type": file.mime_type, **more, **said}}
    medium = {"id": media_id, "mime_type": file.mime_type, "size": len(file.data), "filename": file.name}
    return {"type": kind, "media": medium, **said}


def sunset(width: int = 160, height: int = 120) -> bytes:
    """A picture: the sun over the sea, as PNG."""
    rows = bytearray()
    for y in range(height):
        rows.append(0)
        for x in range(width):
            rows += bytes(_colour(x / width, y / height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(bytes(rows), 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
        for name, data in chunks
    )


def _colour(x: float, y: float) -> tuple[int, int, int]:
    if ((x - 0.62) * 4 / 3) ** 2 + (y - 0.5) ** 2 < 0.018 and y < 0.62:
        return 255, 236, 170
    if y < 0.62:
        return int(90 + 250 * y), int(80 + 130 * y), int(150 - 60 * y)
    shine = 70 if abs(x - 0.62) < (y - 0.55) * 0.4 and int(y * 60) % 2 else 0
    return 24 + shine, 70 + shine, int(150 - 90 * (y - 0.62)) + shine // 2
