"""The deployed compact function under moto, with a memory model that answers over HTTP from a script."""

import importlib.util
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.contracts.scripted_http import Scripted
from tests.contracts.tables import create_tables, dynamodb_client
from whatsapp_agent.memory.records import CompactionJob, Fact, FactUpdate, Message
from whatsapp_agent.queues.compaction import encode_job
from whatsapp_agent.store.facts import DynamoFactStore
from whatsapp_agent.store.items import message_item
from whatsapp_agent.store.wire import to_wire

ROOT = Path(__file__).parents[2]
APP = ROOT / "functions" / "compact" / "app.py"
# The function keeps its connections open for the next invocation; a test has none.
JSON = {"Content-Type": "application/json", "Connection": "close"}
TABLES = ("messages", "turns", "summaries", "facts")


class _Context:
    @staticmethod
    def get_remaining_time_in_millis() -> int:
        return 120_000


class CompactFunction:
    """Tables, secrets and agents of one deployment. `languages` become agents with the starter schema."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, folder: Path, model: Scripted, languages: Sequence[str]
    ) -> None:
        self.model = model
        self.client = dynamodb_client(None)
        self.tables = create_tables(self.client, *TABLES)
        self._write_agents(monkeypatch, folder, languages)
        secrets = boto3.client("secretsmanager")
        service = secrets.create_secret(Name="service", SecretString='{"openai_api_key": "sk-test"}')["ARN"]
        hash_key = secrets.create_secret(Name="hash", SecretString='{"hash_key": "k"}')["ARN"]
        environment = json.loads((ROOT / "events" / "env.json").read_text("utf-8"))["CompactFunction"]
        environment |= {f"{table.upper()}_TABLE": name for table, name in self.tables.items()}
        environment |= {
            "AGENT_ID": languages[0],
            "SERVICE_SECRET_ARN": service,
            "HASH_KEY_SECRET_ARN": hash_key,
            "OPENAI_BASE_URL": model.url,
            "ARCHIVE_BUCKET": "",
            "KEEP_MESSAGES": "0",
            "RETENTION_DAYS": "0",
        }
        for name, value in environment.items():
            monkeypatch.setenv(name, value)
        self.facts = DynamoFactStore(self.client, facts=self.tables["facts"], now=lambda: datetime.now(UTC))
        self._handler = _cold_start()
        # The first invocation makes the clients and the logger, here and not within one of the tests.
        self.compact(f"{languages[0]}#nobody")

    def put(self, messages: Sequence[Message], facts: Sequence[Fact]) -> None:
        for message in messages:
            self.client.put_item(TableName=self.tables["messages"], Item=to_wire(message_item(message, None)))
        for fact in facts:
            self.facts.write(fact.conversation, [FactUpdate(fact.key, fact.item, 0, fact, None)])

    def will_answer(self, summary: str, changes: Sequence[dict[str, Any]]) -> None:
        text = json.dumps({"summary": summary, "changes": list(changes)}, ensure_ascii=False)
        part = {"type": "output_text", "text": text, "annotations": []}
        body = {
            "id": "resp_1",
            "object": "response",
            "status": "completed",
            "output": [{"type": "message", "role": "assistant", "status": "completed", "content": [part]}],
            "usage": {"input_tokens": 900, "output_tokens": 80},
        }
        self.model.answers.append((200, JSON, json.dumps(body).encode()))

    def compact(self, conversation: str, through_seq: int = 0) -> dict[str, Any]:
        """One invocation with one job."""
        record = {
            "messageId": "m1",
            "receiptHandle": "r1",
            "body": encode_job(CompactionJob(conversation, through_seq)),
            "attributes": {"ApproximateReceiveCount": "1", "MessageGroupId": "g"},
        }
        result: dict[str, Any] = self._handler({"Records": [record]}, _Context())
        return result

    def summary(self, conversation: str) -> str:
        key = {"conversation": {"S": conversation}}
        item = self.client.get_item(TableName=self.tables["summaries"], Key=key)["Item"]
        return str(item["text"]["S"])

    @staticmethod
    def _write_agents(monkeypatch: pytest.MonkeyPatch, folder: Path, languages: Sequence[str]) -> None:
        starter = (ROOT / "layers" / "agents" / "companion" / "agent.toml").read_text("utf-8")
        assert 'language = "es"' in starter
        for language in languages:
            agent = folder / "agent_profiles" / language
            agent.mkdir(parents=True)
            text = starter.replace('language = "es"', f'language = "{language}"')
            (agent / "agent.toml").write_text(text, "utf-8")
            (agent / "persona.md").write_text("You keep people company.", "utf-8")
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.delitem(sys.modules, "agent_profiles", raising=False)


def _cold_start() -> Any:
    spec = importlib.util.spec_from_file_location("compact_app", APP)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.handler
