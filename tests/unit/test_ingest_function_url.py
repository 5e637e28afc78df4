"""From Lambda's HTTP events to requests: bodies byte for byte, headers in any spelling."""

import base64
from typing import Any

import pytest

from tests.unit.webhook_payloads import NOW, encoded, env, signed_meta, text
from tools.local.sign_event import META_SECRET, function_url_event
from whatsapp_agent.errors import InvalidSignature
from whatsapp_agent.function_url import request_of, response_of
from whatsapp_agent.ingest import HttpResponse
from whatsapp_agent.providers.meta.webhook import MetaWebhook

BODY = encoded(env(text(1, "hi")))
SIGNATURE = signed_meta(BODY)["x-hub-signature-256"]


def verified(event: dict[str, Any]) -> None:
    request = request_of(event)
    MetaWebhook(META_SECRET, "").verify(request.headers, request.body, NOW)


@pytest.mark.parametrize("name", ["X-Hub-Signature-256", "x-hub-signature-256", "X-HUB-SIGNATURE-256"])
def test_a_header_is_found_in_every_spelling(name: str) -> None:
    verified(function_url_event("POST", "/webhooks/meta", body=BODY, headers={name: SIGNATURE}))


@pytest.mark.parametrize("headers", [None, {}])
def test_a_header_is_found_where_a_rest_api_has_it_only_as_a_list(headers: Any) -> None:
    event = {
        "httpMethod": "POST",
        "path": "/webhooks/meta",
        "headers": headers,
        "multiValueHeaders": {"X-Hub-Signature-256": [SIGNATURE]},
        "body": BODY.decode(),
    }
    assert (request_of(event).method, request_of(event).path) == ("POST", "/webhooks/meta")
    verified(event)


def test_a_base64_body_is_decoded_before_it_is_checked() -> None:
    event = function_url_event("POST", "/webhooks/meta", headers={"x-hub-signature-256": SIGNATURE})
    verified({**event, "body": base64.b64encode(BODY).decode(), "isBase64Encoded": True})


def test_a_body_is_not_changed_on_the_way() -> None:
    body = rb'{"t":"caf\u00e9 \/ \ud83d\ude00","u":"caf' + "é\r\n".encode() + b'"}'
    event = function_url_event("POST", "/webhooks/meta", body=body)
    assert request_of(event).body == body


@pytest.mark.parametrize("body", ["%%%", "é", "a", None, 5])
def test_a_body_that_is_no_base64_is_nobodys(body: Any) -> None:
    event = function_url_event("POST", "/webhooks/meta", headers={"x-hub-signature-256": SIGNATURE})
    with pytest.raises(InvalidSignature):
        verified({**event, "body": body, "isBase64Encoded": True})


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"headers": None, "requestContext": None},
        {"headers": [], "queryStringParameters": "x", "requestContext": 5},
    ],
)
def test_an_event_with_holes_is_a_request_for_nothing(event: dict[str, Any]) -> None:
    request = request_of(event)
    assert (request.method, request.path, request.body) == ("", "/", b"")


def test_a_query_reaches_the_handshake() -> None:
    query = {"hub.mode": "subscribe", "hub.verify_token": "t ä", "hub.challenge": "1158"}
    assert request_of(function_url_event("GET", "/webhooks/meta", query=query)).query == query


def test_an_answer_is_plain_text() -> None:
    response = response_of(HttpResponse(405, "1158", {"Allow": "GET"}))
    assert (response["statusCode"], response["body"], response["isBase64Encoded"]) == (405, "1158", False)
    assert response["headers"]["Content-Type"].startswith("text/plain")
    assert response["headers"]["Allow"] == "GET"
