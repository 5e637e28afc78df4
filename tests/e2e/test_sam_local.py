"""`sam local invoke` runs every function with every sample event, in Lambda's own container image."""

import json
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from tests.e2e.builds import built_template, functions, with_endpoint
from tests.e2e.places import STATE
from tests.e2e.relay import ADD_HOST, Relay
from tools.local.checks import find_tools
from tools.local.clients import client
from tools.local.environment import tool_env
from tools.local.sign_event import META_SECRET, META_VERIFY_TOKEN
from tools.local.state import ROOT
from tools.local.talk import Talk

pytestmark = pytest.mark.docker

EVENTS = sorted(path.name for path in (ROOT / "events").glob("*.json") if path.name != "env.json")
FUNCTIONS = {
    "ingest": "IngestFunction",
    "reply": "ReplyFunction",
    "compact": "CompactFunction",
    "erase": "EraseFunction",
}
REFUSED = {"ingest-whasp-forged.json": 401}


def function_of(event: str) -> str:
    return FUNCTIONS[event.partition("-")[0].removesuffix(".json")]


@pytest.fixture(scope="module")
def invoke(talk: Talk) -> Iterator[Callable[[str], Any]]:
    """Invokes a function with a file of events/, wired to the running stack; returns its answer."""
    with Relay() as relay, new_images_removed():
        yield _Invoker(talk, relay).invoke


@contextmanager
def new_images_removed() -> Iterator[None]:
    """Removes the images that SAM CLI makes of Lambda's own and the layers; each is half a gigabyte."""
    before = _images()
    try:
        yield
    finally:
        if made := sorted(_images() - before):
            subprocess.run(["docker", "image", "rm", *made], capture_output=True, timeout=120, check=False)


def _images() -> set[str]:
    command = ["docker", "images", "samcli/lambda-python", "--format", "{{.Repository}}:{{.Tag}}"]
    return set(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout.split())


class _Invoker:
    def __init__(self, talk: Talk, relay: Relay) -> None:
        endpoint = relay.outward(talk.info.endpoint)
        self._talk = talk
        deployed = client("lambda", talk.info.endpoint)

        def publish(name: str, packed: bytes) -> str:
            version = deployed.publish_layer_version(LayerName=name, Content={"ZipFile": packed})
            return str(version["LayerVersionArn"])

        self._template = with_endpoint(endpoint, publish)
        self._values: dict[str, dict[str, str]] = {}
        for name in functions(built_template("x86_64")):
            found = deployed.get_function_configuration(FunctionName=talk.info.resources[name])
            variables = found["Environment"]["Variables"]
            self._values[name] = {key: relay.outward(value) for key, value in variables.items()}
            self._values[name]["AWS_ENDPOINT_URL"] = endpoint
        # The sample events were signed long ago.
        self._values["IngestFunction"]["WEBHOOK_TOLERANCE_SECONDS"] = "0"
        secret = json.dumps({"webhook_secret": META_SECRET, "meta_verify_token": META_VERIFY_TOKEN})
        secrets = client("secretsmanager", talk.info.endpoint)
        arn = secrets.create_secret(Name=f"meta-{uuid4().hex}", SecretString=secret)["ARN"]
        self._meta = {"PROVIDER": "meta", "WEBHOOK_SECRET_ARN": arn}

    def invoke(self, event: str) -> Any:
        function = function_of(event)
        values = self._values[function] | (self._meta if "-meta-" in event else {})
        variables = STATE / "invoke-env.json"
        variables.write_text(json.dumps({function: values}), encoding="utf-8")
        command: list[str | Path] = [find_tools(ROOT).sam, "local", "invoke", function]
        command += ["--template", self._template, "--event", ROOT / "events" / event, "--env-vars", variables]
        command += ["--parameter-overrides", "Architecture=x86_64", "--add-host", ADD_HOST]
        command += ["--layer-cache-basedir", STATE / "layers"]
        command += ["--skip-pull-image", "--region", self._talk.info.region]
        env = tool_env(STATE, self._talk.info.endpoint)
        done = subprocess.run(
            command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=300, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        assert done.stdout.strip(), done.stderr[-3000:]
        # What comes after the report is the runtime's complaint about being stopped.
        assert "Traceback" not in done.stderr.partition("REPORT RequestId")[0], done.stderr[-3000:]
        return json.loads(done.stdout.strip().splitlines()[-1])


def test_every_function_has_a_sample_event():
    assert {function_of(event) for event in EVENTS} == functions(built_template("x86_64"))


@pytest.mark.parametrize("event", EVENTS)
def test_a_sample_event_gives_a_sensible_result(invoke, event):
    answer = invoke(event)
    match function_of(event):
        case "IngestFunction":
            assert answer["statusCode"] == REFUSED.get(event, 200)
        case "EraseFunction":
            assert answer["queued"] is (event == "erase-person.json")
        case _:
            assert answer == {"batchItemFailures": []}
