"""Transcription of audio: the words that one of the project's own test recordings carries in its bytes."""

import re

MARKER = b"TRANSCRIPT:"
"""What comes after it in a file, up to a zero byte or the end, is what was "said". No marker: silence."""


def transcribe(audio: bytes) -> str:
    """The words in the recording; empty for silence and for recordings of somebody else's."""
    _, marker, rest = audio.partition(MARKER)
    return rest.split(b"\0", 1)[0].decode("utf-8", "replace").strip() if marker else ""


def fields(body: bytes, content_type: str) -> dict[str, bytes]:
    """The fields of a multipart form by name; a file's content under its field's name, and the file's own
    name under `<field>.filename`.

    Raises:
        ValueError: The body is no multipart form.
    """
    boundary = re.search(r'boundary="?([^";]+)"?', content_type)
    if not boundary:
        raise ValueError("no multipart boundary")
    found: dict[str, bytes] = {}
    for part in body.split(b"--" + boundary[1].encode("latin-1"))[1:-1]:
        head, separator, content = part.partition(b"\r\n\r\n")
        name = re.search(rb'\bname="([^"]*)"', head)
        if not separator or not name:
            continue
        key = name[1].decode("utf-8", "replace")
        found[key] = content.removesuffix(b"\r\n")
        if filename := re.search(rb'\bfilename="([^"]*)"', head):
            found[f"{key}.filename"] = filename[1]
    return found
