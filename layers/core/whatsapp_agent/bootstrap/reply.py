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
from whatsapp_agent.credentials import Key
from whatsapp_agent.documents.reader import ChildDocumentReader
from whatsapp_agent.erasure import Erasure, ErasureParts
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.model.client import OpenAIClient, openai_client
from whatsapp_agent.model.embeddings import OpenAIEmbedder
from whatsapp_agent.model.responses import OpenAIModel
from whatsapp_agent.model.senses import OpenAISenses
from whatsapp_agent.ports.recall import Embedder
from whatsapp_agent.prices import model_price
from whatsapp_agent.providers.meta.api import META_WINDOW, MetaProvider
from whatsapp_agent.providers.whasp.api import WhaspProvider
from whatsapp_agent.queues.compaction import SqsCompactionQueue
from whatsapp_agent.queues.dead_letters import SqsDeadLetters
from whatsapp_agent.queues.inbound import SqsTurnQueue
from whatsapp_agent.secrets import CLIENT, JsonSecret, RotatingKey
from whatsapp_agent.settings import ReplySettings
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.directory import DynamoDirectory
from whatsapp_agent.store.facts import DynamoFactStore
from whatsapp_agent.store.knowledge import DynamoKnowledgeCatalogue
from whatsapp_agent.store.ledger import DynamoLedger
from whatsapp_agent.store.recall import DynamoRecallStore
from whatsapp_agent.store.retention import DynamoRetention
from whatsapp_agent.telemetry import PowertoolsTelemetry, Telemetry
from whatsapp_agent.turns.activity import Activity
from whatsapp_agent.turns.agents import AgentFinder
from whatsapp_agent.turns.answer import Answerer
from whatsapp_agent.turns.batch import Batch
from whatsapp_agent.turns.claim import Claimer
from whatsapp_agent.turns.context import ContextReader
from whatsapp_agent.turns.control import ControlEvents
from whatsapp_agent.turns.delivery import Delivery
from whatsapp_agent.turns.fact_tools import FactTools
from whatsapp_agent.turns.farewell import Farewell
from whatsapp_agent.turns.fitting import ContextLimits
from whatsapp_agent.turns.group import Group
from whatsapp_agent.turns.intake import Intake
from whatsapp_agent.turns.knowledge import Knowledge
from whatsapp_agent.turns.knowledge_tools import KnowledgeTools
from whatsapp_agent.turns.outbox import Outbox
from whatsapp_agent.turns.owner import OwnerMessages
from whatsapp_agent.turns.recall import Recaller
from whatsapp_agent.turns.to_text import ToText
from whatsapp_agent.turns.tools import maker
from whatsapp_agent.turns.turn import TurnParts, TurnSettings, TurnTaker

PEOPLE = 10
"""Groups that are worked on side by side: a batch has at most ten records."""

AWS_CLIENTS = Config(
    connect_timeout=2,
    read_timeout=5,
    retries={"mode": "standard", "total_max_attempts": 3},
    max_pool_connections=8 * PEOPLE,
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
    secrets = boto3.client("secretsmanager", config=CLIENT)
    service = JsonSecret(settings.service_secret_arn, "SERVICE_SECRET_ARN", client=secrets)
    openai = openai_client(RotatingKey(service, "openai_api_key"), settings.openai_base_url)
    hashing = JsonSecret(settings.hash_key_secret_arn, "HASH_KEY_SECRET_ARN", client=secrets)
    hash_key = hashing.read()["hash_key"].encode()
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
    provider = _provider(settings, RotatingKey(service, "provider_api_key"))
    model = OpenAIModel(openai, settings.reply_model, cache_prefix=settings.agent_id)

    side_by_side = ThreadPoolExecutor(max_workers=8 * PEOPLE, thread_name_prefix="read")
    people = ThreadPoolExecutor(max_workers=PEOPLE, thread_name_prefix="person")
    limits = ContextLimits(settings.context_chars, settings.context_messages, settings.context_tokens)
    reader = ContextReader(conversations, facts, directory, side_by_side, limits.messages)
    compaction_queue = SqsCompactionQueue(sqs, settings.compaction_queue_url)
    embedder = _embedder(settings, openai)
    recall = DynamoRecallStore(dynamodb, recall=settings.recall_table, now=utc_now)
    catalogue = DynamoKnowledgeCatalogue(dynamodb, recall=settings.recall_table)
    recaller = Recaller(
        recall,
        Knowledge(recall, catalogue, telemetry, utc_now),
        embedder,
        side_by_side,
        telemetry,
        episodes=settings.episode_days > 0,
    )
    erasure = Erasure(
        ErasureParts(
            conversations=conversations,
            facts=facts,
            recall=recall,
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
    agents = AgentFinder(profiles, settings.agent_id, directory, conversations)
    window = META_WINDOW if settings.provider == "meta" else None
    outbox = Outbox(provider, ledger, conversations, telemetry, utc_now, window=window)
    claimer = Claimer(ledger, conversations, reader, utc_now)
    senses = OpenAISenses(openai, settings.reply_model)
    documents = ChildDocumentReader(environment.get("LD_LIBRARY_PATH", ""))
    to_text = ToText(provider, senses, documents, side_by_side, telemetry)
    turns = TurnTaker(
        TurnParts(
            reader=reader,
            claimer=claimer,
            answerer=Answerer(
                model,
                ledger,
                limits,
                telemetry,
                utc_now,
                embedder=embedder,
                tools=maker([FactTools(facts, telemetry, utc_now), KnowledgeTools(recaller)], telemetry),
                price=model_price(settings.reply_model),
            ),
            outbox=outbox,
            delivery=Delivery(
                outbox=outbox,
                ledger=ledger,
                conversations=conversations,
                executor=side_by_side,
                telemetry=telemetry,
                now=utc_now,
            ),
            ledger=ledger,
            conversations=conversations,
            compaction_queue=compaction_queue,
            provider=provider,
            telemetry=telemetry,
            executor=side_by_side,
            farewell=Farewell(
                erasure.erase,
                outbox,
                telemetry,
                erased_at=directory.erased_at,
                forget_on_opt_out=settings.forget_on_opt_out,
            ),
            intake=Intake(ledger, to_text, telemetry, utc_now),
            activity=Activity(retention, settings.retention_days, telemetry, utc_now),
            recaller=recaller,
        ),
        TurnSettings(limits, settings.compact_at),
    )
    control = ControlEvents(
        directory=directory,
        conversations=conversations,
        ledger=ledger,
        agents=agents,
        owner=OwnerMessages(
            agents=agents,
            reader=reader,
            claimer=claimer,
            conversations=conversations,
            telemetry=telemetry,
            now=utc_now,
        ),
        erase=erasure.erase,
        telemetry=telemetry,
        now=utc_now,
    )
    group = Group(turns, control, agents, telemetry)
    return ReplyFunction(Batch(group, queue, people, telemetry), telemetry, settings.max_receive_count)


def _embedder(settings: ReplySettings, openai: OpenAIClient) -> Embedder | None:
    """None where no model is named: then nothing is compared by meaning."""
    if not settings.embedding_model:
        return None
    return OpenAIEmbedder(openai, settings.embedding_model, dimensions=settings.embedding_dimensions)


def _provider(settings: ReplySettings, key: Key) -> MetaProvider | WhaspProvider:
    if settings.provider == "meta":
        return MetaProvider(settings.graph_api_url, key)
    return WhaspProvider(settings.whasp_api_url, key)


def _check_agent(agent_id: str, profiles: Mapping[str, AgentProfile]) -> None:
    if agent_id not in profiles:
        raise ConfigurationError(
            f"AGENT_ID is {agent_id!r}, and layers/agents has {', '.join(sorted(profiles))}: "
            "add the agent's folder, or set AgentId to one of these"
        )
