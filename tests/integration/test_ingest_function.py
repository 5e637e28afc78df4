"""The deployed handler from its environment to the queue, against moto."""

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tools.local.sign_event import META_SECRET, META_VERIFY_TOKEN, WHASP_SECRET, events
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.events import InboundMessage, decode

ROOT = Path(__file__).parents[2]
APP = ROOT / "functions" / "ingest" / "app.py"


def handler() -> Any:
    """A cold start: the handler's module, executed anew."""
    spec = importlib.util.spec_from_file_location("ingest_app", APP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.handler


class Deployment:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._monkeypatch = monkeypatch
        self._sqs = boto3.client("sqs")
        self._url = self._sqs.create_queue(QueueName="in.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
        self._secrets = boto3.client("secretsmanager")
        self._arn = self._secrets.create_secret(Name="webhook", SecretString="{}")["ARN"]

    def use(self, provider: str, secret: str) -> None:
        self.store(secret)
        self._monkeypatch.setenv("PROVIDER", provider)
        self._monkeypatch.setenv("INBOUND_QUEUE_URL", self._url)
        self._monkeypatch.setenv("WEBHOOK_SECRET_ARN", self._arn)
        self._monkeypatch.setenv("WEBHOOK_TOLERANCE_SECONDS", "0")

    def store(self, secret: str) -> None:
        value = {"webhook_secret": secret, "meta_verify_token": META_VERIFY_TOKEN}
        self._secrets.put_secret_value(SecretId=self._arn, SecretString=json.dumps(value))

    def queued(self) -> list[Any]:
        received = self._sqs.receive_message(QueueUrl=self._url, MaxNumberOfMessages=10).get("Messages", [])
        return [decode(message["Body"]) for message in received]


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    for name, value in {
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "AWS_DEFAULT_REGION": "eu-west-1",
        "POWERTOOLS_SERVICE_NAME": "stack-1",
    }.items():
        monkeypatch.setenv(name, value)
    with mock_aws():
        yield Deployment(monkeypatch)


def test_a_signed_webhook_ends_in_the_queue(deployment: Deployment) -> None:
    deployment.use("whasp", WHASP_SECRET)
    response = handler()(events()["ingest-whasp-text.json"], None)
    assert (response["statusCode"], response["body"]) == (200, "ok")
    (event,) = deployment.queued()
    assert isinstance(event, InboundMessage)
    assert event.text == "I start the new job on Monday"


def test_a_forged_webhook_is_refused_and_counted(
    deployment: Deployment, capsys: pytest.CaptureFixture[str]
) -> None:
    deployment.use("whasp", WHASP_SECRET)
    assert handler()(events()["ingest-whasp-forged.json"], None)["statusCode"] == 401
    assert deployment.queued() == []
    counted = [json.loads(line) for line in capsys.readouterr().out.splitlines() if "BadSignature" in line]
    assert [(line["BadSignature"], line["service"]) for line in counted] == [([1.0], "stack-1")]


def test_meta_is_served_where_meta_is_configured(deployment: Deployment) -> None:
    deployment.use("meta", META_SECRET)
    handle = handler()
    handshake = handle(events()["ingest-meta-handshake.json"], None)
    assert (handshake["statusCode"], handshake["body"]) == (200, "1158201444")
    assert handle(events()["ingest-meta-batch.json"], None)["statusCode"] == 200
    assert [event.event_id for event in deployment.queued()] == [f"wamid.sample-{n}" for n in range(1, 7)]
    assert handle(events()["ingest-whasp-text.json"], None)["statusCode"] == 404


def test_a_secret_changed_under_a_warm_process_is_taken(deployment: Deployment) -> None:
    deployment.use("whasp", "old")
    handle = handler()
    assert handle({**events()["ingest-whasp-text.json"], "headers": {}}, None)["statusCode"] == 401
    cold = handler()
    deployment.store(WHASP_SECRET)
    assert cold(events()["ingest-whasp-text.json"], None)["statusCode"] == 200


def test_a_missing_variable_is_named_at_the_first_request_and_not_at_import(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    deployment.use("whasp", WHASP_SECRET)
    monkeypatch.delenv("INBOUND_QUEUE_URL")
    handle = handler()
    with pytest.raises(ConfigurationError, match="INBOUND_QUEUE_URL"):
        handle(events()["ingest-whasp-text.json"], None)


def test_importing_the_handler_needs_no_environment_and_loads_nothing_heavy() -> None:
    program = (
        "import runpy, sys; runpy.run_path(sys.argv[1]);"
        "print(sorted({name.split('.')[0] for name in sys.modules}"
        " & {'openai', 'pydantic', 'regex', 'httpx', 'httpx2', 'moto', 'requests'}))"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, str(APP)],
        env={"PYTHONPATH": os.fspath(ROOT / "layers" / "core")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout.strip(), run.stderr) == (0, "[]", "")
