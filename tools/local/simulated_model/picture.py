"""Vision: the words that one of the project's own test pictures carries in its bytes."""

import base64
import binascii
from collections.abc import Mapping
from typing import Any

MARKER = b"PICTURE:"
"""What comes after it in a file, up to a zero byte or the end, is what the picture "shows"."""

UNKNOWN = "A picture."


def seen(body: Mapping[str, Any]) -> str | None:
    """What the first picture of a request shows; None where it has none."""
    for item in body.get("input") or ():
        content = item.get("content") if isinstance(item, dict) else None
        for part in content if isinstance(content, list) else ():
            if isinstance(part, dict) and part.get("type") == "input_image":
                return _shown(str(part.get("image_url", "")))
    return None


def shortened(value: Any) -> Any:
    """A request without the bytes of its pictures: a log of requests is no place for them."""
    if isinstance(value, dict):
        return {name: shortened(part) for name, part in value.items()}
    if isinstance(value, list):
        return [shortened(part) for part in value]
    return f"{value[:60]}…" if isinstance(value, str) and value.startswith("data:") else value


def _shown(url: str) -> str:
    try:
        data = base64.b64decode(url.partition(";base64,")[2], validate=True)
    except binascii.Error:
        return UNKNOWN
    _, marker, rest = data.partition(MARKER)
    words = rest.split(b"\0", 1)[0].decode("utf-8", "replace").strip()
    return words if marker and words else UNKNOWN
