"""A key that is changed in Secrets Manager is used without a deployment: by the model and by providers."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import boto3
import pytest
from moto import mock_aws

from tests.builders import NUMBER, PERSON
from tests.contracts.scripted_http import Scripted, scripted_server
from tests.contracts.simulation import connections
from whatsapp_agent.errors import ConfigurationError, ModelRefused, SendRejected, TransientError
from whatsapp_agent.events import OutboundMessage
from whatsapp_agent.memory.exchange import Prompt, PromptItem
from whatsapp_agent.model.responses import OpenAIModel
from whatsapp_agent.providers.meta.api import MetaProvider
from whatsapp_agent.providers.whasp.api import WhaspProvider
from whatsapp_agent.secrets import REFRESH_SECONDS, JsonSecret, RotatingKey

ANSWER = {
    "id": "resp_1",
    "status": "completed",
    "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
REFUSED = (401, {"Content-Type": "application/json"}, b'{"error": {"code": "invalid_api_key"}}')
PROMPT = Prompt("You are Max.", (PromptItem("user", "new", "hi"),))
PART = OutboundMessage(NUMBER, PERSON, "hello", "evt_1-0")


@dataclass
class Secret:
    """A secret of Secrets Manager; `reads` counts how often it was fetched."""

    client: Any
    arn: str
    seconds: float = 0.0
    reads: int = 0

    def store(self, **texts: str) -> None:
        self.client.put_secret_value(SecretId=self.arn, SecretString=json.dumps(texts))

    def reader(self) -> JsonSecret:
        return JsonSecret(self.arn, "SERVICE_SECRET_ARN", client=self.client, monotonic=lambda: self.seconds)


@pytest.fixture
def secret() -> Iterator[Secret]:
    with mock_aws():
        client = boto3.client(
            "secretsmanager", region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x"
        )
        made = Secret(client, client.create_secret(Name="service", SecretString="{}")["ARN"])

        def count(**_: object) -> None:
            made.reads += 1

        client.meta.events.register("before-call.secrets-manager.GetSecretValue", count)
        made.store(key="old")
        yield made


@pytest.fixture
def service() -> Iterator[Scripted]:
    with scripted_server() as server:
        server.then = (200, {"Content-Type": "application/json"}, json.dumps(ANSWER).encode())
        yield server


def keys_sent(service: Scripted) -> list[str]:
    return [asked.headers["authorization"] for asked in service.asked]


def test_the_model_is_asked_again_with_the_new_key(secret: Secret, service: Scripted) -> None:
    model = OpenAIModel(RotatingKey(secret.reader(), "key"), "gpt-6-luna", base_url=service.url)
    secret.store(key="new")
    service.answers = [REFUSED]
    assert model.reply(PROMPT, seconds=10).text == "hello"
    model.close()
    assert keys_sent(service) == ["Bearer old", "Bearer new"]
    assert service.asked[0].body == service.asked[1].body


def test_a_key_that_stays_wrong_is_a_refusal_after_one_fresh_read(secret: Secret, service: Scripted) -> None:
    model = OpenAIModel(RotatingKey(secret.reader(), "key"), "gpt-6-luna", base_url=service.url)
    service.then = REFUSED
    for _ in range(3):
        with pytest.raises(ModelRefused):
            model.reply(PROMPT, seconds=10)
    model.close()
    assert keys_sent(service) == ["Bearer old"] * 3
    assert secret.reads == 2, "one at the start and one forced: refusals must not hammer Secrets Manager"


@pytest.mark.parametrize("provider", [WhaspProvider, MetaProvider])
def test_a_provider_is_asked_again_with_the_new_key(secret: Secret, service: Scripted, provider: Any) -> None:
    with connections() as pool:
        sender = provider(service.url, RotatingKey(secret.reader(), "key"), pool=pool)
        secret.store(key="new")
        service.answers = [REFUSED]
        service.then = (200, {}, b'{"id": "m1", "messages": [{"id": "m1"}]}')
        assert sender.send(PART) == "m1"
        sender.send(PART)
    assert keys_sent(service) == ["Bearer old", "Bearer new", "Bearer new"]


def test_a_provider_that_refuses_every_key_says_so(secret: Secret, service: Scripted) -> None:
    service.then = REFUSED
    with connections() as pool, pytest.raises(SendRejected) as refused:
        WhaspProvider(service.url, RotatingKey(secret.reader(), "key"), pool=pool).send(PART)
    assert refused.value.code == "unauthorized"


def test_a_second_key_of_the_same_secret_profits_from_the_first_ones_read(secret: Secret) -> None:
    reader = secret.reader()
    first, second = RotatingKey(reader, "key"), RotatingKey(reader, "other")
    secret.store(key="old", other="old")
    assert reader.refresh() is not None
    secret.store(key="new", other="new")
    assert (first.current(), second.current()) == ("old", "old")
    assert first.renewed("old") == "", "read less than a minute ago"
    secret.seconds += REFRESH_SECONDS
    assert first.renewed("old") == "new"
    assert second.renewed("old") == "new"


def test_while_secrets_manager_is_away_the_last_key_is_used(
    secret: Secret, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = secret.reader()
    key = RotatingKey(reader, "key")
    assert key.current() == "old"

    def away() -> None:
        raise TransientError("Secrets Manager is away")

    monkeypatch.setattr(reader, "read", away)
    monkeypatch.setattr(reader, "refresh", away)
    assert key.current() == "old"
    assert key.renewed("old") == ""
    with pytest.raises(TransientError):
        RotatingKey(reader, "key").current()


@pytest.mark.parametrize("text", ["", "two words", "kéy", "line\nbreak"])
def test_a_key_that_no_header_can_carry_is_a_matter_of_configuration(secret: Secret, text: str) -> None:
    secret.store(key=text)
    with pytest.raises(ConfigurationError):
        OpenAIModel(RotatingKey(secret.reader(), "key"), "gpt-6-luna")
    with pytest.raises(ConfigurationError):
        WhaspProvider("https://api.whasp.example", RotatingKey(secret.reader(), "key"))
