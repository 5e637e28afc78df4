"""The HTTP server: OpenAI's paths, and `/_control/…` for tests and the playground."""

import json
import socket
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tools.local.simulated_model import failures
from tools.local.simulated_model.control import KEPT, Control, Failure
from tools.local.simulated_model.endpoints import CALLS, MODELS
from tools.local.simulated_model.picture import shortened
from tools.local.simulated_model.responses import BadRequest
from tools.local.simulated_model.transcribe import fields
from tools.local.simulated_model.view import texts

_LARGEST = 64 * 1024 * 1024


class SimulatedModel:
    """A running server. Close it after use."""

    def __init__(self, port: int = 0, host: str = "127.0.0.1") -> None:
        """Listens at once.

        Args:
            port: 0 takes any free one.
            host: The address to listen on; by default nobody else on the network reaches it.

        Raises:
            OSError: The port is taken.
        """
        self.control = Control()
        control = self.control

        class Handler(_Handler):
            pass

        Handler.control = control
        self._server = ThreadingHTTPServer((host, port), Handler)
        self._server.daemon_threads = True
        self.port: int = self._server.server_address[1]
        self.url = f"http://{host}:{self.port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait(self) -> None:
        """Returns when the server has been closed."""
        self._thread.join()


class _Handler(BaseHTTPRequestHandler):
    control: Control
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Lists models; reads the control's log."""
        url = urlsplit(self.path)
        query = {name: values[-1] for name, values in parse_qs(url.query).items()}
        if url.path == "/v1/models":
            listed = [{"id": name, "object": "model", "created": 0, "owned_by": "simulated"} for name in MODELS]
            self._send(200, {"object": "list", "data": listed})
        elif url.path == "/_control/requests":
            limit = int(query.get("limit", "") or KEPT) if query.get("limit", "0").isdecimal() else KEPT
            after = int(query["after"]) if query.get("after", "").isdecimal() else 0
            self._send(200, {"requests": self.control.requests(limit, query.get("path", ""), after)})
        elif url.path in ("/", "/_control/health"):
            self._send(200, {"ok": True})
        else:
            self._send(404, failures.http_error(404, "not_found", f"no such path: {url.path}"))

    def do_POST(self) -> None:
        """Answers a call, or takes an order of the control."""
        path = urlsplit(self.path).path
        raw = self._body()
        if path.startswith("/_control/"):
            self._steer(path.removeprefix("/_control/"), raw)
            return
        answer = CALLS.get(path)
        if answer is None:
            self._send(404, failures.http_error(404, "not_found", f"no such path: {path}"))
            return
        if not self.headers.get("Authorization", "").removeprefix("Bearer").strip():
            self._send(401, failures.http_error(401, "invalid_api_key", "no API key was given"))
            return
        try:
            body = _decode(path, raw, self.headers.get("Content-Type", ""))
        except ValueError:
            self._send(400, failures.http_error(400, "", "the body cannot be read"))
            return
        self._answer(path, body, answer)

    def _answer(self, path: str, body: Any, answer: Callable[[Any, Control], Any]) -> None:
        entry = self.control.record(path, _loggable(body), _prompt(body))
        failure = self.control.next_failure(path)
        time.sleep(self.control.seconds)
        if failure and failure.status:
            text = f"simulated failure {failure.status}, sk-simulated-secret"
            self._finish(
                entry, failure.status, failures.http_error(failure.status, failure.code, text), failure
            )
            return
        try:
            result = answer(body, self.control)
        except BadRequest as error:
            self._finish(entry, 400, failures.http_error(400, error.code, str(error)), None)
            return
        if failure and failure.kind == failures.DROPPED:
            self.control.complete(entry, 0, None)
            self.connection.shutdown(socket.SHUT_RDWR)
            self.close_connection = True
        elif failure and failure.kind == failures.NOT_JSON:
            self.control.complete(entry, 200, None)
            self._send_bytes(200, b"<html>a page of a proxy</html>", "text/html")
        elif failure and failure.kind == failures.DRIPS:
            self.control.complete(entry, 200, result)
            self._drip(json.dumps(result).encode())
        else:
            if failure and path == "/v1/responses":
                result = failures.broken(failure, result)
            self._finish(entry, 200, result, None)

    def _finish(self, entry: dict[str, Any], status: int, result: Any, failure: Failure | None) -> None:
        self.control.complete(entry, status, result)
        headers = {}
        if failure and failure.retry_after is not None:
            headers["Retry-After"] = f"{failure.retry_after:g}"
        if isinstance(result, str):
            self._send_bytes(status, result.encode(), "text/plain; charset=utf-8")
        else:
            self._send(status, result, headers)

    def _steer(self, order: str, raw: bytes) -> None:
        try:
            _obey(self.control, order, json.loads(raw or b"{}"))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            self._send(400, {"error": str(error)})
            return
        self._send(200, {"ok": True})

    def _body(self) -> bytes:
        length = self.headers.get("Content-Length", "0")
        return self.rfile.read(min(int(length), _LARGEST)) if length.isdecimal() else b""

    def _send(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        raw = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        self._send_bytes(status, raw, "application/json", headers)

    def _send_bytes(self, status: int, raw: bytes, kind: str, headers: dict[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(raw)))
            self.send_header("x-request-id", "req_simulated")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(raw)
        except OSError:
            # The client has given up waiting, which is what delays are there to provoke.
            self.close_connection = True

    def _drip(self, raw: bytes) -> None:
        blanks = round(failures.DRIP_SECONDS / failures.DRIP_EVERY)
        try:
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(blanks + len(raw)))
            self.end_headers()
            for _ in range(blanks):
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(failures.DRIP_EVERY)
            self.wfile.write(raw)
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Keeps silent: `/_control/requests` tells what came in."""


def _obey(control: Control, order: str, given: Any) -> None:
    """Does what `POST /_control/<order>` asks for.

    Raises:
        ValueError, TypeError, KeyError, AttributeError: The order or a field of it is unknown or wrong.
    """
    if order == "fail":
        failure = Failure(**given)
        if not failure.status and failure.kind not in failures.KINDS:
            raise ValueError("kind is one of: " + ", ".join(failures.KINDS))
        control.fail(failure)
    elif order == "delay":
        control.delay(min(max(float(given["seconds"]), 0.0), 600.0))
    elif order == "reset":
        control.reset()
    else:
        raise ValueError("the orders are: fail, delay, reset")


def _decode(path: str, raw: bytes, content_type: str) -> Any:
    return fields(raw, content_type) if path.startswith("/v1/audio/") else json.loads(raw)


def _loggable(body: Any) -> Any:
    """The body without raw bytes."""
    if not isinstance(body, dict):
        return body
    return {
        name: value.decode("utf-8", "replace")[:200] if isinstance(value, bytes) else shortened(value)
        for name, value in body.items()
    }


def _prompt(body: Any) -> dict[str, Any] | None:
    """What the model sees, in one form for every kind of request that has input items."""
    if not isinstance(body, dict) or not isinstance(body.get("input"), list | str) or "model" not in body:
        return None
    if isinstance(body["input"], list) and not all(isinstance(item, dict) for item in body["input"]):
        return None
    items = [{"role": role, "text": text} for role, text in texts(body)]
    return {"instructions": body.get("instructions") or "", "items": items}
