"""The deployed functions in this process: what template.yaml names stands on moto, and the environment of each
function is the template's own. Each call to AWS is written down as the permission that it needs.
"""

import gc
import importlib.util
import json
import re
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import boto3
import botocore.handlers
import pytest
from moto import mock_aws

from tests.architecture.template import ROOT, template, variables
from tests.contracts.simulation import API_KEY, simulated_provider
from tests.contracts.tables import definitions, items_of
from tools.local.sign_event import WHASP_SECRET
from tools.local.simulated_model.server import SimulatedModel
from tools.local.simulated_provider.server import SimulatedProvider
from whatsapp_agent.events import Event
from whatsapp_agent.queues.inbound import SqsTurnQueue

REGION = "us-east-1"
UNLIMITED = "turns = 0\ncharacters = 0\nmedia = 0\nburst = 0"
BUCKET = "archive-of-tests"
FUNCTIONS = {
    "ingest": "IngestFunction",
    "reply": "ReplyFunction",
    "compact": "CompactFunction",
    "erase": "EraseFunction",
}
SECRETS = {
    "WebhookSecretStore": {"webhook_secret": WHASP_SECRET, "meta_verify_token": "token-of-tests"},
    "ServiceSecretStore": {"openai_api_key": "sk-canaryopenaikey0001", "provider_api_key": API_KEY},
    "HashKeyStore": {"hash_key": "canary-hash-key-0001"},
}

Permission = tuple[str, str]
"""An action and the logical name of the resource that it is on: `("dynamodb:Query", "FactsTable")`."""

_TARGETS = {"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "secretsmanager": "secretsmanager"}
_ACTIONS = {
    "Put": "PutItem",
    "Update": "UpdateItem",
    "Delete": "DeleteItem",
    "ConditionCheck": "ConditionCheckItem",
}
_BATCH = re.compile(r"^(SendMessage|DeleteMessage|ChangeMessageVisibility)Batch$")


@dataclass
class Context:
    """What Lambda hands over beside the event."""

    seconds: float = 80.0

    def get_remaining_time_in_millis(self) -> int:
        return int(1000 * self.seconds)


@dataclass
class Deployed:
    """A deployment; `handlers` are loaded at their first use, as in a cold start.

    Attributes:
        physical: Physical names by logical ones.
        used: By function, what its calls needed so far.
        overrides: Variables that differ from what the template says.
        answered: Is told what each handler returns.
    """

    provider: SimulatedProvider
    provider_url: str
    model: SimulatedModel
    monkeypatch: pytest.MonkeyPatch
    parameters: Mapping[str, str]
    physical: dict[str, str] = field(default_factory=dict)
    used: dict[str, set[Permission]] = field(default_factory=dict)
    running: str = ""
    overrides: dict[str, str] = field(default_factory=dict)
    answered: Callable[[Any], None] = lambda _: None
    _handlers: dict[str, Callable[[Any, Any], Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.dynamodb: Any = boto3.client("dynamodb", region_name=REGION)
        self.sqs: Any = boto3.client("sqs", region_name=REGION)
        self.s3: Any = boto3.client("s3", region_name=REGION)
        self.secrets: Any = boto3.client("secretsmanager", region_name=REGION)
        self._create()

    def invoke(self, function: str, event: Any) -> Any:
        """Runs a handler with the environment that the template gives its function."""
        for name, value in (self.environment(function) | self.overrides).items():
            self.monkeypatch.setenv(name, value)
        if function not in self._handlers:
            self._handlers[function] = _load(ROOT / "functions" / function / "app.py")
        with self.acting(function):
            answer = self._handlers[function](event, Context())
        self.answered(answer)
        return answer

    @contextmanager
    def acting(self, function: str) -> Iterator[None]:
        """What is called within the block is called by this function."""
        self.running = function
        try:
            yield
        finally:
            self.running = ""

    def restart(self) -> None:
        """The next invocations are cold starts."""
        self._handlers.clear()

    def environment(self, function: str) -> dict[str, str]:
        return {name: str(self.resolve(value)) for name, value in variables(FUNCTIONS[function]).items()}

    def resolve(self, value: Any) -> Any:
        """A value of the template as CloudFormation would fill it in."""
        match value:
            case {"Ref": name}:
                return self.parameters.get(name, self.physical.get(name, self._default(name)))
            case {"Fn::FindInMap": [table, row, column]}:
                return template()["Mappings"][table][row][column]
            case {"Fn::If": [_, then, otherwise]}:
                found = self.resolve(then)
                return found if found else self.resolve(otherwise)
        return value

    def send(self, *events: Event) -> None:
        """Puts events into the inbound queue, as ingest does."""
        SqsTurnQueue(self.sqs, self.physical["InboundQueue"]).send(events)

    def work(self, queue: str = "InboundQueue", *, attempts: int = 1, rounds: int = 50) -> list[str]:
        """Delivers what is in a queue until it is empty; returns the ids of what failed in the last round.

        `attempts` is how often the records are said to have been received.
        """
        function = {"InboundQueue": "reply", "CompactionQueue": "compact"}[queue]
        url, failed = self.physical[queue], list[str]()
        for _ in range(rounds):
            messages = self.sqs.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
            ).get("Messages", [])
            if not messages:
                return failed
            event = {"Records": [_record(message, attempts) for message in messages]}
            answer = self.invoke(function, event)
            failed = [each["itemIdentifier"] for each in answer["batchItemFailures"]]
            for message in messages:
                self.sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        return failed

    def settle(self) -> None:
        """Works off both queues."""
        self.work()
        self.work("CompactionQueue")

    def items(self) -> dict[str, list[dict[str, Any]]]:
        """Everything in every table, by logical name."""
        tables = [name for name in self.physical if name.endswith("Table")]
        return {name: items_of(self.dynamodb, self.physical[name]) for name in tables}

    def objects(self) -> dict[str, bytes]:
        pages = self.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET)
        names = [entry["Key"] for page in pages for entry in page.get("Contents", ())]
        return {name: self.s3.get_object(Bucket=BUCKET, Key=name)["Body"].read() for name in names}

    def queued(self, queue: str) -> list[dict[str, Any]]:
        """What is in a queue; it is visible again at once."""
        found: list[dict[str, Any]] = []
        while messages := self.sqs.receive_message(
            QueueUrl=self.physical[queue], MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
        ).get("Messages"):
            found += messages
        for message in found:
            self.sqs.change_message_visibility(
                QueueUrl=self.physical[queue], ReceiptHandle=message["ReceiptHandle"], VisibilityTimeout=0
            )
        return found

    def record(self, request: Any, **_: Any) -> None:
        """Botocore's `before-send`: writes down what a running handler asks of AWS."""
        if self.running:
            self.used.setdefault(self.running, set()).update(self._needed(request))

    def _needed(self, request: Any) -> set[Permission]:
        logical = {name: logical for logical, name in self.physical.items()}
        target = request.headers.get("X-Amz-Target")
        if not target:
            return {(f"s3:{_s3_action(request)}", logical[BUCKET])}
        prefix, operation = (
            part.decode() if isinstance(part, bytes) else part
            for part in target.split(b"." if isinstance(target, bytes) else ".")
        )
        service, asked = _TARGETS[prefix], json.loads(request.body)
        if service == "sqs":
            batch = _BATCH.match(operation)
            return {(f"sqs:{batch[1] if batch else operation}", logical[asked["QueueUrl"]])}
        if service == "secretsmanager":
            return {(f"secretsmanager:{operation}", logical[asked["SecretId"]])}
        if operation == "TransactWriteItems":
            return {
                (f"dynamodb:{_ACTIONS[kind]}", logical[action[kind]["TableName"]])
                for action in asked["TransactItems"]
                for kind in action
            }
        tables = asked.get("RequestItems") or [asked["TableName"]]
        return {(f"dynamodb:{operation}", logical[table]) for table in tables}

    def _default(self, name: str) -> str:
        return str(template()["Parameters"].get(name, {}).get("Default", ""))

    def _create(self) -> None:
        for table, definition in definitions().items():
            self.physical[f"{table.capitalize()}Table"] = f"{table}-of-tests"
            self.dynamodb.create_table(TableName=f"{table}-of-tests", **definition)
        for logical, resource in template()["Resources"].items():
            if resource["Type"] == "AWS::SQS::Queue":
                created = self.sqs.create_queue(
                    QueueName=f"{logical}.fifo",
                    Attributes={
                        "FifoQueue": "true",
                        "DeduplicationScope": "messageGroup",
                        "FifoThroughputLimit": "perMessageGroupId",
                    },
                )
                self.physical[logical] = created["QueueUrl"]
        for logical, texts in SECRETS.items():
            created = self.secrets.create_secret(Name=logical, SecretString=json.dumps(texts))
            self.physical[logical] = created["ARN"]
        self.s3.create_bucket(Bucket=BUCKET)
        if self.parameters.get("ArchiveDays", "0") != "0":
            self.physical["ArchiveBucket"] = BUCKET


@contextmanager
def deployed(monkeypatch: pytest.MonkeyPatch, folder: Path, **parameters: str) -> Iterator[Deployed]:
    """A deployment with these parameters of the template; model and provider are the simulated ones."""
    for name, value in {
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": REGION,
        # A logger of that name lives as long as the process, and so does the stream that it writes to.
        "POWERTOOLS_SERVICE_NAME": f"stack-{uuid4().hex[:8]}",
    }.items():
        monkeypatch.setenv(name, value)
    package = folder / "layer"
    shutil.copytree(ROOT / "layers" / "agents", package / "agent_profiles")
    # A story is told within a minute: the limits of an hour must not end it.
    with (package / "agent_profiles" / "sales" / "agent.toml").open("a", encoding="utf-8") as agent:
        agent.write(f"\n[limits]\n{UNLIMITED}\n")
    monkeypatch.syspath_prepend(str(package))
    model = SimulatedModel()
    calls = _Calls()
    # Ahead of moto, which answers: as a handler that every new client has.
    botocore.handlers.BUILTIN_HANDLERS.insert(0, ("before-send", calls))
    try:
        with simulated_provider() as (provider, url), mock_aws():
            made = Deployed(
                provider,
                url,
                model,
                monkeypatch,
                {
                    "Provider": "whasp",
                    "AgentId": "sales",
                    "OpenAIBaseUrl": model.url,
                    "WhaspApiUrl": url,
                    "GraphApiUrl": url,
                    **parameters,
                },
            )
            calls.listener = made.record
            yield made
            made.restart()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ResourceWarning)
                gc.collect()
    finally:
        botocore.handlers.BUILTIN_HANDLERS.remove(("before-send", calls))
        model.close()


class _Calls:
    """Hands each request on; answers none, so that the next handler does."""

    def __init__(self) -> None:
        self.listener: Callable[..., None] | None = None

    def __call__(self, request: Any, **rest: Any) -> None:
        if self.listener is not None:
            self.listener(request, **rest)


def _load(path: Path) -> Callable[[Any, Any], Any]:
    spec = importlib.util.spec_from_file_location(f"app_{path.parent.name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    handler: Callable[[Any, Any], Any] = module.handler
    return handler


def _record(message: Mapping[str, Any], attempts: int) -> dict[str, Any]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": {**message["Attributes"], "ApproximateReceiveCount": str(attempts)},
        "eventSource": "aws:sqs",
    }


def _s3_action(request: Any) -> str:
    query = urlsplit(request.url).query
    if request.method == "PUT":
        return "PutObject"
    if request.method == "POST" and "delete" in query:
        return "DeleteObject"
    return "ListBucket" if "list-type" in query else "GetObject"
