"""Runs a command that dies with the process that started it, whatever way that one ends.

The starter holds the writing end of this process's standard input. When that closes (also because the starter
was killed), or on SIGTERM, the command and everything that it started ends. Run as a file, so that it starts
quickly: `python -S leash.py <command> ...`. Its exit code is the command's.
"""

import contextlib
import os
import select
import signal
import subprocess
import sys
import time

GRACE_SECONDS = 8.0
"""How long a command may take to end by itself before it is killed."""


def main(command: list[str]) -> int:
    """Starts the command in a process group of its own, waits, and leaves nobody of that group behind."""
    woken, waker = os.pipe()
    for pipe in (woken, waker):
        os.set_blocking(pipe, False)
    signal.set_wakeup_fd(waker)  # select() below returns for a signal, also for a child that ended
    let_go = False

    def end(_number: int, _frame: object) -> None:
        nonlocal let_go
        let_go = True

    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, end)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)

    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, start_new_session=True)
    while child.poll() is None and not let_go:
        readable, _, _ = select.select([sys.stdin, woken], [], [])
        if sys.stdin in readable and not os.read(sys.stdin.fileno(), 4096):
            break
        _drain(woken)
    if child.poll() is None:
        _signal_group(child.pid, signal.SIGTERM)
        deadline = time.monotonic() + GRACE_SECONDS
        while child.poll() is None and (left := deadline - time.monotonic()) > 0:
            select.select([woken], [], [], left)
            _drain(woken)
    _signal_group(child.pid, signal.SIGKILL)
    return child.wait()


def _drain(pipe: int) -> None:
    with contextlib.suppress(BlockingIOError):  # nothing was written: select() returned for another reason
        os.read(pipe, 4096)


def _signal_group(group: int, number: int) -> None:
    # Everybody has gone already (macOS says "not permitted" of a group of zombies).
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.exit(code if code >= 0 else 128 - code)
