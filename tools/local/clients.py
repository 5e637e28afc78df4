"""AWS clients for the emulator that know nothing of the user's AWS configuration."""

from typing import Any

import boto3
from botocore.config import Config

from tools.local.environment import ACCOUNT_KEYS, REGION


def client(service: str, endpoint: str) -> Any:
    """A boto3 client of the service."""
    session: Any = boto3.session.Session(
        aws_access_key_id=ACCOUNT_KEYS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=ACCOUNT_KEYS["AWS_SECRET_ACCESS_KEY"],
        region_name=REGION,
    )
    config = Config(retries={"mode": "standard", "max_attempts": 3}, proxies={}, read_timeout=150)
    return session.client(service, endpoint_url=endpoint, config=config)
