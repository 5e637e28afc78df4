"""What every message of a FIFO queue needs: legal ids and a legal body.

Sources: Amazon SQS Developer Guide, "message quotas" (ids of up to 128 alphanumeric and punctuation
characters; bodies of U+0009, U+000A, U+000D, U+0020–U+D7FF, U+E000–U+FFFD and U+10000–U+10FFFF).
"""

import re
from hashlib import sha256

_LEGAL_ID = re.compile(r"[!-~]{1,128}")
_NOT_ALLOWED = re.compile(r"[\ufffe\uffff]")
_LONE_SURROGATE = re.compile(r"[\ud800-\udfff]")


def legal_id(text: str) -> str:
    """The text itself where SQS takes it as group or deduplication id, else its SHA-256 in hex.

    moto and ministack take ids that AWS refuses, so this rule cannot be left to a test against them.
    """
    if _LEGAL_ID.fullmatch(text):
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def legal_body(encoded: str) -> str:
    """The JSON text with the characters that SQS refuses escaped, so that the same text is read back.

    Half a surrogate pair is no character in any encoding: it becomes U+FFFD.
    """
    escaped = _NOT_ALLOWED.sub(lambda match: f"\\u{ord(match[0]):04x}", encoded)
    return _LONE_SURROGATE.sub("\ufffd", escaped)


def size_of(body: str) -> int:
    """Bytes of the body as SQS counts them."""
    return len(body.encode("utf-8"))
