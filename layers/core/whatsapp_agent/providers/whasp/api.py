"""Sends through whasp's REST API.

whasp publishes no reference of it: paths, fields and codes are assumptions and stand in this file only, so
that a correction touches one file. A message carries an idempotency key, which whasp honours for 24 hours:
sending the same part again after a crash or a timeout reaches the person once.
"""

import contextlib
import re
from dataclasses import replace
from urllib.parse import quote

import urllib3

from whatsapp_agent.clock import Clock, utc_now
from whatsapp_agent.credentials import Key
from whatsapp_agent.errors import (
    AgentError,
    NumberRetired,
    ProviderUnavailable,
    RecipientOptedOut,
    SendRejected,
)
from whatsapp_agent.events import Media, OutboundMessage
from whatsapp_agent.providers.downloads import bytes_of, safe_id
from whatsapp_agent.providers.http import Answer, JsonApi, header_value, retry_after

MESSAGES_PATH = "/v1/messages"
MEDIA_PATH = "/v1/media/{media}"
TYPING_PATH = "/v1/chats/{chat}/typing"
IDEMPOTENCY_HEADER = "Idempotency-Key"

# 408 and 425 say by their definition (RFC 9110, RFC 8470) that the same request may be sent again.
_TRY_LATER = frozenset({408, 425, 429})
_CODE = re.compile(r"[a-z0-9_]{1,40}")


class WhaspProvider:
    """`ports.Provider` on whasp."""

    def __init__(
        self,
        base_url: str,
        api_key: str | Key,
        *,
        seconds: float = 10.0,
        typing_seconds: float = 2.0,
        now: Clock = utc_now,
        pool: urllib3.PoolManager | None = None,
    ) -> None:
        """Checks the settings, opens nothing.

        Args:
            base_url: The API's URL without `/v1`.
            api_key: Sent as a bearer token.
            seconds: Budget of one request for a message.
            typing_seconds: Budget of the request that shows that an answer is being written.
            now: Reads a `Retry-After` that is a date.
            pool: Connections to use instead of an own pool.

        Raises:
            ConfigurationError: The URL or the key cannot be right.
        """
        self._api = JsonApi(base_url, api_key, pool=pool)
        self._seconds = seconds
        self._typing_seconds = typing_seconds
        self._now = now

    def send(self, message: OutboundMessage) -> str:
        """Sends one part; returns whasp's id of it, empty where a message was taken without one.

        A retired number's successor is used once, with the same key: the person hears the answer although
        the number they wrote to is gone.

        Raises:
            ProviderUnavailable: Try again later, with the same key.
            RecipientOptedOut: The person asked for silence.
            NumberRetired: The number is gone and has no successor, or the successor is gone too.
            SendRejected: Never for this message; `code` is whasp's, `unauthorized` for a wrong key.
        """
        try:
            return self._send(message)
        except NumberRetired as retired:
            if retired.replaced_by in ("", message.number):
                raise
            successor = retired.replaced_by
        return self._send(replace(message, number=successor))

    def typing(self, number: str, address: str, message_id: str) -> None:  # noqa: ARG002 - the port's signature
        """Shows the person that an answer is being written. Best effort: never raises."""
        # The answer matters more than the sign that it is coming, whatever goes wrong with that sign.
        with contextlib.suppress(Exception):
            path = TYPING_PATH.format(chat=quote(address, safe=""))
            self._api.post(path, {"number": number}, seconds=self._typing_seconds)

    def fetch(self, number: str, media: Media, *, seconds: float, most_bytes: int) -> bytes:  # noqa: ARG002
        """The bytes of a medium, see `media.MediaStore`."""
        path = MEDIA_PATH.format(media=safe_id(media.id))
        answer = self._api.get(path, seconds=seconds, most_bytes=most_bytes + 1)
        return bytes_of(answer, most_bytes, self._now())

    def _send(self, message: OutboundMessage) -> str:
        body = {"number": message.number, "chat": message.address, "text": message.text}
        if message.reply_to:
            body["reply_to"] = message.reply_to
        key = header_value(message.idempotency_key)
        answer = self._api.post(MESSAGES_PATH, body, seconds=self._seconds, headers={IDEMPOTENCY_HEADER: key})
        if not answer.ok:
            raise self._translate(answer)
        # Accepted is accepted: an answer that cannot be read must not make the part go out again.
        provider_id = answer.json().get("id")
        return provider_id if isinstance(provider_id, str) else ""

    def _translate(self, answer: Answer) -> AgentError:
        """The application's error for one of whasp's answers."""
        status = answer.status
        error = answer.child("error")
        code = error.get("code")
        code = code if isinstance(code, str) and _CODE.fullmatch(code) else f"http_{status}"
        if status in _TRY_LATER or status >= 500:
            return ProviderUnavailable(
                f"whasp answered {status}", retry_after=retry_after(answer.headers, self._now())
            )
        if status == 401:
            return SendRejected("whasp refused the API key: check ProviderApiKey", code="unauthorized")
        if status == 403 and code == "opted_out":
            return RecipientOptedOut("the person has opted out of messages", code=code)
        if status == 409 and code == "number_retired":
            # The contract names the field, not its place: beside the code or at the top.
            successor = error.get("replaced_by") or answer.json().get("replaced_by")
            return NumberRetired(
                "the business number is retired", replaced_by=successor if isinstance(successor, str) else ""
            )
        if 300 <= status < 400:
            return SendRejected("whasp answered with a redirect: check WhaspApiUrl", code=code)
        return SendRejected(f"whasp refused the message: {code}", code=code)
