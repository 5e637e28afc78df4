"""Passes requests for the webhook on to the deployed function's URL.

The emulator tells function URLs apart by the Host header. This small server sets it, so that people can use
plain curl, and passes everything else on byte for byte: signatures cover the raw body.
"""

import http.client
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self

from tools.local.ports import LOOPBACK

IDENTITY_PATH = "/_stack"
"""Answers `{"id": …}`: tells a running stack from a stale description of one."""

_MAX_BODY = 10_000_000
"""Bytes; a function URL takes 6 MB."""
_HOP_BY_HOP = {"connection", "host", "keep-alive", "transfer-encoding", "content-length", "te", "upgrade"}


class Gateway:
    """The server; it runs in a thread until the `with` block ends."""

    def __init__(self, port: int, stack_id: str) -> None:
        self._server = _Server(port, stack_id)

    @property
    def url(self) -> str:
        return f"http://{LOOPBACK}:{self._server.server_port}"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()

    def forward_to(self, endpoint: tuple[str, int], host: str) -> None:
        """From now on, requests go to `endpoint` with `host` as their Host header; until then they get 503."""
        self._server.target = (endpoint, host)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, stack_id: str) -> None:
        super().__init__((LOOPBACK, port), _Handler)
        self.stack_id = stack_id
        self.target: tuple[tuple[str, int], str] | None = None


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = 60

    def _handle(self) -> None:
        body = self._body()
        if body is None:
            return
        if self.path == IDENTITY_PATH:
            self._answer(
                200, [("Content-Type", "application/json")], json.dumps({"id": self.server.stack_id}).encode()
            )
        elif self.server.target is None:
            self._answer(503, [("Retry-After", "1")], b"the stack is still starting\n")
        else:
            self._forward(self.server.target, body)

    do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = do_OPTIONS = do_PATCH = _handle  # noqa: N815 -- the base class's names

    def _body(self) -> bytes | None:
        try:
            length = int(self.headers.get("Content-Length", "0"))
        except ValueError:
            length = -1
        if self.headers.get("Transfer-Encoding") or not 0 <= length <= _MAX_BODY:
            self.close_connection = True
            self._answer(413 if length > _MAX_BODY else 411, [], b"")
            return None
        return self.rfile.read(length)

    def _forward(self, target: tuple[tuple[str, int], str], body: bytes) -> None:
        (address, port), host = target
        connection = http.client.HTTPConnection(address, port, timeout=60)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            connection.putheader("Host", host)
            for name, value in self.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    connection.putheader(name, value)
            if body or self.command in {"POST", "PUT", "PATCH"}:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body or None)
            response = connection.getresponse()
            headers = [
                (name, value) for name, value in response.getheaders() if name.lower() not in _HOP_BY_HOP
            ]
            self._answer(response.status, headers, response.read())
        except (OSError, http.client.HTTPException):
            self._answer(502, [], b"the emulator does not answer\n")
        finally:
            connection.close()

    def _answer(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 -- the base class's name
        """Says nothing: the functions log for themselves."""
