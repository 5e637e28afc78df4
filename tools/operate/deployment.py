"""A deployment as the commands see it: the functions' own ports, and a few things that only operators need."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from tools.local.state import ROOT
from tools.operate.errors import OperateError
from tools.operate.library import Library, open_library
from tools.operate.target import Target
from whatsapp_agent.agents import load_agents
from whatsapp_agent.clock import utc_now
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Summary
from whatsapp_agent.ports.directory import Directory
from whatsapp_agent.ports.privacy import Archive
from whatsapp_agent.ports.store import ConversationStore, FactStore, Ledger
from whatsapp_agent.queues.dead_letters import DeadLetter, DeadLetterQueue
from whatsapp_agent.store.archive import S3Archive
from whatsapp_agent.store.census import DynamoCensus
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.directory import DynamoDirectory
from whatsapp_agent.store.facts import DynamoFactStore
from whatsapp_agent.store.ledger import DynamoLedger

AGENTS = ROOT / "layers" / "agents"


class Census(Protocol):
    """Everybody in a deployment; see `whatsapp_agent.store.census`."""

    def conversations(self) -> list[str]: ...

    def turns(self) -> Iterator[Turn]: ...

    def summaries(self) -> Iterator[Summary]: ...


class GivenUp(Protocol):
    """A dead-letter queue; see `whatsapp_agent.queues.dead_letters`."""

    def count(self) -> int: ...

    def take(self) -> Iterator[DeadLetter]: ...

    def remove(self, letter: DeadLetter) -> None: ...

    def send_back(self, letter: DeadLetter) -> None: ...


class Figures(Protocol):
    """Sums of the functions' metrics; see `tools.operate.metrics`."""

    def sums(self, names: Sequence[str], since: datetime, until: datetime) -> dict[str, float] | None:
        """The sum of each metric over a time; None where the deployment keeps no metrics."""


@dataclass(frozen=True, slots=True)
class Deployment:
    """What the commands work with.

    Attributes:
        agent_id: The agent that answers where no other does; commands mean it unless told otherwise.
        profiles: The agents as this checkout describes them.
        erase: Asks the erase function for an erasure: a person and an agent in, its answer out.
        dead_letters: By the name of the queue, `inbound` and `compaction`.
        waiting: About how many messages a queue holds, by its name.
        models: The names of the reply and the memory model.
        library: Opens what the agents know from documents; it needs the model's service, so only when asked.
    """

    name: str
    agent_id: str
    profiles: Mapping[str, AgentProfile]
    conversations: ConversationStore
    facts: FactStore
    ledger: Ledger
    directory: Directory
    census: Census
    erase: Callable[[str, str], Mapping[str, Any]]
    dead_letters: Mapping[str, GivenUp]
    waiting: Callable[[str], int]
    figures: Figures
    models: Mapping[str, str]
    archive: Archive | None = None
    library: Callable[[], Library] | None = None
    now: Callable[[], datetime] = utc_now


def connect(target: Target, figures: Figures) -> Deployment:
    """Wires the functions' own adapters to the stack."""
    outputs, client = target.outputs, target.client
    dynamodb, sqs = client("dynamodb"), client("sqs")
    hash_key = _hash_key(target)
    retention_days = int(target.parameters.get("RetentionDays") or 0)
    tables: dict[str, Any] = {
        name: outputs[f"{name.capitalize()}Table"] for name in ("messages", "turns", "summaries", "facts")
    }
    bucket = outputs.get("ArchiveBucket", "")
    urls = {"inbound": outputs["InboundQueueUrl"], "compaction": outputs["CompactionQueueUrl"]}
    return Deployment(
        name=target.name,
        agent_id=target.parameters["AgentId"],
        profiles=load_agents(AGENTS),
        conversations=DynamoConversationStore(dynamodb, **tables, now=utc_now, retention_days=retention_days),
        facts=DynamoFactStore(
            dynamodb,
            facts=tables["facts"],
            messages=tables["messages"],
            now=utc_now,
            retention_days=retention_days,
        ),
        ledger=DynamoLedger(
            dynamodb,
            turns=tables["turns"],
            messages=tables["messages"],
            now=utc_now,
            retention_days=retention_days,
        ),
        directory=DynamoDirectory(
            dynamodb, directory=outputs["DirectoryTable"], hash_key=hash_key, now=utc_now
        ),
        census=DynamoCensus(
            dynamodb,
            turns=tables["turns"],
            summaries=tables["summaries"],
            partitions=[
                *((table, "conversation") for table in tables.values()),
                (outputs["RecallTable"], "owner"),
            ],
            now=utc_now,
        ),
        erase=_erase_function(client("lambda"), outputs["EraseFunction"]),
        dead_letters={
            "inbound": DeadLetterQueue(sqs, outputs["InboundDeadLetterQueueUrl"], urls["inbound"]),
            "compaction": DeadLetterQueue(sqs, outputs["CompactionDeadLetterQueueUrl"], urls["compaction"]),
        },
        waiting=lambda queue: DeadLetterQueue(sqs, urls[queue]).count(),
        figures=figures,
        models={role: target.parameters.get(f"{role.capitalize()}Model", "") for role in ("reply", "memory")},
        library=lambda: open_library(target),
        archive=S3Archive(client("s3"), bucket=bucket, hash_key=hash_key) if bucket else None,
    )


def _hash_key(target: Target) -> bytes:
    secret = target.outputs.get("HashKeySecret") or target.resources["HashKeyStore"]
    answer = target.client("secretsmanager").get_secret_value(SecretId=secret)
    return str(json.loads(answer["SecretString"])["hash_key"]).encode()


def _erase_function(functions: Any, name: str) -> Callable[[str, str], Mapping[str, Any]]:
    def erase(person: str, agent: str) -> Mapping[str, Any]:
        payload = json.dumps({"person": person, "agent": agent}).encode()
        answer = functions.invoke(FunctionName=name, Payload=payload)
        result = json.loads(answer["Payload"].read() or b"null")
        if answer.get("FunctionError") or not isinstance(result, dict):
            raise OperateError("the erase function failed: see its log, and try again")
        return result

    return erase
