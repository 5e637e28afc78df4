"""The WhatsApp provider, as protocols: what comes from it, and what goes to it.

Every method may raise `TransientError` (the call may succeed later). Other errors are named where they can
happen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whatsapp_agent.events import Event, OutboundMessage


class Provider(Protocol):
    """A WhatsApp provider, outgoing side.

    Raises, from `send`:
        ProviderUnavailable: Try again later.
        WindowClosed, RecipientOptedOut, NumberRetired, SendRejected: Never for this message.
    """

    def send(self, message: OutboundMessage) -> str:
        """Sends one part; returns the provider's id of it."""

    def typing(self, number: str, address: str, message_id: str) -> None:
        """Shows the person that an answer is being written. Best effort: never raises."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """What one webhook request brought: events to queue, and how many things were passed over, by name."""

    events: tuple[Event, ...]
    ignored: Mapping[str, int]


class Webhook(Protocol):
    """A WhatsApp provider, incoming side. Pure: no I/O."""

    def handshake(self, query: Mapping[str, str]) -> str:
        """The text that answers the provider's GET, for providers that ask one.

        Raises:
            InvalidSignature: The token is wrong, or this provider knows no handshake.
        """

    def verify(self, headers: Mapping[str, str], body: bytes, now: datetime) -> None:
        """Checks the signature over the raw bytes, in constant time. `headers` has lower-case names.

        Raises:
            InvalidSignature: Not signed, wrongly signed, or signed too long ago.
            ConfigurationError: No secret is configured: nothing can be trusted.
        """

    def parse(self, body: bytes, now: datetime) -> Delivery:
        """Reads a verified body. What is unknown is counted, never an error.

        Raises:
            InvalidPayload: The body is no JSON object.
        """
