"""Processes in which the emulator runs functions."""

import os
import signal
import subprocess

from tools.local.state import StackInfo


def workers_of(info: StackInfo, function: str) -> list[int]:
    """Processes that run a function: the emulator unpacks it into a folder of the function's name."""
    mark = f"ministack-lambda-{info.resources[function]}-"
    listed = subprocess.run(["ps", "-axww", "-o", "pid=,command="], capture_output=True, text=True, check=True)
    return [int(line.split()[0]) for line in listed.stdout.splitlines() if mark in line]


def kill_workers(info: StackInfo, function: str) -> int:
    """Kills them as a crash would; returns how many there were."""
    found = workers_of(info, function)
    for process in found:
        os.kill(process, signal.SIGKILL)
    return len(found)
