"""One HTTP server in front of everything outside of the handlers: AWS (moto), the provider, the model.

Each call of a handler passes here and is counted, so that a campaign can let the process die before or after
any of them, or let any of them fail, without the product knowing. A call that somebody adds later is covered
without anybody remembering.
"""

import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.faults.services import Call, Services, read_call
from tests.faults.troubles import (
    FAILURES,
    KILL_AFTER,
    KILL_BEFORE,
    LOST_ANSWER,
    Point,
    Reply,
    Trouble,
    conflict,
    refused,
)

CONFLICT = "conflict"
PLACE_TAKEN = "place taken"


@dataclass
class Run:
    """One process of a handler, as the front sees it.

    Attributes:
        calls: The points of its calls, in order; `asked` holds the calls themselves.
        met: The troubles that it ran into.
        pid: Its process id, once known.
        dead: Set when it was killed: what is still under way on other connections is not processed.
        before: Is told each call before it is processed.
    """

    number: int
    invocation: int
    troubles: Sequence[Trouble] = ()
    before: Callable[[Call], None] = lambda _: None
    calls: list[Point] = field(default_factory=list)
    asked: list[Call] = field(default_factory=list)
    met: list[Trouble] = field(default_factory=list)
    pid: int = 0
    dead: bool = False
    known: threading.Event = field(default_factory=threading.Event)
    _seen: Counter[str] = field(default_factory=Counter)

    def started(self, pid: int) -> None:
        self.pid = pid
        self.known.set()

    def count(self, call: Call) -> Trouble | None:
        """Takes note of a call; returns what goes wrong with it."""
        self._seen[call.label] += 1
        point = Point(self.invocation, call.label, self._seen[call.label])
        self.calls.append(point)
        self.asked.append(call)
        for trouble in self.troubles:
            if trouble.meets(self.invocation, call.label, point.nth):
                self.met.append(trouble)
                return trouble
        return None

    def kill(self) -> None:
        self.dead = True
        assert self.known.wait(10)
        os.kill(self.pid, signal.SIGKILL)


class Front:
    """Listens on a free port of 127.0.0.1. `open` a run to get the URLs that its process is to use."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._lock = threading.Lock()
        self._runs: dict[int, Run] = {}
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def open(
        self, invocation: int, troubles: Sequence[Trouble] = (), before: Callable[[Call], None] = lambda _: None
    ) -> Run:
        run = Run(len(self._runs) + 1, invocation, troubles, before)
        self._runs[run.number] = run
        return run

    def url(self, run: Run, service: str) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/{run.number}/{service}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def handle(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Reply | None:
        """The answer to a request; None where the connection is to end without one."""
        number, _, rest = path[1:].partition("/")
        service, _, rest = rest.partition("/")
        run = self._runs[int(number)]
        call = read_call(service, method, "/" + rest, headers, body)
        with self._lock:
            if run.dead:
                return None
            trouble = run.count(call)
        run.before(call)
        with self._lock:
            return self._process(run, call, trouble)

    def _process(self, run: Run, call: Call, trouble: Trouble | None) -> Reply | None:
        if run.dead:
            return None
        kind = trouble.kind if trouble else ""
        if kind == KILL_BEFORE:
            run.kill()
        elif kind in ("", KILL_AFTER, LOST_ANSWER):
            answer = self._services.answer(call)
            if not kind:
                return answer
            if kind == KILL_AFTER:
                run.kill()
        elif kind == CONFLICT:
            return conflict(call.actions)
        elif kind == PLACE_TAKEN:
            return refused(call.message_place, call.actions)
        elif kind in FAILURES[call.service]:
            return FAILURES[call.service][kind]
        return None


def failures_at(call: Call) -> list[str]:
    """Everything but death that can be arranged for a call."""
    kinds = [*FAILURES[call.service], LOST_ANSWER]
    if call.actions:
        kinds.append(CONFLICT)
    if call.message_place >= 0:
        kinds.append(PLACE_TAKEN)
    return kinds


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def __init__(self, front: Front) -> None:
        self.front = front
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A killed client breaks its connections; what breaks here ends as a handler's failed call."""
        import sys

        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    wbufsize = -1
    disable_nagle_algorithm = True

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        if len(body) < length:
            # Its sender died in the middle of it: it never arrived.
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        reply = self.server.front.handle(self.command, self.path, headers, body)
        if reply is None:
            self.close_connection = True
            return
        self.send_response(reply.status)
        for name, value in reply.headers:
            self.send_header(name, value)
        if reply.status != 204:
            self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if reply.status != 204:
            self.wfile.write(reply.body)

    do_GET = _answer  # noqa: N815 - the base class's name
    do_POST = _answer  # noqa: N815 - the base class's name

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
        """Says nothing."""
