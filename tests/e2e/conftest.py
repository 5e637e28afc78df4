"""One local stack for the whole session, driven from outside."""

import sys
from collections.abc import Iterator
from uuid import uuid4

import pytest

from tests.e2e.places import STATE, clean_env
from tools.local import state
from tools.local.processes import Children
from tools.local.state import ROOT
from tools.local.talk import Talk

START_SECONDS = 900
"""The first start downloads the layers' packages."""


def pytest_configure(config: pytest.Config) -> None:
    """Markers of this folder only."""
    config.addinivalue_line("markers", "docker: needs a Docker engine (`sam local invoke`)")


@pytest.fixture(scope="session")
def talk() -> Iterator[Talk]:
    """A running stack with a short burst delay, started as users start it."""
    command = [sys.executable, "-m", "tools.local", "run", "--state", STATE, "--set", "BurstSeconds=1"]
    with Children(ROOT) as children:
        stack = children.start("the local stack", command, clean_env(), STATE / "logs" / "run.log")
        stack.wait_until(lambda: state.running(STATE) is not None, START_SECONDS)
        yield Talk(state.require_running(STATE))


@pytest.fixture
def person() -> str:
    """A phone number that nobody has used before in this session."""
    return f"+3460{uuid4().int % 10**7:07d}"
