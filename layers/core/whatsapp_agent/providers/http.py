"""JSON over HTTPS to a provider, with one time budget per call. Knows urllib3; knows no provider.

urllib3 comes with botocore, so that it costs a function nothing to load. Connections are kept between
calls and invocations; redirects are not followed and nothing is retried here: the queue retries.
"""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import urllib3

from whatsapp_agent.credentials import Key, key_of
from whatsapp_agent.errors import ConfigurationError, ProviderUnavailable

MAX_ANSWER_BYTES = 262_144
"""More than any answer of these APIs; the rest of a longer one is not read."""

UNAUTHORIZED = 401

MAX_RETRY_AFTER = 900.0
"""Longest wait, in seconds, that a provider is believed: the queue's own retries take over after it."""

_CONNECT_SECONDS = 3.0
_CHUNK = 16_384
_HEADER_VALUE = re.compile(r"[!-~]{1,255}")
_SECRET = re.compile(r"[!-~]+")


@dataclass(frozen=True, slots=True)
class Answer:
    """An HTTP answer; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def ok(self) -> bool:
        """Whether the request was accepted."""
        return 200 <= self.status < 300

    def json(self) -> dict[str, Any]:
        """The body where it is a JSON object, else an empty one."""
        try:
            value = json.loads(self.body)
        except (ValueError, RecursionError):
            return {}
        return value if isinstance(value, dict) else {}

    def child(self, name: str) -> dict[str, Any]:
        """The object under `name` of the JSON body, else an empty one."""
        value = self.json().get(name)
        return value if isinstance(value, dict) else {}


class JsonApi:
    """POSTs JSON below one base URL with a bearer token. Safe to share between threads.

    A request whose token is refused (401) has not been acted on: where another token is known by then, it is
    sent once more with that.
    """

    def __init__(self, base_url: str, token: str | Key, *, pool: urllib3.PoolManager | None = None) -> None:
        """Checks the settings, opens nothing.

        Raises:
            ConfigurationError: The URL is none, or the token cannot stand in a header. Neither is repeated
                in the message.
        """
        parts = urlsplit(base_url.strip())
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ConfigurationError("the provider's API URL must be like https://host or https://host/path")
        self._token = key_of(token)
        if not _SECRET.fullmatch(self._token.current().strip()):
            raise ConfigurationError("the provider's API key is empty or holds characters that no key has")
        self._base_url = base_url.strip().rstrip("/")
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "application/json",
            "User-Agent": "whatsapp-agent",
        }
        self._pool = pool or urllib3.PoolManager(num_pools=4, maxsize=10)

    def post(
        self,
        path: str,
        body: Mapping[str, Any],
        *,
        seconds: float,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Sends one request and reads its answer, whatever its status, within `seconds`.

        Raises:
            ProviderUnavailable: No answer came: the name, the connection, TLS or the time failed. Whether
                the provider has acted on the request is then unknown.
        """
        content = json.dumps(body).encode("ascii")
        return self._request(
            "POST",
            self._base_url + path,
            seconds=seconds,
            most_bytes=MAX_ANSWER_BYTES,
            headers=headers or {},
            body=content,
        )

    def get(self, path: str, *, seconds: float, most_bytes: int = MAX_ANSWER_BYTES) -> Answer:
        """GETs a path below the base URL; no more than `most_bytes` of a longer answer are held.

        Raises:
            ProviderUnavailable: No answer came in time.
        """
        return self._request("GET", self._base_url + path, seconds=seconds, most_bytes=most_bytes, headers={})

    def get_url(self, url: str, *, seconds: float, most_bytes: int) -> Answer:
        """GETs a URL with the bearer token: the caller has checked that it may see the token.

        Raises:
            ProviderUnavailable: No answer came in time.
        """
        return self._request("GET", url, seconds=seconds, most_bytes=most_bytes, headers={"Accept": "*/*"})

    def same_origin(self, url: str) -> bool:
        """Whether a URL lies on the very server of the base URL."""
        ours, theirs = urlsplit(self._base_url), urlsplit(url)
        return (ours.scheme, ours.netloc) == (theirs.scheme, theirs.netloc)

    def _request(
        self,
        method: str,
        url: str,
        *,
        seconds: float,
        most_bytes: int,
        headers: Mapping[str, str],
        body: bytes | None = None,
    ) -> Answer:
        deadline = monotonic() + seconds
        token = self._token.current()

        def exchanged(token: str) -> Answer:
            authorized = {**self._headers, **headers, "Authorization": f"Bearer {token.strip()}"}
            return self._exchange(method, url, authorized, body, deadline, most_bytes)

        answer = exchanged(token)
        if answer.status == UNAUTHORIZED:
            other = self._token.renewed(token)
            if _SECRET.fullmatch(other.strip()):
                answer = exchanged(other)
        return answer

    def _exchange(  # noqa: PLR0917 - what one request is made of
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        deadline: float,
        most_bytes: int,
    ) -> Answer:
        seconds = max(0.1, deadline - monotonic())
        try:
            response = self._pool.request(
                method,
                url,
                body=body,
                headers=headers,
                timeout=urllib3.Timeout(connect=min(_CONNECT_SECONDS, seconds), total=seconds),
                retries=False,
                redirect=False,
                preload_content=False,
            )
            try:
                content = _read(response, deadline, most_bytes)
            except BaseException:
                # Half an answer is left on the connection: it must not be used again.
                response.close()
                raise
            response.release_conn()
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise ProviderUnavailable(f"the provider's API did not answer: {type(error).__name__}") from error
        return Answer(response.status, {k.lower(): v for k, v in response.headers.items()}, content)


def _read(response: urllib3.BaseHTTPResponse, deadline: float, most_bytes: int) -> bytes:
    """The body, read piece by piece so that one that trickles in cannot outlive the deadline, and one
    that is larger than announced cannot fill the memory.
    """
    content = bytearray()
    while True:
        if monotonic() > deadline:
            raise urllib3.exceptions.TimeoutError
        piece = response.read1(_CHUNK)
        if not piece:
            return bytes(content)
        content += piece
        if len(content) > most_bytes:
            response.close()
            return bytes(content[:most_bytes])


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the answer asks to wait, 0 to 900; None where it does not say or cannot be read.

    Both forms of RFC 9110 are known: a number of seconds and an HTTP date.
    """
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except (ValueError, OverflowError):
            return None
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        seconds = (moment - now).total_seconds()
    if math.isnan(seconds):
        return None
    return min(max(seconds, 0.0), MAX_RETRY_AFTER)


def header_value(text: str) -> str:
    """The text itself where it may stand in a header, else its SHA-256 in hex."""
    if _HEADER_VALUE.fullmatch(text):
        return text
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
