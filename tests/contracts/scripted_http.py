"""A web server that answers what a test tells it to, and keeps what it was asked."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Scripted:
    """`answers` are used up in order, then `then` for good; each is `(status, headers, body)`. A body that is a
    list is written piece by piece, one `pause` apart.
    """

    url: str = ""
    then: tuple[int, dict[str, str], Any] = (200, {}, b"{}")
    answers: list[tuple[int, dict[str, str], Any]] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    pause: threading.Event = field(default_factory=threading.Event)
    pause_seconds: float = 0.0


@contextmanager
def scripted_server() -> Iterator[Scripted]:
    """Serves on a free port of 127.0.0.1 for the block."""
    scripted = Scripted()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            scripted.asked.append(Asked(self.command, self.path, headers, body))
            status, more, content = scripted.answers.pop(0) if scripted.answers else scripted.then
            pieces = content if isinstance(content, list) else [content]
            self.send_response(status)
            for name, value in more.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(sum(map(len, pieces))))
            self.end_headers()
            try:
                for piece in pieces:
                    if scripted.pause_seconds:
                        self.wfile.flush()
                        scripted.pause.wait(scripted.pause_seconds)
                    self.wfile.write(piece)
                self.wfile.flush()
            except OSError:
                self.close_connection = True

        do_GET = do_POST  # noqa: N815

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        scripted.url = f"http://127.0.0.1:{server.server_address[1]}"
        try:
            yield scripted
        finally:
            scripted.pause.set()
            server.shutdown()
            thread.join()
