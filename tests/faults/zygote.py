"""Runs the deployed handlers in processes that may be killed at any moment.

A process that has imported everything once forks for each invocation: a cold start, in milliseconds. It is
told what to run by lines of JSON on stdin, and answers with two lines for each: the process id, then what came
of it. Started by `processes.Handlers`, never imported by it.
"""

import time

time.sleep = lambda _seconds: None
"""Back-off is not waited for. Set before anything is imported that keeps a reference to it."""

import gc  # noqa: E402
import importlib.util  # noqa: E402
import json  # noqa: E402
import os  # noqa: E402
import sys  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import boto3  # noqa: E402

FUNCTIONS = Path(__file__).parents[2] / "functions"


class Context:
    """What Lambda passes beside the event."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._end - time.monotonic()) * 1000))


def load(function: str) -> Any:
    """The function's own module, executed anew."""
    spec = importlib.util.spec_from_file_location(f"{function}_app", FUNCTIONS / function / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def remember_files() -> None:
    """Reading botocore's files and the certificates again takes most of a cold start, and is none of ours."""
    import ssl

    from botocore.loaders import JSONFileLoader, Loader

    for owner, name in ((JSONFileLoader, "load_file"), (Loader, "list_available_services")):
        setattr(owner, name, _once(getattr(owner, name), skipped=1))
    # Nothing here speaks TLS.
    ssl.SSLContext.load_verify_locations = lambda *_args, **_kwargs: None  # type: ignore[method-assign]


def _once(function: Any, skipped: int = 0) -> Any:
    answers: dict[str, Any] = {}

    def remembered(*args: Any, **kwargs: Any) -> Any:
        key = repr((args[skipped:], kwargs))
        if key not in answers:
            answers[key] = function(*args, **kwargs)
        return answers[key]

    return remembered


def warm_up() -> None:
    remember_files()
    for function in ("ingest", "reply", "compact"):
        load(function)
    for session in (boto3, boto3.Session()):
        for service in ("dynamodb", "sqs", "secretsmanager"):
            session.client(service)  # type: ignore[union-attr]
    import openai

    openai.OpenAI(api_key="x").close()
    gc.freeze()


def run(order: dict[str, Any], out: int) -> None:
    """In the child: one process that serves the events one after another, as a warm one does."""
    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.environ.update(order["environment"])
    answers: list[Any] = []
    raised = ""
    try:
        handler = load(order["function"]).handler
        answers.extend(handler(event, Context(order["seconds"])) for event in order["events"])
    except Exception as error:  # noqa: BLE001 - Lambda reports it, and the queue hands everything out again
        import traceback

        traceback.print_exc()
        raised = type(error).__name__
    sys.stdout.flush()
    with os.fdopen(out, "w") as pipe:
        json.dump({"answers": answers, "raised": raised}, pipe)


def say(what: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def serve() -> None:
    warm_up()
    say({"ready": True})
    for line in sys.stdin:
        order = json.loads(line)
        readable, writable = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(readable)
            try:
                run(order, writable)
            finally:
                os._exit(0)
        os.close(writable)
        say({"pid": child})
        with os.fdopen(readable) as pipe:
            said = pipe.read()
        _, status = os.waitpid(child, 0)
        killed = os.WIFSIGNALED(status)
        result = json.loads(said) if said and not killed else {"answers": [], "raised": ""}
        say({**result, "killed": killed})


if __name__ == "__main__":
    serve()
