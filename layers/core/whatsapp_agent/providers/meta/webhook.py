"""Reads the webhooks of Meta's WhatsApp Cloud API: handshake, signature, envelope."""

import hashlib
import hmac
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from whatsapp_agent.errors import ConfigurationError, InvalidPayload, InvalidSignature
from whatsapp_agent.ports.provider import Delivery
from whatsapp_agent.providers.meta.messages import ValueReader
from whatsapp_agent.providers.payload import DeliveryBuilder, items_of, name_of, object_of, read_json

_SIGNATURE_HEADER = "x-hub-signature-256"
_MOST_CHALLENGE = 256
_FIELDS = frozenset({"messages", "smb_message_echoes"})


class MetaWebhook:
    """Meta's Cloud API, incoming side.

    Args:
        secrets: One or more app secrets separated by blanks; each of them is valid.
        verify_token: The text that Meta's console sends with the handshake.
    """

    def __init__(self, secrets: str, verify_token: str) -> None:
        self._secrets = secrets
        self._verify_token = verify_token

    def handshake(self, query: Mapping[str, str]) -> str:
        """The raw challenge, as Meta expects it back.

        Raises:
            InvalidSignature: It is no subscription, or the token is wrong or empty.
        """
        given = query.get("hub.verify_token", "").encode("utf-8", "replace")
        expected = self._verify_token.encode()
        challenge = query.get("hub.challenge", "")
        if (
            not expected
            or not hmac.compare_digest(given, expected)
            or query.get("hub.mode") != "subscribe"
            or not (challenge.isascii() and challenge.isalnum() and len(challenge) <= _MOST_CHALLENGE)
        ):
            raise InvalidSignature("the handshake is refused")
        return challenge

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> None:  # noqa: ARG002
        """Checks `X-Hub-Signature-256` over the raw bytes. Meta signs no time, so none is checked.

        Raises:
            InvalidSignature: Not signed, or wrongly signed.
            ConfigurationError: No app secret is configured.
        """
        secrets = self._secrets.split()
        if not secrets:
            raise ConfigurationError("WebhookSecret is empty: no webhook can be trusted")
        algorithm, _, given = headers.get(_SIGNATURE_HEADER, "").strip().partition("=")
        if algorithm != "sha256" or not given:
            raise InvalidSignature("the signature's header is missing or of another kind")
        found = False
        for secret in secrets:
            expected = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
            found |= hmac.compare_digest(expected.encode(), given.lower().encode("utf-8", "replace"))
        if not found:
            raise InvalidSignature("the signature belongs to no secret of this deployment")

    def parse(self, body: bytes, now: datetime) -> Delivery:
        """Reads every message and status of every change of every entry, in order.

        Raises:
            InvalidPayload: The body is no JSON object.
        """
        payload = read_json(body)
        if not isinstance(payload, dict):
            raise InvalidPayload("the webhook's body is no JSON object")
        builder = DeliveryBuilder()
        if payload.get("object") != "whatsapp_business_account":
            builder.ignore("other_object")
            return builder.build()
        for entry in items_of(payload.get("entry")):
            for change in items_of(object_of(entry).get("changes")):
                _read_change(builder, object_of(change), now)
        return builder.build()


def _read_change(builder: DeliveryBuilder, change: Mapping[str, Any], now: datetime) -> None:
    field = name_of(change.get("field"))
    if field not in _FIELDS:
        # Among them `history`, `user_preferences`, `message_template_status_update`.
        builder.ignore(field)
        return
    reader = ValueReader(object_of(change.get("value")), now)
    if field == "smb_message_echoes":
        for echo in reader.echoes:
            builder.read(reader.echo, echo)
        return
    for message in reader.messages:
        builder.read(reader.message, message)
    for status in reader.statuses:
        builder.read(reader.status, status)
    if reader.errors:
        builder.ignore("errors", len(reader.errors))
