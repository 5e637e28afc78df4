"""Ingest and reply as deployed, under moto, with the simulated provider and the simulated model over HTTP."""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any
from uuid import uuid4

import boto3
import pytest

from tests.contracts.simulation import API_KEY
from tests.contracts.tables import create_tables, definitions, dynamodb_client, items_of
from tools.local.sign_event import META_SECRET, META_VERIFY_TOKEN, WHASP_SECRET
from whatsapp_agent.clock import utc_now
from whatsapp_agent.memory.records import Message
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.ledger import DynamoLedger

ROOT = Path(__file__).parents[2]
TABLES = ("messages", "turns", "summaries", "facts", "recall", "directory")
AGENT = "sales"


class Context:
    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 90_000


class MessagePath:
    """One deployment: `deliver` hands a sample event to ingest and lets reply work on what it queued."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, folder: Path, *, provider: str, provider_url: str, model_url: str
    ) -> None:
        self._sqs = boto3.client("sqs")
        self._secrets = boto3.client("secretsmanager")
        client = self._client = dynamodb_client(None)
        tables = self._tables = create_tables(client, *TABLES)
        self._inbound = self._queue("inbound")
        webhook = WHASP_SECRET if provider == "whasp" else META_SECRET
        values = {
            **{f"{table.upper()}_TABLE": name for table, name in tables.items()},
            "INBOUND_QUEUE_URL": self._inbound,
            "COMPACTION_QUEUE_URL": self._queue("compaction"),
            "INBOUND_DEAD_LETTER_QUEUE_URL": self._queue("inbound-dead"),
            "COMPACTION_DEAD_LETTER_QUEUE_URL": self._queue("compaction-dead"),
            "WEBHOOK_SECRET_ARN": self._secret(
                "webhook", {"webhook_secret": webhook, "meta_verify_token": META_VERIFY_TOKEN}
            ),
            "SERVICE_SECRET_ARN": self._secret(
                "service", {"openai_api_key": "sk-test", "provider_api_key": API_KEY}
            ),
            "HASH_KEY_SECRET_ARN": self._secret("hash", {"hash_key": "k"}),
            "PROVIDER": provider,
            "AGENT_ID": AGENT,
            "OPENAI_BASE_URL": model_url,
            "EMBEDDING_MODEL": "",
            "WHASP_API_URL": provider_url,
            "GRAPH_API_URL": f"{provider_url}/v26.0",
        }
        # Every variable that the two functions read, with this deployment's values where they differ.
        environment = json.loads((ROOT / "events" / "env.json").read_text("utf-8"))
        for name, value in {**environment["ReplyFunction"], **environment["IngestFunction"]}.items():
            monkeypatch.setenv(name, values.get(name, value))
        (folder / "agent_profiles").symlink_to(ROOT / "layers" / "agents", target_is_directory=True)
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "agent_profiles", raising=False)
        self.ingest, self.reply = cold_start("ingest"), cold_start("reply")
        # A function reads its environment at its first invocation.
        self.ingest({"requestContext": {"http": {"method": "GET", "path": "/"}}, "rawPath": "/"}, None)
        self.reply({"Records": []}, Context())
        self.ledger = DynamoLedger(
            client, turns=tables["turns"], messages=tables["messages"], now=utc_now, retention_days=0
        )
        self.conversations = DynamoConversationStore(
            client,
            messages=tables["messages"],
            turns=tables["turns"],
            summaries=tables["summaries"],
            facts=tables["facts"],
            now=utc_now,
            retention_days=0,
        )

    def forget(self) -> None:
        """Empties the tables: the next test begins anew, on functions that are warm."""
        for table, name in self._tables.items():
            keys = [key["AttributeName"] for key in definitions()[table]["KeySchema"]]
            for item in items_of(self._client, name):
                self._client.delete_item(TableName=name, Key={key: item[key] for key in keys})

    def deliver(self, event: dict[str, Any]) -> dict[str, Any]:
        """What ingest answers; reply has worked on everything afterwards, or the test fails."""
        response: dict[str, Any] = self.ingest(event, None)
        while records := self._received():
            answer = self.reply({"Records": records}, Context())
            assert answer == {"batchItemFailures": []}, "a record was handed back"
            for record in records:
                self._sqs.delete_message(QueueUrl=self._inbound, ReceiptHandle=record["receiptHandle"])
        return response

    def messages(self, person: str) -> list[Message]:
        return self.conversations.messages_after(f"{AGENT}#{person}", 0, 100)

    def state(self, person: str, event_id: str) -> str:
        turn = self.ledger.turn(f"{AGENT}#{person}", event_id)
        return turn.state if turn else "absent"

    def _received(self) -> list[dict[str, Any]]:
        received = self._sqs.receive_message(
            QueueUrl=self._inbound,
            MaxNumberOfMessages=10,
            AttributeNames=["All"],
        ).get("Messages", [])
        return [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message["Attributes"],
            }
            for message in received
        ]

    def _queue(self, name: str) -> str:
        return str(
            self._sqs.create_queue(QueueName=f"{name}-{uuid4().hex}.fifo", Attributes={"FifoQueue": "true"})[
                "QueueUrl"
            ]
        )

    def _secret(self, name: str, values: dict[str, str]) -> str:
        return str(
            self._secrets.create_secret(Name=f"{name}-{uuid4().hex}", SecretString=json.dumps(values))["ARN"]
        )


def cold_start(function: str) -> Any:
    """The handler of a function's module, executed anew."""
    path = ROOT / "functions" / function / "app.py"
    spec = importlib.util.spec_from_file_location(f"{function}_app_of_message_path", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.handler
