"""One deployment of the whole system: tables, queues and secrets on moto, handlers in processes of their own."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3
from moto import mock_aws
from moto.backends import get_backend

from tests.contracts.stores import Stores, stores_on
from tests.contracts.tables import definitions, items_of
from tests.faults.front import Front, Run
from tests.faults.processes import REGION, Handlers, Outcome
from tests.faults.services import API_KEY, Call, Services
from tests.faults.troubles import Trouble
from whatsapp_agent.clock import utc_now

TABLES = ("messages", "turns", "summaries", "facts", "directory")
QUEUES = ("inbound", "compaction")
WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
MAX_RECEIVE_COUNT = 5


@dataclass(frozen=True)
class Queued:
    """A message of a queue, as Lambda would hand it over."""

    message_id: str
    group: str
    body: str

    def record(self, receive_count: int) -> dict[str, Any]:
        return {
            "messageId": self.message_id,
            "receiptHandle": f"{self.message_id}.{receive_count}",
            "body": self.body,
            "attributes": {"ApproximateReceiveCount": str(receive_count), "MessageGroupId": self.group},
            "eventSource": "aws:sqs",
        }


class Aws:
    """moto's tables and queues, seen from the side. Works while `mock_aws` is on."""

    def __init__(self) -> None:
        keys = {"aws_access_key_id": "test", "aws_secret_access_key": "test", "region_name": REGION}
        self.dynamodb: Any = boto3.client("dynamodb", **keys)
        self.sqs: Any = boto3.client("sqs", **keys)
        self._secrets: Any = boto3.client("secretsmanager", **keys)
        self.urls: dict[str, str] = {}
        self.secrets: dict[str, str] = {}

    def reset(self) -> None:
        for service in ("dynamodb", "sqs", "secretsmanager"):
            get_backend(service).reset()  # type: ignore[call-overload]
        for table in TABLES:
            self.dynamodb.create_table(TableName=table, **definitions()[table])
        for queue in QUEUES:
            created = self.sqs.create_queue(QueueName=f"{queue}.fifo", Attributes={"FifoQueue": "true"})
            self.urls[queue] = created["QueueUrl"]
        values = {
            "webhook": {"webhook_secret": WEBHOOK_SECRET},
            "service": {"openai_api_key": "sk-secret", "provider_api_key": API_KEY},
            "hash": {"hash_key": "a key for tests"},
        }
        for name, value in values.items():
            created = self._secrets.create_secret(Name=name, SecretString=json.dumps(value))
            self.secrets[name] = created["ARN"]

    def items(self) -> dict[str, list[dict[str, Any]]]:
        return {table: items_of(self.dynamodb, table) for table in TABLES}

    def take(self, queue: str) -> list[Queued]:
        """Takes everything out of a queue, in order."""
        found: list[Queued] = []
        while received := self.sqs.receive_message(
            QueueUrl=self.urls[queue], MaxNumberOfMessages=10, AttributeNames=["All"]
        ).get("Messages"):
            for message in received:
                self.sqs.delete_message(QueueUrl=self.urls[queue], ReceiptHandle=message["ReceiptHandle"])
                group = message["Attributes"]["MessageGroupId"]
                found.append(Queued(message["MessageId"], group, message["Body"]))
        return found


@dataclass
class Deployment:
    """Runs handlers and keeps what happened.

    Attributes:
        provider: `whasp`, which honours idempotency keys, or `meta`, which has none.
        troubles: What goes wrong, and where.
        calls: Each call of each invocation so far.
        met: The troubles that were met.
        logs: Everything that the handlers wrote.
        dead: Messages that the queue gave up, redriven once.
        asked_after_reply: Replies that the model was asked for after it stood in the table.
    """

    aws: Aws
    handlers: Handlers
    front: Front
    services: Services
    provider: str = "whasp"
    troubles: Sequence[Trouble] = ()
    settings: dict[str, str] = field(default_factory=dict)
    runs: list[Run] = field(default_factory=list)
    log: str = ""
    redriven: int = 0

    def invoke(
        self, function: str, events: Sequence[Any], before: Callable[[Call], None] = lambda _: None
    ) -> Outcome:
        run = self.front.open(len(self.runs) + 1, self.troubles, before)
        self.runs.append(run)
        outcome = self.handlers.run(function, events, self._environment(run), started=run.started)
        run.dead = True
        self.log += outcome.log
        return outcome

    def deliver(
        self, function: str, messages: Sequence[Queued], before: Callable[[Call], None] = lambda _: None
    ) -> None:
        """Hands messages out until none is left, as SQS would: in order, with a growing receive count; one
        that failed too often goes to the dead-letter queue and is redriven once.
        """
        waiting = [(message, 1) for message in messages]
        given_up: list[Queued] = []
        for _ in range(4 * MAX_RECEIVE_COUNT):
            if not waiting:
                break
            batch = {"Records": [message.record(count) for message, count in waiting[:10]]}
            outcome = self.invoke(function, [batch], before)
            before = _nothing
            back = {message.message_id for message, _ in waiting}
            if outcome.answers:
                failed = {each["itemIdentifier"] for each in outcome.answers[0]["batchItemFailures"]}
                back = {message.message_id for message, _ in waiting[10:]} | failed
            returned = [(message, count + 1) for message, count in waiting if message.message_id in back]
            given_up += [message for message, count in returned if count > MAX_RECEIVE_COUNT]
            waiting = [(message, count) for message, count in returned if count <= MAX_RECEIVE_COUNT]
        if given_up or waiting:
            assert not self.redriven, "a redriven message was given up again"
            self.redriven += len(given_up)
            self.deliver(function, given_up)

    def compact(self, before: Callable[[Call], None] = lambda _: None) -> None:
        """Runs the compaction jobs that are queued."""
        for job in self.aws.take("compaction"):
            self.deliver("compact", [job], before)
            before = _nothing

    @property
    def met(self) -> list[Trouble]:
        return [trouble for run in self.runs for trouble in run.met]

    def stores(self) -> Stores:
        """The real adapters, past the front, with the time of now."""
        stores = stores_on(self.aws.dynamodb, {table: table for table in TABLES})
        stores.clock.moment = utc_now()
        return stores

    def _environment(self, run: Run) -> dict[str, str]:
        secrets = self.aws.secrets
        return {
            "AWS_ENDPOINT_URL": self.front.url(run, "aws"),
            "PROVIDER": self.provider,
            "AGENT_ID": "sales",
            "INBOUND_QUEUE_URL": self.aws.urls["inbound"],
            "COMPACTION_QUEUE_URL": self.aws.urls["compaction"],
            **{f"{table.upper()}_TABLE": table for table in TABLES},
            "SERVICE_SECRET_ARN": secrets["service"],
            "HASH_KEY_SECRET_ARN": secrets["hash"],
            "WEBHOOK_SECRET_ARN": secrets["webhook"],
            "WEBHOOK_TOLERANCE_SECONDS": "300",
            "OPENAI_BASE_URL": self.front.url(run, "model/v1"),
            "REPLY_MODEL": "gpt-6-luna",
            "MEMORY_MODEL": "gpt-6-luna",
            "WHASP_API_URL": self.front.url(run, "provider"),
            "GRAPH_API_URL": self.front.url(run, "provider/v26.0"),
            "CONTEXT_CHARS": "12000",
            "CONTEXT_MESSAGES": "60",
            "CONTEXT_TOKENS": "0",
            "COMPACT_AT": "40",
            "KEEP_MESSAGES": "20",
            "RETENTION_DAYS": "0",
            "FORGET_ON_OPT_OUT": "false",
            "MAX_RECEIVE_COUNT": str(MAX_RECEIVE_COUNT),
            **self.settings,
        }


@contextmanager
def laboratory() -> Iterator[Callable[..., Deployment]]:
    """Yields what makes a fresh deployment; each one replaces the one before."""
    with mock_aws(), Handlers() as handlers, Handlers() as others:
        aws = Aws()
        fronts: list[Front] = []

        def fresh(provider: str = "whasp", troubles: Sequence[Trouble] = (), **settings: str) -> Deployment:
            while fronts:
                fronts.pop().close()
            aws.reset()
            services = Services(idempotent=provider == "whasp")
            fronts.append(Front(services))
            return Deployment(aws, handlers, fronts[0], services, provider, troubles, settings)

        try:
            yield fresh
        finally:
            while fronts:
                fronts.pop().close()
            del others


def queued(body: str, group: str) -> Queued:
    return Queued(str(uuid4()), group, body)


def _nothing(_call: Call) -> None:
    pass
