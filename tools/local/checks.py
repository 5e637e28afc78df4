"""What must be there before anything starts; each check fails with one line."""

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.local.errors import LocalError


@dataclass(frozen=True, slots=True)
class Tools:
    """Programs that the local stack runs.

    Attributes:
        pip_python: An interpreter with pip of the version that runs the functions: layers are built with it.
    """

    sam: Path
    emulator: Path
    pip_python: Path


def find_tools(root: Path) -> Tools:
    """Looks at SAM_BIN and MINISTACK_BIN, then at the virtual environments that the Makefile makes.

    Raises:
        LocalError: Something is missing; the message says what to do.
    """
    if shutil.which("make") is None:
        raise LocalError("make is not on the PATH: SAM builds the layers with it; install make")
    sam = _program(root, "SAM_BIN", ".venv-sam/bin/sam", "SAM CLI")
    emulator = _program(root, "MINISTACK_BIN", ".venv-emulator/bin/ministack", "the AWS emulator")
    return Tools(sam=sam, emulator=emulator, pip_python=_with_pip(emulator.parent / "python"))


def _with_pip(python: Path) -> Path:
    """The emulator's interpreter, or the one that its virtual environment was made from."""
    question = (
        "import importlib.util, sys; "
        "print('' if importlib.util.find_spec('pip') else getattr(sys, '_base_executable', sys.executable))"
    )
    try:
        answer = subprocess.run(
            [python, "-c", question], capture_output=True, text=True, check=True, timeout=60
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise LocalError(f"{python} does not run: MINISTACK_BIN must lie in a virtual environment") from error
    return Path(answer.stdout.strip() or python)


def _program(root: Path, variable: str, place: str, name: str) -> Path:
    if given := os.environ.get(variable):
        path = Path(given).absolute()
        if not os.access(path, os.X_OK):
            raise LocalError(f"{variable} is {given!r}, which is no program that can be run")
        return path
    path = root / place
    if not os.access(path, os.X_OK):
        raise LocalError(f"{name} is not installed in {place}: start with `make run`, which installs it")
    return path
