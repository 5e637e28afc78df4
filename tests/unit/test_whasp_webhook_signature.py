"""Which requests that claim to come from whasp are believed."""

import base64
from datetime import timedelta

import pytest

from tests.unit.webhook_payloads import NOW, encoded, signed_whasp, whasp_event
from tools.local.sign_event import WHASP_SECRET
from whatsapp_agent.errors import ConfigurationError, InvalidSignature
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook

BODY = encoded(whasp_event())
OTHER = "whsec_" + base64.b64encode(b"another-secret").decode()


def test_a_signed_request_is_believed() -> None:
    WhaspWebhook(WHASP_SECRET).verify(signed_whasp(BODY), BODY, NOW)


@pytest.mark.parametrize("missing", ["webhook-id", "webhook-timestamp", "webhook-signature"])
def test_a_request_without_one_of_the_headers_is_refused(missing: str) -> None:
    headers = signed_whasp(BODY)
    del headers[missing]
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET).verify(headers, BODY, NOW)


def test_a_changed_body_is_refused() -> None:
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET).verify(signed_whasp(BODY), BODY + b" ", NOW)


@pytest.mark.parametrize("header", ["webhook-id", "webhook-timestamp"])
def test_a_changed_id_or_time_is_refused(header: str) -> None:
    headers = {**signed_whasp(BODY), header: "1795946401"}
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET, 0).verify(headers, BODY, NOW)


def test_the_signature_covers_the_bytes_as_they_came() -> None:
    body = rb'{"t":"caf\u00e9 \/ \ud83d\ude00"}'
    WhaspWebhook(WHASP_SECRET).verify(signed_whasp(body), body, NOW)


def test_one_of_several_signatures_is_enough() -> None:
    headers = signed_whasp(BODY)
    headers["webhook-signature"] = f"v1a,xyz v1,AAAA {headers['webhook-signature']} v2,zzz"
    WhaspWebhook(WHASP_SECRET).verify(headers, BODY, NOW)


def test_a_signature_of_another_version_does_not_count() -> None:
    headers = signed_whasp(BODY)
    headers["webhook-signature"] = headers["webhook-signature"].replace("v1,", "v2,")
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET).verify(headers, BODY, NOW)


@pytest.mark.parametrize("signature", ["", "v1", "v1,", "v1,é", "\udcff", "v1,\udcff", ",,,"])
def test_a_senseless_signature_is_refused(signature: str) -> None:
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET).verify({**signed_whasp(BODY), "webhook-signature": signature}, BODY, NOW)


@pytest.mark.parametrize("secret", [WHASP_SECRET, OTHER])
def test_two_secrets_are_valid_at_once(secret: str) -> None:
    WhaspWebhook(f"{OTHER}\n {WHASP_SECRET}").verify(signed_whasp(BODY, secret), BODY, NOW)


def test_a_secret_without_prefix_is_taken_as_it_is() -> None:
    WhaspWebhook("plain-secret").verify(signed_whasp(BODY, "plain-secret"), BODY, NOW)


def test_another_secret_is_refused() -> None:
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET).verify(signed_whasp(BODY, OTHER), BODY, NOW)


@pytest.mark.parametrize("secrets", ["", " \n", "whsec_", "whsec_***", f"{WHASP_SECRET} whsec_é"])
def test_no_usable_secret_means_that_nothing_is_believed(secrets: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        WhaspWebhook(secrets).verify(signed_whasp(BODY, "whsec_"), BODY, NOW)
    assert "***" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("seconds", [-301, 301, -86_400])
def test_a_time_outside_the_tolerance_is_refused(seconds: int) -> None:
    headers = signed_whasp(BODY, at=NOW + timedelta(seconds=seconds))
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET, 300).verify(headers, BODY, NOW)


@pytest.mark.parametrize("seconds", [-300, 0, 300])
def test_a_time_within_the_tolerance_is_taken(seconds: int) -> None:
    WhaspWebhook(WHASP_SECRET, 300).verify(signed_whasp(BODY, at=NOW + timedelta(seconds=seconds)), BODY, NOW)


def test_a_tolerance_of_zero_takes_any_time() -> None:
    WhaspWebhook(WHASP_SECRET, 0).verify(signed_whasp(BODY, at=NOW - timedelta(days=900)), BODY, NOW)


def test_header_names_are_settings() -> None:
    webhook = WhaspWebhook(
        WHASP_SECRET, id_header="X-Id", timestamp_header="X-Time", signature_header="X-Signature"
    )
    mine = signed_whasp(BODY)
    headers = {
        "x-id": mine["webhook-id"],
        "x-time": mine["webhook-timestamp"],
        "x-signature": mine["webhook-signature"],
    }
    webhook.verify(headers, BODY, NOW)


def test_there_is_no_handshake() -> None:
    with pytest.raises(InvalidSignature):
        WhaspWebhook(WHASP_SECRET).handshake({"hub.mode": "subscribe", "hub.verify_token": ""})
