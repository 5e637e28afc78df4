"""One deployment of the whole system: tables, queues and secrets on moto, handlers in their own processes."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import boto3
from moto import mock_aws
from moto.backends import get_backend
from moto.core import DEFAULT_ACCOUNT_ID

from tests.contracts.stores import Stores, stores_on
from tests.contracts.tables import definitions
from tests.faults.front import Front, Run
from tests.faults.processes import REGION, ROOT, Handlers, Outcome
from tests.faults.services import API_KEY, Call, Services
from tests.faults.troubles import Trouble
from whatsapp_agent.clock import utc_now

WEBHOOK_SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
ENVIRONMENT: dict[str, dict[str, str]] = json.loads((ROOT / "events" / "env.json").read_text("utf-8"))
"""By the functions' logical names: every variable that they read, as a test of the template holds."""

TABLES = tuple(definitions())
SECRETS = {
    "WEBHOOK_SECRET_ARN": {"webhook_secret": WEBHOOK_SECRET},
    "SERVICE_SECRET_ARN": {"openai_api_key": "sk-secret", "provider_api_key": API_KEY},
    "HASH_KEY_SECRET_ARN": {"hash_key": "a key for tests"},
}
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
        """Begins anew. What is the same each time is made once: most of a run's time would go into it."""
        get_backend("sqs")[DEFAULT_ACCOUNT_ID][REGION].reset()
        if self.secrets:
            for table in self._tables().values():
                table.items.clear()
        else:
            self._create()
        for variable in {name for variables in ENVIRONMENT.values() for name in variables}:
            if variable.endswith("_QUEUE_URL"):
                queue = variable.removesuffix("_QUEUE_URL").lower()
                created = self.sqs.create_queue(QueueName=f"{queue}.fifo", Attributes={"FifoQueue": "true"})
                self.urls[queue] = created["QueueUrl"]

    def _create(self) -> None:
        for table in TABLES:
            self.dynamodb.create_table(TableName=table, **definitions()[table])
        for variable, value in SECRETS.items():
            created = self._secrets.create_secret(Name=variable, SecretString=json.dumps(value))
            self.secrets[variable] = created["ARN"]

    def addresses(self) -> dict[str, str]:
        """The variables that say where everything of AWS is."""
        return (
            {f"{table.upper()}_TABLE": table for table in TABLES}
            | {f"{queue.upper()}_QUEUE_URL": url for queue, url in self.urls.items()}
            | self.secrets
        )

    def items(self) -> dict[str, list[dict[str, Any]]]:
        """What is stored, past moto's own HTTP: as DynamoDB writes it."""
        tables = self._tables()
        return {name: [item.to_json()["Attributes"] for item in tables[name].all_items()] for name in TABLES}

    def _tables(self) -> dict[str, Any]:
        return get_backend("dynamodb")[DEFAULT_ACCOUNT_ID][REGION].tables  # type: ignore[no-any-return]

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
        free: Processes that can run a handler now.
        provider: `whasp`, which honours idempotency keys, or `meta`, which has none.
        troubles: What goes wrong, and where.
        calls: Each call of each invocation so far.
        met: The troubles that were met.
        logs: Everything that the handlers wrote.
        redriven: How many messages the queue gave up, and got again.
    """

    aws: Aws
    free: list[Handlers]
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
        # A second process, where one invocation happens in the middle of another.
        handlers = self.free.pop()
        try:
            outcome = handlers.run(function, events, self._environment(function, run), started=run.started)
        finally:
            self.free.append(handlers)
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

    def _environment(self, function: str, run: Run) -> dict[str, str]:
        variables = ENVIRONMENT[f"{function.capitalize()}Function"]
        ours = {
            **self.aws.addresses(),
            "AGENT_ID": "sales",
            "PROVIDER": self.provider,
            "OPENAI_BASE_URL": self.front.url(run, "model/v1"),
            "WHASP_API_URL": self.front.url(run, "provider"),
            "GRAPH_API_URL": self.front.url(run, "provider/v26.0"),
            "WEBHOOK_TOLERANCE_SECONDS": "300",
            "MAX_RECEIVE_COUNT": str(MAX_RECEIVE_COUNT),
            **self.settings,
        }
        known = {name: ours.get(name, value) for name, value in variables.items()}
        return {"AWS_ENDPOINT_URL": self.front.url(run, "aws"), **known}


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
            return Deployment(aws, [others, handlers], fronts[0], services, provider, troubles, settings)

        try:
            yield fresh
        finally:
            while fronts:
                fronts.pop().close()


def queued(body: str, group: str) -> Queued:
    return Queued(str(uuid4()), group, body)


def _nothing(_call: Call) -> None:
    pass
