"""The client of OpenAI's API, with a key that may be changed under it."""

from collections.abc import Generator

import httpx2
import openai

from whatsapp_agent.credentials import Key, key_of
from whatsapp_agent.errors import ConfigurationError

OPENAI_URL = "https://api.openai.com/v1"

OpenAIClient = openai.OpenAI


def openai_client(api_key: str | Key | OpenAIClient, base_url: str = "") -> OpenAIClient:
    """A client without retries of its own; connects to nothing yet.

    Where the service refuses the key and another one is known by then, the request is sent once more with that.

    Args:
        api_key: Sent to `base_url` only. Or a client that this function made: adapters that are given one
            client share its connections, and the time that it takes to make it (its TLS settings read every
            certificate authority).
        base_url: Of a service with the same API; empty for OpenAI's own.

    Raises:
        ConfigurationError: The key is missing or holds what no header can carry.
    """
    if isinstance(api_key, OpenAIClient):
        return api_key
    key = key_of(api_key)
    if not _sendable(key.current()):
        raise ConfigurationError("the OpenAI API key is missing, or holds blanks or non-ASCII characters")
    return openai.OpenAI(
        # Never sent: the line below sets the header of each request.
        api_key="see-http-client",
        base_url=base_url or OPENAI_URL,
        max_retries=0,
        http_client=openai.DefaultHttpxClient(auth=_KeyAuth(key)),
    )


class _KeyAuth(httpx2.Auth):
    def __init__(self, key: Key) -> None:
        self._key = key

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response, None]:
        key = self._key.current()
        request.headers["Authorization"] = f"Bearer {key}"
        response = yield request
        if response.status_code == httpx2.codes.UNAUTHORIZED:
            other = self._key.renewed(key)
            if other and _sendable(other):
                request.headers["Authorization"] = f"Bearer {other}"
                yield request


def _sendable(key: str) -> bool:
    return bool(key) and key.isascii() and key.isprintable() and " " not in key
