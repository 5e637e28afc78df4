"""Signatures as in the Standard Webhooks specification."""

import base64
import binascii
import hashlib
import hmac
from collections.abc import Iterable

from whatsapp_agent.errors import ConfigurationError

_PREFIX = "whsec_"


def keys_of(secrets: str) -> tuple[bytes, ...]:
    """The signing keys in a text of secrets separated by blanks: `whsec_` and base64, or the key itself.

    Raises:
        ConfigurationError: There is no secret, or one of them is not what its prefix says.
    """
    keys = tuple(_key(secret) for secret in secrets.split())
    if not keys:
        raise ConfigurationError("WebhookSecret is empty: no webhook can be trusted")
    return keys


def _key(secret: str) -> bytes:
    if not secret.startswith(_PREFIX):
        return secret.encode()
    encoded = secret.removeprefix(_PREFIX)
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if not key:
        # Not chained: the cause could quote the secret.
        raise ConfigurationError("WebhookSecret: what follows whsec_ must be base64, and not empty")
    return key


def is_signed(keys: Iterable[bytes], message_id: str, timestamp: str, body: bytes, signatures: str) -> bool:
    """Whether one of the blank-separated `v1,<base64>` signatures belongs to one of the keys.

    Every pair is compared, in constant time.
    """
    signed = f"{message_id}.{timestamp}.".encode("utf-8", "replace") + body
    given = [
        value.encode("utf-8", "replace")
        for version, _, value in (signature.partition(",") for signature in signatures.split())
        if version == "v1"
    ]
    found = False
    for key in keys:
        expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
        for signature in given:
            found |= hmac.compare_digest(expected, signature)
    return found
