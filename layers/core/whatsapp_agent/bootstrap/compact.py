"""Composition root of the compact function."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files

import boto3
from botocore.config import Config

from whatsapp_agent.agents import load_agents
from whatsapp_agent.clock import utc_now
from whatsapp_agent.compaction.compact import CompactionSettings, Compactor
from whatsapp_agent.compaction.episodes import EpisodeKeeper
from whatsapp_agent.compaction.jobs import CompactionJobs
from whatsapp_agent.model.client import OpenAIClient, openai_client
from whatsapp_agent.model.embeddings import OpenAIEmbedder
from whatsapp_agent.model.responses import OpenAIModel
from whatsapp_agent.ports.recall import RecallStore
from whatsapp_agent.prices import model_price
from whatsapp_agent.queues.compaction import decode_job
from whatsapp_agent.secrets import CLIENT, JsonSecret, RotatingKey
from whatsapp_agent.settings import CompactSettings
from whatsapp_agent.store.archive import S3Archive
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.facts import DynamoFactStore
from whatsapp_agent.store.recall import DynamoRecallStore
from whatsapp_agent.telemetry import PowertoolsTelemetry, Telemetry

AWS_CLIENTS = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 3})


@dataclass(frozen=True, slots=True)
class CompactFunction:
    """What the handler hands over to."""

    jobs: CompactionJobs
    telemetry: Telemetry


def build(environment: Mapping[str, str] = os.environ) -> CompactFunction:
    """Wires the compact function.

    Raises:
        ConfigurationError: A variable, a secret or an agent's file is wrong; the message names it.
    """
    settings = CompactSettings.from_env(environment)
    secrets = boto3.client("secretsmanager", config=CLIENT)
    service = JsonSecret(settings.service_secret_arn, "SERVICE_SECRET_ARN", client=secrets)
    hashing = JsonSecret(settings.hash_key_secret_arn, "HASH_KEY_SECRET_ARN", client=secrets)
    hash_key = hashing.read()["hash_key"].encode()
    telemetry = PowertoolsTelemetry("compact", hash_key=hash_key)

    dynamodb = boto3.client("dynamodb", config=AWS_CLIENTS)
    conversations = DynamoConversationStore(
        dynamodb,
        messages=settings.messages_table,
        turns=settings.turns_table,
        summaries=settings.summaries_table,
        facts=settings.facts_table,
        now=utc_now,
        retention_days=settings.retention_days,
    )
    archive = None
    if settings.archive_bucket:
        s3 = boto3.client("s3", config=AWS_CLIENTS)
        archive = S3Archive(s3, bucket=settings.archive_bucket, hash_key=hash_key)
    openai = openai_client(RotatingKey(service, "openai_api_key"), settings.openai_base_url)
    recall = DynamoRecallStore(
        dynamodb, recall=settings.recall_table, messages=settings.messages_table, now=utc_now
    )
    compactor = Compactor(
        conversations=conversations,
        facts=DynamoFactStore(dynamodb, facts=settings.facts_table, now=utc_now),
        model=OpenAIModel(
            openai,
            settings.memory_model,
            max_output_tokens=4000,
            cache_prefix=f"{settings.agent_id}-memory",
        ),
        profiles=load_agents(files("agent_profiles")),
        settings=CompactionSettings(
            keep_messages=settings.keep_messages,
            context_chars=settings.context_chars,
            context_messages=settings.context_messages,
            context_tokens=settings.context_tokens,
        ),
        telemetry=telemetry,
        now=utc_now,
        recall=recall,
        archive=archive,
        price=model_price(settings.memory_model),
        episodes=_episodes(settings, recall, openai, telemetry),
    )
    return CompactFunction(CompactionJobs(compactor, decode_job, telemetry), telemetry)


def _episodes(
    settings: CompactSettings, recall: RecallStore, openai: OpenAIClient, telemetry: Telemetry
) -> EpisodeKeeper | None:
    """None where no exchange is to be kept."""
    if settings.episode_days == 0:
        return None
    embedder = None
    if settings.embedding_model:
        embedder = OpenAIEmbedder(openai, settings.embedding_model, dimensions=settings.embedding_dimensions)
    return EpisodeKeeper(
        recall, embedder, telemetry, days=settings.episode_days, retention_days=settings.retention_days
    )
