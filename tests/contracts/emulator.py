"""Starts ministack, the AWS emulator, for tests: on a free port, on the loopback interface only."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path

ROOT = Path(__file__).parents[2]
READY_SECONDS = 60.0
STOP_SECONDS = 10.0


class EmulatorMissing(Exception):
    """The tests need ministack and cannot find or start it."""


@contextmanager
def ministack() -> Iterator[str]:
    """Runs ministack for the block; yields its endpoint URL. Its files go with it.

    Raises:
        EmulatorMissing: It is not installed, or did not come up.
    """
    executable = _executable()
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="ministack-") as folder:
        log = Path(folder, "log")
        with log.open("wb") as output:
            process = subprocess.Popen(
                [executable],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=_environment(folder, port),
                start_new_session=True,
            )
        try:
            _wait_until_ready(process, port, log)
            yield f"http://127.0.0.1:{port}"
        finally:
            _stop(process)


def _executable() -> str:
    named = os.environ.get("MINISTACK_BIN")
    path = named or str(ROOT / ".venv-emulator" / "bin" / "ministack")
    found = shutil.which(path)
    if found is None:
        raise EmulatorMissing(
            f"no emulator at {path}: install requirements/emulator.txt there, or set MINISTACK_BIN"
        )
    return str(Path(found).absolute())


def _environment(folder: str, port: int) -> dict[str, str]:
    """Nothing of the user's AWS settings, and only what the contract suites need."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return kept | {
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "HOME": folder,
        "TMPDIR": folder,
        "LOG_LEVEL": "WARNING",
        "IOT_MTLS_ENABLED": "0",
        "SFTP_ENABLED": "0",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_until_ready(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=2)
        try:
            connection.request("GET", "/_ministack/ready")
            if connection.getresponse().status == 200:
                return
        except (OSError, HTTPException):
            pass
        finally:
            connection.close()
        time.sleep(0.1)
    last = log.read_text("utf-8", "replace").strip().splitlines()[-1:] or ["it said nothing"]
    raise EmulatorMissing(f"ministack did not come up on port {port}: {last[0]}")


def _stop(process: subprocess.Popen[bytes]) -> None:
    """Ends the emulator and what it started: it leads a process group of its own."""
    for ending in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, ending)
            process.wait(STOP_SECONDS)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
