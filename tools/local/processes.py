"""Child processes that never outlive this one."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from tools.local.errors import LocalError
from tools.local.leash import GRACE_SECONDS

_LEASH = Path(__file__).with_name("leash.py")
_POLL_SECONDS = 0.05


def _start(
    command: Sequence[str | Path], env: Mapping[str, str], cwd: Path, log: Path
) -> subprocess.Popen[bytes]:
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        return subprocess.Popen(
            [sys.executable, "-S", str(_LEASH), *map(str, command)],
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**env, "PYTHONUNBUFFERED": "1"},
            cwd=cwd,
            start_new_session=True,  # Ctrl-C in the terminal reaches this program only, which ends the rest
        )


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    try:
        process.wait(GRACE_SECONDS + 4)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def tail(log: Path, lines: int = 15) -> str:
    """The last lines of a log that say something."""
    text = log.read_text(encoding="utf-8", errors="replace") if log.is_file() else ""
    return "\n".join([line for line in text.splitlines() if line.strip()][-lines:])


def wait_for(condition: Callable[[], bool], seconds: float, what: str) -> None:
    """Polls until the condition holds.

    Raises:
        LocalError: It did not hold within `seconds`.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise LocalError(f"{what} took longer than {seconds:.0f} s")
        time.sleep(_POLL_SECONDS)


class Child:
    """A running server."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path) -> None:
        self.name = name
        self.log = log
        self._process = process

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def wait_until(self, ready: Callable[[], bool], seconds: float) -> None:
        """Waits until the server is ready.

        Raises:
            LocalError: It ended, or is not ready after `seconds`.
        """

        def ready_or_ended() -> bool:
            if not self.running:
                last = tail(self.log, 1) or "without a word"
                raise LocalError(f"{self.name} ended while starting: {last} (log: {self.log})")
            return ready()

        wait_for(ready_or_ended, seconds, f"starting {self.name} (log: {self.log})")

    def announced_port(self, seconds: float) -> int:
        """The port that the server prints as `{"port": …}` when it is ready.

        Raises:
            LocalError: No such line came.
        """
        found: list[int] = []

        def announced() -> bool:
            for line in self.log.read_text(encoding="utf-8", errors="replace").splitlines():
                try:
                    found.append(int(json.loads(line)["port"]))
                except (ValueError, KeyError, TypeError):
                    continue
                return True
            return False

        self.wait_until(announced, seconds)
        return found[0]

    def stop(self) -> None:
        """Ends the server and everything that it started."""
        _end(self._process)


class Children:
    """The servers of one stack; leaving the `with` block ends them, the newest first."""

    def __init__(self, cwd: Path) -> None:
        self._cwd = cwd
        self._children: list[Child] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for child in reversed(self._children):
            child.stop()
        self._children.clear()

    def start(self, name: str, command: Sequence[str | Path], env: Mapping[str, str], log: Path) -> Child:
        """Starts a server; its output goes to `log`."""
        child = Child(name, _start(command, env, self._cwd, log), log)
        self._children.append(child)
        return child

    def ended(self) -> Child | None:
        """A server that has ended by itself, if there is one."""
        return next((child for child in self._children if not child.running), None)


def run(
    what: str, command: Sequence[str | Path], env: Mapping[str, str], cwd: Path, log: Path, seconds: float
) -> None:
    """Runs a command to its end; its output goes to `log`.

    Raises:
        LocalError: It failed or took longer than `seconds`; the message ends with its last words.
    """
    process = _start(command, env, cwd, log)
    try:
        code = process.wait(seconds)
    except subprocess.TimeoutExpired as error:
        raise LocalError(f"{what} took longer than {seconds:.0f} s (log: {log})") from error
    finally:
        _end(process)
    if code != 0:
        raise LocalError(f"{what} failed (log: {log}):\n{tail(log)}")
