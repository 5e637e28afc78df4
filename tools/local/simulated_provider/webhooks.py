"""Delivers webhooks: signed, byte-exact, again after anything but 2xx, and late or twice when asked to."""

import http.client
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tools.local.simulated_provider import meta, whasp
from tools.local.simulated_provider.state import State

TIMEOUT_SECONDS = 30.0
MAX_WAIT_SECONDS = 5.0


@dataclass(slots=True)
class Target:
    """Where webhooks go. `host` is the Host header: an emulator routes function URLs by it."""

    url: str = ""
    host: str = ""
    secret: str = ""


@dataclass(frozen=True, slots=True)
class Envelope:
    """One webhook to deliver; `ids` are those of the events or messages inside."""

    provider: str
    event_id: str
    body: bytes
    signed: bool = True
    headers: dict[str, str] = field(default_factory=dict)


class Courier:
    """Posts envelopes to the target and writes down what came of each."""

    def __init__(
        self,
        state: State,
        target: Target,
        *,
        attempts: int = 5,
        wait_seconds: float = 0.5,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.target = target
        self._state = state
        self._attempts = attempts
        self._wait_seconds = wait_seconds
        self._sleep = sleep

    def deliver_all(
        self, envelopes: list[Envelope], *, attempts: int | None = None, concurrent: bool = False
    ) -> list[dict[str, Any]]:
        """Delivers in the given order, or all at the same moment."""
        if not concurrent:
            return [self.deliver(envelope, attempts) for envelope in envelopes]
        with ThreadPoolExecutor(max_workers=max(1, min(16, len(envelopes)))) as pool:
            return list(pool.map(lambda envelope: self.deliver(envelope, attempts), envelopes))

    def deliver(self, envelope: Envelope, attempts: int | None = None) -> dict[str, Any]:
        """Tries until the webhook answers 2xx or the attempts are used up; status 0 is no answer."""
        statuses: list[int] = []
        allowed = max(1, attempts if attempts is not None else self._attempts)
        for attempt in range(allowed):
            if attempt:
                self._sleep(min(MAX_WAIT_SECONDS, self._wait_seconds * 2 ** (attempt - 1)))
            statuses.append(self._post(envelope))
            if 200 <= statuses[-1] < 300:
                break
        result = {"event_id": envelope.event_id, "status": statuses[-1], "attempts": len(statuses)}
        with self._state.lock:
            self._state.deliveries.append({**result, "statuses": statuses})
        return result

    def _post(self, envelope: Envelope) -> int:
        parts = urlsplit(self.target.url)
        connection_type = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        headers = {"Content-Type": "application/json", "User-Agent": f"simulated-{envelope.provider}/1"}
        if self.target.host:
            headers["Host"] = self.target.host
        if envelope.signed:
            headers |= self._signature(envelope)
        headers |= envelope.headers
        connection = connection_type(parts.hostname or "", parts.port, timeout=TIMEOUT_SECONDS)
        try:
            connection.request("POST", path, body=envelope.body, headers=headers)
            response = connection.getresponse()
            response.read()
        except (OSError, http.client.HTTPException):
            return 0
        finally:
            connection.close()
        return response.status

    def _signature(self, envelope: Envelope) -> dict[str, str]:
        if envelope.provider == meta.NAME:
            return meta.signature_headers(self.target.secret, envelope.body)
        # Signed anew for each attempt: the time is part of what is signed.
        return whasp.signature_headers(self.target.secret, envelope.event_id, envelope.body, self._state.now())
