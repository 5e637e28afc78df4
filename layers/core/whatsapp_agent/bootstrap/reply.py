"""Composition root of the reply function."""

import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.resources import files

import boto3
from botocore.config import Config

from whatsapp_agent.agents import load_agents
from whatsapp_agent.clock import utc_now
from whatsapp_agent.erasure import Erasure, ErasureParts
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.memory.records import AgentProfile
from whatsapp_agent.model.responses import OpenAIModel
from whatsapp_agent.ports import Provider
from whatsapp_agent.providers.meta.api import MetaProvider
from whatsapp_agent.providers.whasp.api import WhaspProvider
from whatsapp_agent.queues.compaction import SqsCompactionQueue
from whatsapp_agent.queues.dead_letters import SqsDeadLetters
from whatsapp_agent.queues.inbound import SqsTurnQueue
from whatsapp_agent.secrets import JsonSecret
from whatsapp_agent.settings import ReplySettings
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.directory import DynamoDirectory
from whatsapp_agent.store.facts import DynamoFactStore
from whatsapp_agent.store.ledger import DynamoLedger
from whatsapp_agent.store.recall import DynamoRecallStore
from whatsapp_agent.store.retention import DynamoRetention
from whatsapp_agent.telemetry import PowertoolsTelemetry, Telemetry
from whatsapp_agent.turns.activity import Activity
from whatsapp_agent.turns.agents import AgentFinder
from whatsapp_agent.turns.answer import Answerer, ContextLimits
from whatsapp_agent.turns.batch import Batch
from whatsapp_agent.turns.claim import Claimer
from whatsapp_agent.turns.context import ContextReader
from whatsapp_agent.turns.control import ControlEvents
from whatsapp_agent.turns.group import Group
from whatsapp_agent.turns.outbox import Outbox
from whatsapp_agent.turns.turn import TurnParts, TurnSettings, TurnTaker

PEOPLE = 10
"""Groups that are worked on side by side: a batch has at most ten records."""

AWS_CLIENTS = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=5 * PEOPLE,
)


@dataclass(frozen=True, slots=True)
class ReplyFunction:
    """What the handler hands over to."""

    batch: Batch
    telemetry: Telemetry
    max_receive_count: int


def build(environment: Mapping[str, str] = os.environ) -> ReplyFunction:
    """Wires the reply function.

    Raises:
        ConfigurationError: A variable, a secret or an agent's file is wrong; the message names it.
    """
    settings = ReplySettings.from_env(environment)
    profiles = load_agents(files("agent_profiles"))
    _check_agent(settings.agent_id, profiles)
    service = JsonSecret(settings.service_secret_arn, "SERVICE_SECRET_ARN").read()
    hash_key = JsonSecret(settings.hash_key_secret_arn, "HASH_KEY_SECRET_ARN").read()["hash_key"].encode()
    telemetry = PowertoolsTelemetry("reply", hash_key=hash_key)

    dynamodb = boto3.client("dynamodb", config=AWS_CLIENTS)
    sqs = boto3.client("sqs", config=AWS_CLIENTS)
    queue = SqsTurnQueue(sqs, settings.inbound_queue_url)
    ledger = DynamoLedger(
        dynamodb,
        turns=settings.turns_table,
        messages=settings.messages_table,
        now=utc_now,
        retention_days=settings.retention_days,
    )
    conversations = DynamoConversationStore(
        dynamodb,
        messages=settings.messages_table,
        turns=settings.turns_table,
        summaries=settings.summaries_table,
        facts=settings.facts_table,
        now=utc_now,
        retention_days=settings.retention_days,
    )
    facts = DynamoFactStore(
        dynamodb,
        facts=settings.facts_table,
        messages=settings.messages_table,
        now=utc_now,
        retention_days=settings.retention_days,
    )
    directory = DynamoDirectory(dynamodb, directory=settings.directory_table, hash_key=hash_key, now=utc_now)
    provider = _provider(settings, service.get("provider_api_key", ""))
    model = OpenAIModel(
        service.get("openai_api_key", ""),
        settings.reply_model,
        base_url=settings.openai_base_url,
        cache_prefix=settings.agent_id,
    )

    side_by_side = ThreadPoolExecutor(max_workers=4 * PEOPLE, thread_name_prefix="read")
    people = ThreadPoolExecutor(max_workers=PEOPLE, thread_name_prefix="person")
    limits = ContextLimits(settings.context_chars, settings.context_messages, settings.context_tokens)
    reader = ContextReader(conversations, facts, directory, side_by_side, limits.messages)
    compaction_queue = SqsCompactionQueue(sqs, settings.compaction_queue_url)
    erasure = Erasure(
        ErasureParts(
            conversations=conversations,
            facts=facts,
            recall=DynamoRecallStore(dynamodb, recall=settings.recall_table),
            directory=directory,
            dead_letters=SqsDeadLetters(
                sqs,
                inbound_url=settings.inbound_dead_letter_queue_url,
                compaction_url=settings.compaction_dead_letter_queue_url,
            ),
            compaction_queue=compaction_queue,
            agents=tuple(profiles),
        ),
        telemetry,
        utc_now,
    )
    retention = DynamoRetention(
        dynamodb,
        messages=settings.messages_table,
        summaries=settings.summaries_table,
        facts=settings.facts_table,
        now=utc_now,
        retention_days=settings.retention_days,
    )
    agents = AgentFinder(profiles, settings.agent_id, directory)
    turns = TurnTaker(
        TurnParts(
            reader=reader,
            claimer=Claimer(ledger, reader, utc_now),
            answerer=Answerer(model, ledger, limits, telemetry, utc_now),
            outbox=Outbox(provider, ledger, conversations, telemetry, utc_now),
            ledger=ledger,
            conversations=conversations,
            compaction_queue=compaction_queue,
            provider=provider,
            telemetry=telemetry,
            executor=side_by_side,
            forget=erasure.erase,
            activity=Activity(retention, settings.retention_days, telemetry, utc_now),
        ),
        TurnSettings(limits, settings.compact_at, settings.forget_on_opt_out),
    )
    control = ControlEvents(
        directory=directory,
        conversations=conversations,
        ledger=ledger,
        agents=agents,
        erase=erasure.erase,
        telemetry=telemetry,
        now=utc_now,
    )
    group = Group(turns, control, agents, telemetry)
    return ReplyFunction(Batch(group, queue, people, telemetry), telemetry, settings.max_receive_count)


def _provider(settings: ReplySettings, key: str) -> Provider:
    if settings.provider == "meta":
        return MetaProvider(settings.graph_api_url, key)
    return WhaspProvider(settings.whasp_api_url, key)


def _check_agent(agent_id: str, profiles: Mapping[str, AgentProfile]) -> None:
    if agent_id not in profiles:
        raise ConfigurationError(
            f"AGENT_ID is {agent_id!r}, and layers/agents has {', '.join(sorted(profiles))}: "
            "add the agent's folder, or set AgentId to one of these"
        )
