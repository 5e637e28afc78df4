"""Answers what a function asks of AWS before its first event: its secrets."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from tools.bench.loopback import json_server

SECRET = json.dumps(
    {"hash_key": "k", "openai_api_key": "none", "provider_api_key": "none", "webhook_secret": "none"}
)


@contextmanager
def aws_stub() -> Iterator[str]:
    """Serves one secret, whichever is asked for; yields the URL."""
    secret = {"ARN": "arn:none", "Name": "none", "SecretString": SECRET}
    with json_server(lambda _: (200, secret), "application/x-amz-json-1.1") as url:
        yield url
