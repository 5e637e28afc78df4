"""Starts the process that runs the handlers, and speaks with it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).parents[2]
REGION = "eu-west-1"


@dataclass(frozen=True)
class Outcome:
    """What became of one invocation, or of several in one process.

    Attributes:
        answers: What the handler returned, by event.
        raised: The name of the exception that ended it; empty where none did.
        killed: Whether the process died of a signal.
        log: Everything that it wrote to stdout and stderr.
    """

    answers: tuple[Any, ...]
    raised: str
    killed: bool
    log: str


class Handlers:
    """One warm process that forks a new one for each invocation. Close it after use."""

    def __init__(self) -> None:
        self._folder = TemporaryDirectory(prefix="faults-")
        home = Path(self._folder.name)
        # As in the layer: the agents' folders below a package of this name.
        (home / "agent_profiles").symlink_to(ROOT / "layers" / "agents", target_is_directory=True)
        self._log = home / "log"
        path = os.pathsep.join([str(ROOT / "layers" / "core"), str(ROOT), str(home)])
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.zygote"],
            env={
                "PATH": os.environ.get("PATH", ""),
                "PYTHONPATH": path,
                "HOME": str(home),
                "AWS_ACCESS_KEY_ID": "test",
                "AWS_SECRET_ACCESS_KEY": "test",
                "AWS_DEFAULT_REGION": REGION,
                "AWS_EC2_METADATA_DISABLED": "true",
                "POWERTOOLS_SERVICE_NAME": "faults",
            },
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._read() == {"ready": True}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def run(
        self,
        function: str,
        events: Sequence[Any],
        environment: Mapping[str, str],
        *,
        seconds: float = 80.0,
        started: Callable[[int], None] = lambda _: None,
    ) -> Outcome:
        """Runs the events through one new process of the function.

        Args:
            function: The folder below `functions`.
            events: What Lambda would hand over, one invocation each.
            environment: The function's variables.
            seconds: What each invocation has left when it begins.
            started: Is told the process id.
        """
        self._log.write_bytes(b"")
        order = {
            "function": function,
            "events": list(events),
            "environment": dict(environment),
            "seconds": seconds,
            "log": str(self._log),
        }
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        started(int(self._read()["pid"]))
        result = self._read()
        return Outcome(
            tuple(result["answers"]),
            result["raised"],
            result["killed"],
            self._log.read_text("utf-8", "replace"),
        )

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)
        self._folder.cleanup()

    def _read(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process that runs the handlers has ended; its stderr is above")
        return json.loads(line)
