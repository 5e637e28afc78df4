"""Takes a webhook in: verify, normalise, queue, and only then say 200."""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import (
    ConfigurationError,
    InvalidPayload,
    InvalidSignature,
    TransientError,
)
from whatsapp_agent.events import DeliveryStatus
from whatsapp_agent.ports.provider import Webhook
from whatsapp_agent.ports.queues import TurnQueue
from whatsapp_agent.telemetry import Telemetry


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """A request as it came in: `headers` with lower-case names, `body` byte for byte."""

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


@dataclass(frozen=True, slots=True)
class HttpResponse:
    """An answer in plain text. It never repeats anything of the request but a handshake's challenge."""

    status: int
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


class Ingest:
    """The use case of the ingest function.

    Args:
        path: The only path that is served, for example `/webhooks/whasp`.
    """

    def __init__(self, webhook: Webhook, path: str, queue: TurnQueue, telemetry: Telemetry, now: Clock) -> None:
        self._webhook = webhook
        self._path = path
        self._queue = queue
        self._telemetry = telemetry
        self._now = now

    def handle(self, request: HttpRequest) -> HttpResponse:
        """Answers a request; never raises.

        200: everything that the request brought is queued (or is passed over, and counted). 401: not
        signed by the provider. 400: signed, and no JSON object. 403: a refused handshake. 503: try again
        later, which providers do; nothing is lost by it, and what was queued twice is handled once.
        """
        try:
            return self._answer(request)
        except InvalidPayload:
            self._telemetry.count("BadPayload")
            return HttpResponse(400, "bad request")
        except ConfigurationError as error:
            self._telemetry.count("Misconfigured")
            self._telemetry.error("misconfigured", error=error)
            return HttpResponse(503, "unavailable")
        except TransientError as error:
            self._telemetry.count("IngestFailed", reason=type(error).__name__)
            self._telemetry.warning("webhook_not_queued", error=error)
            return HttpResponse(503, "unavailable")
        except Exception as error:  # noqa: BLE001 - the runtime would log the message, and it may quote the body
            self._telemetry.count("IngestFailed", reason="Unexpected")
            self._telemetry.error("unexpected", error=type(error).__name__, place=_place(error))
            return HttpResponse(500, "internal error")

    def _answer(self, request: HttpRequest) -> HttpResponse:
        if request.path.rstrip("/") != self._path:
            return HttpResponse(404, "not found")
        if request.method == "GET":
            return self._handshake(request)
        if request.method == "POST":
            return self._receive(request)
        return HttpResponse(405, "method not allowed", {"Allow": "GET, POST"})

    def _handshake(self, request: HttpRequest) -> HttpResponse:
        try:
            return HttpResponse(200, self._webhook.handshake(request.query))
        except InvalidSignature:
            self._telemetry.count("BadHandshake")
            return HttpResponse(403, "forbidden")

    def _receive(self, request: HttpRequest) -> HttpResponse:
        now = self._now()
        try:
            self._webhook.verify(request.headers, request.body, now)
        except InvalidSignature as error:
            self._telemetry.count("BadSignature")
            self._telemetry.warning("bad_signature", error=error)
            return HttpResponse(401, "unauthorized")
        delivery = self._webhook.parse(request.body, now)
        if delivery.events:
            self._queue.send(delivery.events)
        for event in delivery.events:
            if isinstance(event, DeliveryStatus):
                self._telemetry.warning("delivery_failed", code=event.code)
        self._telemetry.count("EventsQueued", len(delivery.events))
        for name, times in delivery.ignored.items():
            self._telemetry.count("Ignored", times, reason=name)
        self._telemetry.info(
            "webhook_received", events=len(delivery.events), ignored=sum(delivery.ignored.values())
        )
        return HttpResponse(200, "ok")


def _place(error: Exception) -> str:
    """Where it happened, as `file:line`; a traceback's own text could quote the body."""
    frames = traceback.extract_tb(error.__traceback__)
    return " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-4:]))
