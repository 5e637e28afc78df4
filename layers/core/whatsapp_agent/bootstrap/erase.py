"""Composition root of the erase function."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

import boto3

from whatsapp_agent.clock import utc_now
from whatsapp_agent.erasure import ErasureRequest
from whatsapp_agent.queues.inbound import SqsTurnQueue
from whatsapp_agent.settings import EraseSettings
from whatsapp_agent.telemetry import PowertoolsTelemetry, Telemetry


@dataclass(frozen=True, slots=True)
class EraseFunction:
    """What the handler hands over to."""

    request: ErasureRequest
    telemetry: Telemetry


def build(environment: Mapping[str, str] = os.environ) -> EraseFunction:
    """Wires the erase function.

    Raises:
        ConfigurationError: A variable is missing or wrong; the message names it.
    """
    settings = EraseSettings.from_env(environment)
    queue = SqsTurnQueue(boto3.client("sqs"), settings.inbound_queue_url)
    return EraseFunction(ErasureRequest(queue, settings.agent_id, utc_now), PowertoolsTelemetry("erase"))
