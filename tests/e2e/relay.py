"""Lets containers reach servers that listen on this machine's loopback interface only."""

import re
import shutil
import socket
import socketserver
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from tools.local.ports import LOOPBACK

CONTAINER_HOST = "host.docker.internal"
"""This machine's name inside containers that were started with `ADD_HOST`."""
ADD_HOST = f"{CONTAINER_HOST}:host-gateway"

_LOCAL_SERVER = re.compile(r"http://(?:127\.0\.0\.1|localhost):(\d+)")


class Relay:
    """Opens a door for each local server that is mentioned to `outward`, until the `with` block ends."""

    def __init__(self) -> None:
        self._address = _bridge_address()
        self._doors: dict[int, int] = {}
        self._open = ExitStack()

    def __enter__(self) -> "Relay":
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def outward(self, text: str) -> str:
        """The text with the URLs of local servers as containers can use them."""

        def replaced(match: re.Match[str]) -> str:
            port = int(match[1])
            if port not in self._doors:
                self._doors[port] = self._open.enter_context(_door(self._address, port))
            return f"http://{CONTAINER_HOST}:{self._doors[port]}"

        return _LOCAL_SERVER.sub(replaced, text)


def _bridge_address() -> str:
    """Where containers find this machine: the bridge's gateway where that is an address of ours (Linux), else
    the loopback interface (Docker Desktop forwards to it).
    """
    command = ["docker", "network", "inspect", "bridge", "--format", "{{(index .IPAM.Config 0).Gateway}}"]
    gateway = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    with socket.socket() as probe:
        try:
            probe.bind((gateway, 0))
        except OSError:
            return LOOPBACK
    return gateway


@contextmanager
def _door(address: str, port: int) -> Iterator[int]:
    class Server(socketserver.ThreadingTCPServer):
        daemon_threads = True

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((LOOPBACK, port)) as inner:
                back = threading.Thread(target=_copy, args=(inner, self.request), daemon=True)
                back.start()
                _copy(self.request, inner)
                back.join()

    with Server((address, 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.1,), daemon=True)
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def _copy(source: Any, target: Any) -> None:
    try:
        with source.makefile("rb", buffering=0) as reader, target.makefile("wb", buffering=0) as writer:
            shutil.copyfileobj(reader, writer)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass  # one side hung up
