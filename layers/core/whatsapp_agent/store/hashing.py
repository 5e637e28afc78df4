"""Names for conversations from which nobody without the key can compute the phone number."""

import hmac


def keyed_hash(key: bytes, text: str) -> str:
    """HMAC-SHA256 of the text, in hex."""
    return hmac.digest(key, text.encode(), "sha256").hex()
