"""Sends through Meta's WhatsApp Cloud API.

Sources: Meta's reference of `POST /<version>/<phone number id>/messages`, its page on business-scoped user
ids and its list of error codes (Graph API v26.0, of 29 July 2026).

Meta takes no idempotency key. A part whose answer was lost (timeout, reset connection, crash before the
outbox was written) is sent again and may reach the person twice; nothing on this side can close that
window. `number` is Meta's phone number id, as the webhook's `metadata.phone_number_id` gives it.
"""

import contextlib
import re
from datetime import timedelta
from time import monotonic
from urllib.parse import quote, urlsplit

import urllib3

from whatsapp_agent.clock import Clock, utc_now
from whatsapp_agent.credentials import Key
from whatsapp_agent.errors import (
    AgentError,
    MediaTooLarge,
    MediaUnreadable,
    ProviderUnavailable,
    RecipientOptedOut,
    SendRejected,
    WindowClosed,
)
from whatsapp_agent.events import Media, OutboundMessage
from whatsapp_agent.providers.downloads import bytes_of, check_answer, safe_id
from whatsapp_agent.providers.http import Answer, JsonApi, retry_after

GRAPH_VERSION = "v26.0"
"""Used where the configured URL names no version. Meta keeps a version for about two years."""

META_WINDOW = timedelta(hours=24)
"""How long after a person's message Meta takes free text to them."""

# 1, 2: Graph API unknown or down. 4, 17, 613, 80007: rate of the app, the user, the account. 130429: messages
# per second. 131056: messages to one person. 131000, 131016, 131057, 133004: something failed at Meta.
_TRY_LATER = frozenset({1, 2, 4, 17, 613, 80007, 130429, 131000, 131016, 131056, 131057, 133004})
_WINDOW_CLOSED = 131047
_OPTED_OUT = 131050
_HINTS = {
    0: "Meta refused the access token: renew ProviderApiKey",
    10: "the access token lacks the permission whatsapp_business_messaging",
    33: "the phone number id does not exist any more",
    100: "Meta refused a field, or the phone number id is not of this account",
    190: "the access token has expired or was revoked: renew ProviderApiKey",
    368: "Meta has blocked the account for a policy violation",
    131005: "the access token may not use this phone number",
    131026: "the person cannot receive the message",
    131030: "the person is not on the test number's list: add them in the app's WhatsApp setup",
    131031: "Meta has locked the account",
    131042: "the account's payment method failed",
    131048: "Meta restricts this number because people reported it as spam",
    131049: "Meta held the message back to spare the person",
    133010: "the phone number is not registered with the Cloud API",
}
_URL_EXPIRED = frozenset({401, 403, 404, 410})
MEDIA_DOMAIN = "fbsbx.com"
"""Where Meta keeps media: `lookaside.fbsbx.com`."""

_USER_ID = re.compile(r"[A-Z]{2}\.[A-Za-z0-9.]{1,140}")


class MetaProvider:
    """`ports.Provider` on the Cloud API."""

    def __init__(
        self,
        graph_api_url: str,
        access_token: str | Key,
        *,
        seconds: float = 10.0,
        typing_seconds: float = 2.0,
        now: Clock = utc_now,
        pool: urllib3.PoolManager | None = None,
    ) -> None:
        """Checks the settings, opens nothing.

        Args:
            graph_api_url: With or without a version: `https://graph.facebook.com/v26.0`.
            access_token: A system user's token.
            seconds: Budget of one request for a message.
            typing_seconds: Budget of the request that marks as read and shows that an answer is being written.
            now: Reads a `Retry-After` that is a date.
            pool: Connections to use instead of an own pool.

        Raises:
            ConfigurationError: The URL or the token cannot be right.
        """
        url = graph_api_url.strip().rstrip("/")
        if not urlsplit(url).path:
            url = f"{url}/{GRAPH_VERSION}"
        self._api = JsonApi(url, access_token, pool=pool)
        self._seconds = seconds
        self._typing_seconds = typing_seconds
        self._now = now

    def send(self, message: OutboundMessage) -> str:
        """Sends one part; returns Meta's id of it (`wamid.…`), empty where it was taken without one.

        Raises:
            ProviderUnavailable: Try again later; after a lost answer the person may get the part twice.
            WindowClosed: The person wrote more than 24 hours ago (131047).
            RecipientOptedOut: The person stopped messages of this kind (131050).
            SendRejected: Never for this message; `code` is Meta's number.
        """
        body: dict[str, object] = {
            "messaging_product": "whatsapp",
            "recipient_type": "individual",
            # A person without a visible phone number is addressed in a field of its own.
            "recipient" if _USER_ID.fullmatch(message.address) else "to": message.address,
            "type": "text",
            "text": {"body": message.text},
        }
        if message.reply_to:
            body["context"] = {"message_id": message.reply_to}
        answer = self._api.post(_path(message.number), body, seconds=self._seconds)
        if not answer.ok:
            raise self._translate(answer)
        # Accepted is accepted: an answer that cannot be read must not make the part go out again.
        return _first_id(answer)

    def typing(self, number: str, address: str, message_id: str) -> None:  # noqa: ARG002 - the port's signature
        """Marks the person's message as read and shows that an answer is being written, in one call.

        Meta takes the sign away with the answer, or after 25 seconds. Best effort: never raises.
        """
        if not message_id:
            return
        body = {
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": message_id,
            "typing_indicator": {"type": "text"},
        }
        # The answer matters more than the sign that it is coming, whatever goes wrong with that sign.
        with contextlib.suppress(Exception):
            self._api.post(_path(number), body, seconds=self._typing_seconds)

    def fetch(self, number: str, media: Media, *, seconds: float, most_bytes: int) -> bytes:
        """The bytes of a medium, see `media.MediaStore`.

        Meta gives a URL that lasts five minutes; where it has expired, it is asked for once more. The token
        goes to Meta's own servers only, wherever the URL points.
        """
        deadline = monotonic() + seconds
        path = f"/{safe_id(media.id)}?phone_number_id={quote(number, safe='')}"
        for last in (False, True):
            where = self._api.get(path, seconds=max(0.1, deadline - monotonic()))
            if not where.ok and isinstance(error := self._translate(where), ProviderUnavailable):
                raise error
            check_answer(where, self._now())
            url, size = where.json().get("url"), where.json().get("file_size")
            if isinstance(size, int) and size > most_bytes:
                raise MediaTooLarge("the medium is larger than this deployment reads")
            if not isinstance(url, str) or not self._may_see_token(url):
                raise MediaUnreadable("the medium lies where the token must not go", code="foreign_host")
            left = max(0.1, deadline - monotonic())
            answer = self._api.get_url(url, seconds=left, most_bytes=most_bytes + 1)
            if last or answer.status not in _URL_EXPIRED:
                return bytes_of(answer, most_bytes, self._now())
        raise AssertionError("the loop returns or raises")

    def _may_see_token(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            host, port = (parts.hostname or "").lower(), parts.port
        except ValueError:
            return False
        if parts.username is not None or parts.password is not None or "\\" in url:
            return False
        theirs = host == MEDIA_DOMAIN or host.endswith(f".{MEDIA_DOMAIN}")
        return self._api.same_origin(url) or (parts.scheme == "https" and theirs and port in (None, 443))

    def _translate(self, answer: Answer) -> AgentError:
        """The application's error for one of Meta's answers. The code decides, then the HTTP status: Meta
        answers many of its rate limits with 400.
        """
        error = answer.child("error")
        code = error.get("code")
        number = code if isinstance(code, int) and not isinstance(code, bool) else None
        name = str(number) if number is not None else f"http_{answer.status}"
        if number == _WINDOW_CLOSED:
            return WindowClosed("the person wrote more than 24 hours ago", code=name)
        if number == _OPTED_OUT:
            return RecipientOptedOut("the person has stopped these messages", code=name)
        temporary = (
            answer.status in (408, 425, 429)
            or answer.status >= 500
            or number in _TRY_LATER
            or error.get("is_transient") is True
        )
        if temporary and number not in _HINTS:
            return ProviderUnavailable(
                f"Meta answered {answer.status} (code {name})",
                retry_after=retry_after(answer.headers, self._now()),
            )
        if 300 <= answer.status < 400:
            return SendRejected("Meta answered with a redirect: check GraphApiUrl", code=name)
        hint = (
            _HINTS.get(number, "Meta refused the message") if number is not None else "Meta refused the message"
        )
        return SendRejected(f"{hint} (code {name})", code=name)


def _path(number: str) -> str:
    return f"/{quote(number, safe='')}/messages"


def _first_id(answer: Answer) -> str:
    messages = answer.json().get("messages")
    first = messages[0] if isinstance(messages, list) and messages else None
    wamid = first.get("id") if isinstance(first, dict) else None
    return wamid if isinstance(wamid, str) else ""
