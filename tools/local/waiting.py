"""Waiting for signals, children and a parent."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Stopped(KeyboardInterrupt):
    """The user or the system asked this program to end."""


@contextmanager
def ending_on_signals() -> Iterator[None]:
    """Lets SIGTERM and SIGHUP unwind the program like Ctrl-C, so that every child is ended."""

    def stop(_number: int, _frame: object) -> None:
        raise Stopped

    # `nohup` has SIGHUP ignored, and that is to stay so.
    minded = [
        number for number in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(number) != signal.SIG_IGN
    ]
    before = {number: signal.signal(number, stop) for number in minded}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def wait_while(fine: Callable[[], bool]) -> bool:
    """Waits until `fine` no longer holds (False) or the process that started this one has gone (True)."""
    parent = os.getppid()
    pause = threading.Event()
    while fine():
        pause.wait(1.0)
        if os.getppid() != parent:
            return True
    return False
