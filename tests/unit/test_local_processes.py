"""Servers of the local stack end with it, whatever way it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tools.local.errors import LocalError
from tools.local.processes import Children, run

ROOT = Path(__file__).resolve().parents[2]

STARTER = """
import os, signal, sys
from pathlib import Path
from tools.local.processes import Children
folder = Path(sys.argv[1])
children = Children(folder)
child = children.start("server", [sys.executable, "-c", sys.argv[2]], dict(os.environ), folder / "server.log")
child.announced_port(30)
os.kill(os.getpid(), signal.SIGKILL)
"""
SERVER = """
import json, os, subprocess, sys, time
helper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open("pids", "w").write(f"{os.getpid()} {helper.pid}")
print(json.dumps({"port": 1}))
time.sleep(600)
"""


def alive(pid: int) -> bool:
    state = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(state.stdout.strip()) and not state.stdout.startswith("Z")


def until(condition, seconds=30):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def children_in(folder: Path) -> Children:
    return Children(folder)


def start(children: Children, folder: Path, code: str):
    return children.start("the server", [sys.executable, "-c", code], dict(os.environ), folder / "server.log")


def test_servers_and_what_they_started_end_when_the_stack_is_killed(tmp_path):
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    starter = subprocess.run([sys.executable, "-c", STARTER, str(tmp_path), SERVER], env=env, check=False)
    assert starter.returncode == -signal.SIGKILL
    pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
    assert len(pids) == 2
    until(lambda: not any(alive(pid) for pid in pids))


def test_leaving_the_block_ends_servers_and_what_they_started(tmp_path):
    with children_in(tmp_path) as children:
        start(children, tmp_path, SERVER).announced_port(30)
        pids = [int(pid) for pid in (tmp_path / "pids").read_text().split()]
        assert all(alive(pid) for pid in pids)
    until(lambda: not any(alive(pid) for pid in pids))


def test_a_server_announces_its_port_among_other_lines(tmp_path):
    with children_in(tmp_path) as children:
        child = start(
            children, tmp_path, "print('[1]\\nhello\\n{\"port\": 4711}'); import time; time.sleep(600)"
        )
        assert child.announced_port(30) == 4711


def test_a_server_that_ends_while_starting_is_one_line_with_its_last_words(tmp_path):
    with children_in(tmp_path) as children:
        child = start(children, tmp_path, "import sys; sys.exit('no room on the disk')")
        with pytest.raises(LocalError, match="the server ended while starting: no room on the disk") as caught:
            child.announced_port(30)
    assert "\n" not in str(caught.value)


def test_a_server_that_ends_later_is_noticed(tmp_path):
    with children_in(tmp_path) as children:
        child = start(children, tmp_path, "print('{\"port\": 1}')")
        until(lambda: not child.running)
        assert children.ended() is child


def test_a_command_that_fails_shows_its_last_words(tmp_path):
    command = [sys.executable, "-c", "import sys; print('step 1'); sys.exit('disk full')"]
    with pytest.raises(LocalError, match="the build failed") as caught:
        run("the build", command, dict(os.environ), tmp_path, tmp_path / "build.log", 60)
    assert str(caught.value).endswith("disk full")


def test_a_command_that_is_killed_counts_as_failed(tmp_path):
    command = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    with pytest.raises(LocalError, match="the build failed"):
        run("the build", command, dict(os.environ), tmp_path, tmp_path / "build.log", 60)
