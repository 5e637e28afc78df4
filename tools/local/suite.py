"""Runs the end-to-end tests; says aloud what cannot run on this machine."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence

from tools.local.state import ROOT

CHROMIUM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""Programs on the PATH that the browser tests can drive; the first one found."""


def run_suite(pytest_options: Sequence[str]) -> int:
    """Runs pytest on tests/e2e and tests/browser; returns its exit code. Tests marked `docker` run where an
    engine answers, those of the playground page where a Chromium is installed.
    """
    folders = ["tests/e2e", "tests/browser"]
    if not any(map(shutil.which, CHROMIUM_NAMES)):
        print(
            "No Chromium is installed: the tests of the playground page (tests/browser) are left out.",
            flush=True,
        )
        folders.remove("tests/browser")
    command = [sys.executable, "-m", "pytest", *folders, *pytest_options]
    if not docker_answers():
        print(
            "No Docker engine answers: the tests that run `sam local invoke` are left out (-m 'not docker').",
            flush=True,
        )
        command += ["-m", "not docker"]
    return subprocess.run(command, cwd=ROOT, check=False, env=dict(os.environ)).returncode


def docker_answers() -> bool:
    """Whether a Docker engine answers on this machine."""
    docker = shutil.which("docker")
    if docker is None:
        return False
    try:
        answer = subprocess.run(
            [docker, "version", "--format", "{{.Server.Version}}"], capture_output=True, timeout=20, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and bool(answer.stdout.strip())
