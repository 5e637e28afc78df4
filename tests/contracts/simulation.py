"""The simulated provider as a fixture's body: a real server on a free port, in this process."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import urllib3

from tests.contracts.scripted_http import Scripted
from tools.local.simulated_provider.server import ProviderServer, SimulatedProvider
from whatsapp_agent.clock import utc_now
from whatsapp_agent.providers.meta.webhook import MetaWebhook
from whatsapp_agent.providers.whasp.api import WhaspProvider
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook

API_KEY = "key-of-the-contract-suite"


@contextmanager
def simulated_provider(**settings: object) -> Iterator[tuple[SimulatedProvider, str]]:
    """Yields the provider and its base URL."""
    provider = SimulatedProvider(api_key=API_KEY, **settings)  # type: ignore[arg-type]
    with ProviderServer(provider) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield provider, f"http://127.0.0.1:{server.port}"
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def connections() -> Iterator[urllib3.PoolManager]:
    """A pool whose connections are closed at the end: an open socket would be a warning, and fail the test."""
    with urllib3.PoolManager(maxsize=20) as pool:
        yield pool


class ControlClient:
    """Talks to the control API and to the provider's REST API over HTTP."""

    def __init__(self, url: str, pool: urllib3.PoolManager, webhook: Scripted, secret: str) -> None:
        self.url = url
        self.webhook = webhook
        self._pool = pool
        self._readers = (WhaspWebhook(secret), MetaWebhook(secret, "token"))

    def post(self, action: str, expected: int = 200, /, **fields: Any) -> dict[str, Any]:
        response = self._pool.request("POST", f"{self.url}/_control/{action}", json=fields)
        assert response.status == expected, response.data
        answer: dict[str, Any] = json.loads(response.data)
        return answer

    def get(self, path: str) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._pool.request("GET", f"{self.url}/_control/{path}").data)
        return answer

    def fetch(self, path: str, key: str = API_KEY) -> urllib3.BaseHTTPResponse:
        return self._pool.request("GET", self.url + path, headers={"Authorization": f"Bearer {key}"})

    def sender(self) -> WhaspProvider:
        return WhaspProvider(self.url, API_KEY, pool=self._pool)

    def events(self, reader: int = 0) -> list[Any]:
        """What arrived at the webhook, verified and read as the agent does."""
        found: list[Any] = []
        for asked in self.webhook.asked:
            self._readers[reader].verify(asked.headers, asked.body, utc_now())
            found += self._readers[reader].parse(asked.body, utc_now()).events
        return found
