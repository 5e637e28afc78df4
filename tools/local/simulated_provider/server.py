"""The HTTP server around the simulated providers."""

from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from tools.local.simulated_provider.control import PREFIX, Control
from tools.local.simulated_provider.exchange import Request, Response, json_response
from tools.local.simulated_provider.meta import VERSION, MetaApi
from tools.local.simulated_provider.state import State
from tools.local.simulated_provider.webhooks import Courier, Target
from tools.local.simulated_provider.whasp import WhaspApi

MAX_BODY_BYTES = 32 * 1024 * 1024
DEFAULT_API_KEY = "local-provider-key"
DEFAULT_NUMBERS = {"whasp": "+15550100", "meta": "106540352242922"}


class SimulatedProvider:
    """Both providers and the control API over one state; `handle` answers one request."""

    def __init__(
        self,
        *,
        provider: str = "whasp",
        api_key: str = DEFAULT_API_KEY,
        target: Target | None = None,
        numbers: dict[str, str] | None = None,
        state: State | None = None,
        attempts: int = 5,
        wait_seconds: float = 0.5,
    ) -> None:
        self.state = state or State()
        self.courier = Courier(self.state, target or Target(), attempts=attempts, wait_seconds=wait_seconds)
        self._whasp = WhaspApi(self.state, api_key)
        self._meta = MetaApi(self.state, api_key)
        self._control = Control(
            self.state, self.courier, provider=provider, numbers={**DEFAULT_NUMBERS, **(numbers or {})}
        )

    def handle(self, request: Request) -> Response:
        if request.path.startswith(PREFIX):
            return self._control.handle(request)
        with self.state.lock:
            self.state.requests[f"{request.method} {request.path}"] += 1
        first = request.path.strip("/").partition("/")[0]
        if first == "v1":
            return self._whasp.handle(request)
        if VERSION.fullmatch(first):
            return self._meta.handle(request)
        return json_response(404, {"error": {"code": "not_found", "message": "no such path"}})


class ProviderServer(ThreadingHTTPServer):
    """Serves one simulated provider on 127.0.0.1; port 0 takes a free one."""

    daemon_threads = True

    def __init__(self, provider: SimulatedProvider, port: int = 0) -> None:
        self.provider = provider
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def port(self) -> int:
        return int(self.server_address[1])


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ProviderServer
    # Headers and body go out in one segment: with two, delayed acknowledgements add 40 ms to each answer.
    wbufsize = -1
    disable_nagle_algorithm = True

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BODY_BYTES:
            self.close_connection = True
            self._write(json_response(413, {"error": {"code": "too_large", "message": "body too large"}}))
            return
        parts = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=parts.path,
            query=dict(parse_qsl(parts.query)),
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self.rfile.read(length),
        )
        self._write(self.server.provider.handle(request))

    do_GET = _answer  # noqa: N815 - the base class's name
    do_POST = _answer  # noqa: N815 - the base class's name

    def _write(self, response: Response) -> None:
        if response.drop:
            self.close_connection = True
            return
        self.send_response(response.status)
        for name, value in response.headers.items():
            self.send_header(name, value)
        if response.status != 204:
            self.send_header("Content-Length", str(len(response.body)))
        self.end_headers()
        if response.status != 204:
            self.wfile.write(response.body)
        self.wfile.flush()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Says nothing: a request line may hold a phone number."""
