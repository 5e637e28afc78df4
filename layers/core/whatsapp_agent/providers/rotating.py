"""A webhook whose secrets may change while the process runs."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Protocol, TypeVar

from whatsapp_agent.errors import InvalidSignature
from whatsapp_agent.ports.provider import Delivery, Webhook

_T = TypeVar("_T")


class SecretSource(Protocol):
    """Where the secrets come from: `whatsapp_agent.secrets.JsonSecret`."""

    def read(self) -> Mapping[str, str]:
        """The secret's texts, possibly some minutes old."""

    def refresh(self) -> Mapping[str, str] | None:
        """The secret's texts, read anew; None where that was done too short a time ago."""


class RotatingWebhook:
    """Builds the provider's webhook from the secrets of the moment, and reads them anew, once, when a
    check fails: a request signed with a secret that was set a minute ago is taken.
    """

    def __init__(self, source: SecretSource, build: Callable[[Mapping[str, str]], Webhook]) -> None:
        self._source = source
        self._build = build

    def handshake(self, query: Mapping[str, str]) -> str:
        """See `Webhook.handshake`. Besides: `TransientError` where the secrets cannot be read."""
        return self._checked(lambda webhook: webhook.handshake(query))

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
        """See `Webhook.verify`. Besides: `TransientError` where the secrets cannot be read."""
        self._checked(lambda webhook: webhook.verify(headers, body, now))

    def parse(self, body: bytes, now: datetime) -> Delivery:
        """See `Webhook.parse`."""
        return self._build({}).parse(body, now)

    def _checked(self, check: Callable[[Webhook], _T]) -> _T:
        try:
            return check(self._build(self._source.read()))
        except InvalidSignature:
            fresh = self._source.refresh()
            if fresh is None:
                raise
        return check(self._build(fresh))
