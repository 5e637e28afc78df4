"""The real functions, as `bootstrap` wires them, on the emulator; model and provider are made up."""

import io
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout
from dataclasses import dataclass, field, replace
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3

from tests.contracts.emulator import ministack
from tests.contracts.simulation import API_KEY, simulated_provider
from tests.contracts.tables import create_tables
from tests.contracts.units import Meter
from tools.bench.arriving import record, record_of
from tools.bench.grown import AGENT, CONVERSATION, ROOT, Grown
from tools.bench.made_model import Say, model_server
from tools.bench.talk import exchange
from tools.local.sign_event import WHASP_SECRET, function_url_event, whasp_headers
from whatsapp_agent.clock import utc_now
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.store.fact_items import fact_item, past_item
from whatsapp_agent.store.items import message_item, summary_changes, turn_item
from whatsapp_agent.store.wire import to_wire

TABLES = ("messages", "turns", "summaries", "facts", "recall", "directory")
HELD_UP = 0.06
"""Seconds by which every call is held up, so that calls side by side overlap: see `Meter`."""
_TURNS_KEPT = timedelta(days=30)


class Context:
    """What Lambda hands over beside the event."""

    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 90_000


@dataclass
class Deployment:
    """One deployment on the emulator; `meter` counts what its functions ask of DynamoDB.

    Attributes:
        sqs_calls: Calls of the functions to SQS so far, by operation.
        logged: Bytes that the functions have written to their logs.
        metrics: The metrics among them: a name with one set of dimensions is one that AWS asks money for.
    """

    endpoint: str
    tables: Mapping[str, str]
    variables: dict[str, str]
    held_up: float = HELD_UP
    sqs_calls: list[str] = field(default_factory=list)
    logged: int = 0
    metrics: set[str] = field(default_factory=set)
    _functions: dict[str, Any] = field(default_factory=dict)
    _written: str = ""

    def __post_init__(self) -> None:
        # What is measured has a session of its own; what prepares and looks has another.
        self._own = boto3.Session()
        self.dynamodb: Any = self._own.client("dynamodb", endpoint_url=self.endpoint)
        self.sqs: Any = self._own.client("sqs", endpoint_url=self.endpoint)
        self.cold()

    def cold(self) -> None:
        """The next invocations find no function running: connections and what a process remembers are gone."""
        boto3.setup_default_session()
        session: Any = boto3.DEFAULT_SESSION
        self.meter = Meter(session, delay=self.held_up, looking=self.dynamodb)
        session.events.register("before-call.sqs.*", lambda model, **_: self.sqs_calls.append(model.name))
        self._functions.clear()

    def ingest(self, body: bytes) -> dict[str, Any]:
        """Posts a webhook of whasp."""
        timestamp = int(utc_now().timestamp())
        headers = whasp_headers(body, message_id=uuid4().hex, timestamp=timestamp)
        event = function_url_event("POST", "/webhooks/whasp", body=body, headers=headers)
        return self._invoke("ingest", event)

    def reply(self, message: InboundMessage) -> None:
        """One invocation of the reply function with one record."""
        self._work("reply", [record_of(message)])

    def replies(self, messages: Sequence[InboundMessage]) -> list[str]:
        """One invocation of the reply function with all of these; returns the ids of the events that failed."""
        answer = self._invoke("reply", {"Records": [record_of(message) for message in messages]})
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def state(self, message: InboundMessage) -> str:
        """What the ledger says about an event."""
        key = {
            "conversation": {"S": conversation_key(AGENT, message.person)},
            "event_id": {"S": message.event_id},
        }
        item = self.dynamodb.get_item(TableName=self.tables["turns"], Key=key, ConsistentRead=True)["Item"]
        return str(item["state"]["S"])

    def compact(self) -> int:
        """Works off the compaction queue; returns the number of jobs."""
        url, jobs = self.variables["COMPACTION_QUEUE_URL"], 0
        while records := self.sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=1).get("Messages"):
            for taken in records:
                self._work("compact", [record(uuid4().hex, taken["Body"], "group")])
                self.sqs.delete_message(QueueUrl=url, ReceiptHandle=taken["ReceiptHandle"])
                jobs += 1
        return jobs

    def put(self, grown: Grown, person: str) -> None:
        """Writes a grown conversation as that of `person`, as the store would hold it by now."""
        source, since = grown.world.tables, grown.world.now() - _TURNS_KEPT
        name = CONVERSATION
        own: dict[str, Any] = {"conversation": conversation_key(AGENT, person)}
        messages = [kept.record for kept in source.messages[name].values()]
        self._write("messages", [message_item(replace(each, **own), None) for each in messages])
        turns = [kept.record for kept in source.turns[name].values() if kept.record.created_at > since]
        self._write("turns", [turn_item(replace(each, **own)) for each in turns])
        if held := source.summaries.get(name):
            self._write("summaries", [own | summary_changes(held.record, None)])
        facts = [
            fact_item(replace(kept.record, **own), kept.expires_at) for kept in source.facts[name].values()
        ]
        pasts = [kept.record for kept in source.history[name].values()]
        former = [past_item(replace(past, fact=replace(past.fact, **own)), None) for past in pasts]
        # Several values of one moment have one key: the last one stays, as in the store.
        self._write("facts", list({each["key"]: each for each in facts + former}.values()))

    def _write(self, table: str, items: list[dict[str, Any]]) -> None:
        for start in range(0, len(items), 25):
            requests = [{"PutRequest": {"Item": to_wire(item)}} for item in items[start : start + 25]]
            answer = self.dynamodb.batch_write_item(RequestItems={self.tables[table]: requests})
            assert not answer.get("UnprocessedItems")

    def _work(self, function: str, records: list[dict[str, Any]]) -> None:
        answer = self._invoke(function, {"Records": records})
        if answer != {"batchItemFailures": []}:
            raise RuntimeError(f"the {function} function gave its record back: {self._written}")

    def _invoke(self, function: str, event: dict[str, Any]) -> dict[str, Any]:
        written = io.StringIO()
        with redirect_stdout(written):
            if function not in self._functions:
                module = import_module(f"functions.{function}.app")
                module._function.cache_clear()
                self._functions[function] = module.handler
            answer: dict[str, Any] = self._functions[function](event, Context())
        self._written = written.getvalue()
        self.logged += len(self._written.encode())
        self.metrics |= _metrics(self._written)
        return answer


@contextmanager
def deployment(
    *,
    say: Say | None = None,
    held_up: float = HELD_UP,
    endpoint: str | None = None,
    services: tuple[str, str] | None = None,
) -> Iterator[Deployment]:
    """Starts the emulator, the made model and the simulated provider; ends them afterwards.

    Args:
        say: What the model answers; by default something of everyday length.
        held_up: Seconds by which every call to DynamoDB is held up.
        endpoint: Of an emulator that runs already.
        services: Addresses of a model and of a provider that run already.
    """
    with ExitStack() as stack:
        endpoint = endpoint or stack.enter_context(ministack())
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        model_url, provider_url = services or stack.enter_context(model_and_provider(say))
        _patient_agents(folder / "agent_profiles")
        sys.path.insert(0, str(folder))
        stack.callback(sys.path.remove, str(folder))
        sys.modules.pop("agent_profiles", None)
        stack.callback(sys.modules.pop, "agent_profiles", None)
        stack.callback(setattr, boto3, "DEFAULT_SESSION", None)
        aws = {
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_ENDPOINT_URL": endpoint,
            "POWERTOOLS_SERVICE_NAME": "whatsapp-agent",
        }
        stack.enter_context(_environment(aws))
        tables = create_tables(boto3.Session().client("dynamodb"), *TABLES)
        variables = _variables(tables, model_url, provider_url)
        stack.enter_context(_environment(variables))
        yield Deployment(endpoint, tables, variables, held_up)


@contextmanager
def model_and_provider(say: Say | None = None) -> Iterator[tuple[str, str]]:
    """Both in this process; yields their addresses."""
    with simulated_provider() as (_, provider_url), model_server(say or _everyday) as model_url:
        yield model_url, provider_url


def _everyday(body: dict[str, Any]) -> str:
    return exchange(len(body["input"]))[1]


def _metrics(written: str) -> set[str]:
    """In the embedded metric format: each line names its metrics, and the sets of dimensions of each."""
    found = set[str]()
    for line in written.splitlines():
        told = json.loads(line)
        for block in told.get("_aws", {}).get("CloudWatchMetrics", []):
            for dimensions in block["Dimensions"]:
                values = ",".join(f"{name}={told[name]}" for name in sorted(dimensions))
                found |= {f"{metric['Name']}{{{values}}}" for metric in block["Metrics"]}
    return found


def _patient_agents(folder: Path) -> None:
    """The agents, but for the limits: the benchmark writes faster than people do."""
    shutil.copytree(ROOT / "layers" / "agents", folder)
    for path in folder.glob("*/agent.toml"):
        text = re.sub(r"^(turns|burst) *= *\d+$", r"\1 = 1000", path.read_text("utf-8"), flags=re.M)
        path.write_text(text, "utf-8")


def _variables(tables: Mapping[str, str], model_url: str, provider_url: str) -> dict[str, str]:
    sqs, secrets = boto3.Session().client("sqs"), boto3.Session().client("secretsmanager")

    def queue(name: str) -> str:
        return str(
            sqs.create_queue(QueueName=f"{name}-{uuid4().hex}.fifo", Attributes={"FifoQueue": "true"})[
                "QueueUrl"
            ]
        )

    def secret(name: str, values: Mapping[str, str]) -> str:
        return str(secrets.create_secret(Name=f"{name}-{uuid4().hex}", SecretString=json.dumps(values))["ARN"])

    values = {
        **{f"{table.upper()}_TABLE": name for table, name in tables.items()},
        "INBOUND_QUEUE_URL": queue("inbound"),
        "COMPACTION_QUEUE_URL": queue("compaction"),
        "INBOUND_DEAD_LETTER_QUEUE_URL": queue("inbound-dead"),
        "COMPACTION_DEAD_LETTER_QUEUE_URL": queue("compaction-dead"),
        "WEBHOOK_SECRET_ARN": secret("webhook", {"webhook_secret": WHASP_SECRET, "meta_verify_token": "t"}),
        "SERVICE_SECRET_ARN": secret("service", {"openai_api_key": "sk-made", "provider_api_key": API_KEY}),
        "HASH_KEY_SECRET_ARN": secret("hash", {"hash_key": "k"}),
        "AGENT_ID": AGENT,
        "OPENAI_BASE_URL": model_url,
        "WHASP_API_URL": provider_url,
    }
    environment = json.loads((ROOT / "events" / "env.json").read_text("utf-8"))
    every = {**environment["IngestFunction"], **environment["CompactFunction"], **environment["ReplyFunction"]}
    return {name: values.get(name, value) for name, value in every.items()}


@contextmanager
def _environment(values: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
