"""Wires the ingest function."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import boto3
from botocore.config import Config

from whatsapp_agent.clock import utc_now
from whatsapp_agent.ingest import Ingest
from whatsapp_agent.ports.provider import Webhook
from whatsapp_agent.providers.meta.webhook import MetaWebhook
from whatsapp_agent.providers.rotating import RotatingWebhook
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook
from whatsapp_agent.queues.inbound import SqsTurnQueue
from whatsapp_agent.secrets import CLIENT, JsonSecret
from whatsapp_agent.settings import IngestSettings
from whatsapp_agent.telemetry import PowertoolsTelemetry, Telemetry

# The function has 10 seconds: a call that hangs must leave time for one more try and for the answer.
_SQS = Config(connect_timeout=2, read_timeout=3, retries={"mode": "standard", "total_max_attempts": 2})


@dataclass(frozen=True, slots=True)
class IngestFunction:
    """What the handler needs: the use case, and the telemetry to flush."""

    ingest: Ingest
    telemetry: Telemetry


def build(environment: Mapping[str, str] | None = None) -> IngestFunction:
    """The ingest function from its environment; makes clients, and calls nobody yet.

    Raises:
        ConfigurationError: A variable is missing or wrong; the message names it.
    """
    environment = os.environ if environment is None else environment
    settings = IngestSettings.from_env(environment)
    telemetry = PowertoolsTelemetry("ingest")
    secret = JsonSecret(
        settings.webhook_secret_arn,
        "WEBHOOK_SECRET_ARN",
        client=boto3.client("secretsmanager", config=CLIENT),
    )

    def webhook(secrets: Mapping[str, str]) -> Webhook:
        if settings.provider == "meta":
            return MetaWebhook(secrets.get("webhook_secret", ""), secrets.get("meta_verify_token", ""))
        return WhaspWebhook(secrets.get("webhook_secret", ""), settings.webhook_tolerance_seconds)

    ingest = Ingest(
        webhook=RotatingWebhook(secret, webhook),
        path=f"/webhooks/{settings.provider}",
        queue=SqsTurnQueue(boto3.client("sqs", config=_SQS), settings.inbound_queue_url),
        telemetry=telemetry,
        now=utc_now,
    )
    return IngestFunction(ingest, telemetry)
