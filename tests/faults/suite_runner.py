"""Runs the store's contract suite again and again in forked processes, each time with another condition gone.

Orders are lines of JSON on stdin: `{"arguments": […], "mutant": …}`; each is answered by one line, which tells
what failed and which conditional writes the tests made. Started by `mutations.Suite`.
"""

import contextlib
import io
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.handlers import BUILTIN_HANDLERS

from tests.faults.conditions import Mutant, Site, sites_in, without
from tests.faults.mutations import STORE


class Watch:
    """A pytest plugin that sees every call of DynamoDB, and may change it."""

    def __init__(self, mutant: Mutant | None) -> None:
        self._mutant = mutant
        self._test = ""
        self.sites: dict[Site, list[str]] = defaultdict(list)
        self.failed: list[str] = []
        self.ran = 0

    def pytest_runtest_setup(self, item: Any) -> None:
        self._test = item.nodeid

    def pytest_runtest_logreport(self, report: Any) -> None:
        self.ran += report.when == "call"
        if report.failed:
            self.failed.append(report.nodeid)

    def sees(self, params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
        caller = calling_method()
        for site, _given in sites_in(model.name, params, caller):
            if self._test not in self.sites[site]:
                self.sites[site].append(self._test)
        return without(self._mutant, model.name, params, caller) if self._mutant else params


def calling_method() -> str:
    """The adapter's method on whose behalf DynamoDB is called: where the call came into the store."""
    found = ""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        if Path(frame.f_code.co_filename).parent == STORE:
            found = frame.f_code.co_qualname
        elif found:
            break
    return found


def run(order: dict[str, Any]) -> dict[str, Any]:
    given = order.get("mutant")
    watch = Watch(Mutant(Site(*given["site"]), given["dropped"]) if given else None)
    # Every session that is made from now on registers these; moto makes a new one for each test.
    BUILTIN_HANDLERS.append(("provide-client-params.dynamodb", watch.sees))
    boto3.DEFAULT_SESSION = None
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        stop = ["-x"] if given else []
        code = pytest.main([*order["arguments"], *stop, "-p", "no:randomly"], plugins=[watch])
    return {
        "code": int(code),
        "ran": watch.ran,
        "failed": watch.failed,
        "sites": [
            {"caller": site.caller, "action": site.action, "condition": site.condition, "tests": tests}
            for site, tests in watch.sites.items()
        ],
        "said": "" if code == 0 else said.getvalue()[-3000:],
    }


def serve() -> None:
    with contextlib.suppress(ImportError):
        import moto.dynamodb.models  # noqa: F401 - loaded once for all forks
    boto3.client("dynamodb", region_name="eu-west-1")
    say(json.dumps({"ready": True}))
    for line in sys.stdin:
        readable, writable = os.pipe()
        if os.fork() == 0:
            os.close(readable)
            try:
                with os.fdopen(writable, "w") as pipe:
                    json.dump(run(json.loads(line)), pipe)
            finally:
                os._exit(0)
        os.close(writable)
        with os.fdopen(readable) as pipe:
            said = pipe.read()
        os.wait()
        say(said or json.dumps({"code": -1, "ran": 0, "failed": [], "sites": [], "said": "died"}))


def say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    serve()
