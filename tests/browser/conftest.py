"""The playground page in headless Chromium, on a local stack of its own."""

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from uuid import uuid4

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.driving import PATIENCE_MS
from tools.local import state
from tools.local.processes import Children
from tools.local.state import ROOT, SHARED, StackInfo
from tools.local.suite import CHROMIUM_NAMES
from tools.local.talk import Talk

STATE = SHARED / "browser"
START_SECONDS = 900
DESKTOP = (1280, 800)


@pytest.fixture(scope="session")
def stack() -> Iterator[StackInfo]:
    """A running stack with its page, started as `make run` starts it."""
    command = [sys.executable, "-m", "tools.local", "run", "--playground", "--no-browser"]
    command += ["--state", str(STATE), "--set", "BurstSeconds=1"]
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPENAI_")}
    with Children(ROOT) as children:
        child = children.start("the local stack", command, env, STATE / "logs" / "run.log")
        child.wait_until(lambda: state.running(STATE) is not None and _page_answers(), START_SECONDS)
        yield state.require_running(STATE)


def _page_answers() -> bool:
    log = STATE / "logs" / "playground.log"
    return log.is_file() and '"port"' in log.read_text(encoding="utf-8")


@pytest.fixture(scope="session")
def talk(stack: StackInfo) -> Talk:
    """The same stack, seen from outside of the page."""
    return Talk(stack)


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The system's Chromium."""
    program = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    assert program, "no Chromium is installed: `make e2e` leaves these tests out then"
    # A container's user is often root, for whom Chromium's own sandbox does not start.
    arguments = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=arguments)
        yield browser
        browser.close()


@pytest.fixture
def person() -> str:
    """A phone number that nobody has used before in this session."""
    return f"+3460{uuid4().int % 10**7:07d}"


@pytest.fixture
def open_page(chromium: Browser, stack: StackInfo) -> Iterator[Callable[..., Page]]:
    """Opens the page; at the end nothing may have gone wrong in it, or have left this machine."""
    complaints: list[str] = []
    contexts = []

    def opened(*, size: tuple[int, int] = DESKTOP, theme: str = "light", language: str = "es-ES") -> Page:
        context = chromium.new_context(
            viewport={"width": size[0], "height": size[1]},
            color_scheme="dark" if theme == "dark" else "light",
            locale=language,
            timezone_id="Europe/Madrid",
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.on("console", lambda said: said.type in ("error", "warning") and complaints.append(said.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda asked: _foreign(asked.url, stack) and complaints.append(asked.url))
        page.goto(stack.playground_url)
        page.locator("#agent-name", has_text="Luna").wait_for()
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


def _foreign(url: str, stack: StackInfo) -> bool:
    return not url.startswith((stack.playground_url, "data:", f"blob:{stack.playground_url}"))
