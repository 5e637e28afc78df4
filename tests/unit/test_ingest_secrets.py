"""Secrets that change while the process runs, and requests that try to make it read them all the time."""

import json
from collections.abc import Mapping
from typing import Any

import botocore.session
import pytest
from botocore.stub import Stubber

from tests.unit.webhook_payloads import NOW, encoded, signed_whasp, whasp_event
from tools.local.sign_event import WHASP_SECRET
from whatsapp_agent.errors import ConfigurationError, InvalidSignature, TransientError
from whatsapp_agent.ports.provider import Webhook
from whatsapp_agent.providers.meta.webhook import MetaWebhook
from whatsapp_agent.providers.rotating import RotatingWebhook
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook
from whatsapp_agent.secrets import REFRESH_SECONDS, JsonSecret

ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:webhook-AbCdEf"
NEW = "whsec_bmV3LXNlY3JldA=="
BODY = encoded(whasp_event())


class Clock:
    seconds = 1_000.0

    def __call__(self) -> float:
        return self.seconds


class Vault:
    """A Secrets Manager client that answers from a script and fails when asked once too often."""

    def __init__(self) -> None:
        session = botocore.session.get_session()
        self.client = session.create_client(
            "secretsmanager", region_name="eu-west-1", aws_access_key_id="x", aws_secret_access_key="x"
        )
        self._stubber = Stubber(self.client)
        self._stubber.activate()
        self.clock = Clock()

    def holds(self, value: Any) -> "Vault":
        text = value if isinstance(value, str) else json.dumps(value)
        self._stubber.add_response("get_secret_value", {"SecretString": text}, {"SecretId": ARN})
        return self

    def refuses(self, code: str) -> "Vault":
        self._stubber.add_client_error("get_secret_value", code, f"{ARN} quoted by the service")
        return self

    def secret(self) -> JsonSecret:
        return JsonSecret(ARN, "WEBHOOK_SECRET_ARN", client=self.client, monotonic=self.clock)

    def webhook(self) -> RotatingWebhook:
        return RotatingWebhook(self.secret(), _whasp)

    def used_up(self) -> None:
        self._stubber.assert_no_pending_responses()


def _whasp(secrets: Mapping[str, str]) -> Webhook:
    return WhaspWebhook(secrets.get("webhook_secret", ""))


def test_a_secret_is_read_once_for_many_requests() -> None:
    vault = Vault().holds({"webhook_secret": WHASP_SECRET})
    webhook = vault.webhook()
    for _ in range(3):
        webhook.verify(signed_whasp(BODY), BODY, NOW)
    vault.used_up()


def test_a_secret_that_was_just_changed_is_taken() -> None:
    vault = Vault().holds({"webhook_secret": WHASP_SECRET}).holds({"webhook_secret": NEW})
    webhook = vault.webhook()
    webhook.verify(signed_whasp(BODY), BODY, NOW)
    webhook.verify(signed_whasp(BODY, NEW), BODY, NOW)
    webhook.verify(signed_whasp(BODY, NEW), BODY, NOW)
    vault.used_up()


def test_forged_requests_cause_one_read_a_minute() -> None:
    vault = Vault()
    for _ in range(3):
        vault.holds({"webhook_secret": WHASP_SECRET})
    webhook = vault.webhook()
    for _ in range(20):
        with pytest.raises(InvalidSignature):
            webhook.verify(signed_whasp(BODY, NEW), BODY, NOW)
    vault.clock.seconds += REFRESH_SECONDS
    for _ in range(20):
        with pytest.raises(InvalidSignature):
            webhook.verify(signed_whasp(BODY, NEW), BODY, NOW)
    vault.used_up()


def test_a_handshake_sees_a_token_that_was_just_changed() -> None:
    vault = Vault().holds({"meta_verify_token": "old"}).holds({"meta_verify_token": "new"})
    webhook = RotatingWebhook(vault.secret(), lambda secrets: MetaWebhook("", secrets["meta_verify_token"]))
    query = {"hub.mode": "subscribe", "hub.verify_token": "new", "hub.challenge": "1158"}
    assert webhook.handshake(query) == "1158"


def test_parsing_needs_no_secret() -> None:
    vault = Vault()
    assert len(vault.webhook().parse(BODY, NOW).events) == 1


@pytest.mark.parametrize("value", ["no json", "[]", '"text"', "null"])
def test_a_secret_that_is_no_json_object_is_named_and_not_shown(value: str) -> None:
    with pytest.raises(ConfigurationError, match="WEBHOOK_SECRET_ARN") as caught:
        Vault().holds(value).secret().read()
    assert value not in str(caught.value)
    assert caught.value.__cause__ is None


def test_what_is_no_text_in_a_secret_is_left_out() -> None:
    assert Vault().holds({"webhook_secret": None, "meta_verify_token": "t"}).secret().read() == {
        "meta_verify_token": "t"
    }


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException", "DecryptionFailure"])
def test_a_secret_that_may_not_be_read_is_a_mistake_of_the_configuration(code: str) -> None:
    with pytest.raises(ConfigurationError, match=code):
        Vault().refuses(code).secret().read()


@pytest.mark.parametrize("code", ["ThrottlingException", "InternalServiceError", "ServiceUnavailableException"])
def test_a_secret_that_cannot_be_read_now_is_tried_again_later(code: str) -> None:
    with pytest.raises(TransientError) as caught:
        Vault().refuses(code).secret().read()
    assert ARN not in str(caught.value)
