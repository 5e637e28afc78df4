"""What the service's failures become. What comes over real HTTP is in tests/contracts/test_model_openai.py."""

from datetime import UTC, datetime

import httpx2
import openai
import pytest

from whatsapp_agent.errors import ContextTooLong, ModelRefused, ModelUnavailable
from whatsapp_agent.model.errors import MAX_RETRY_AFTER, from_code, retry_after, translate

NOW = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)


def status_error(status, code="", kind="", headers=None) -> openai.APIStatusError:
    request = httpx2.Request("POST", "http://service.test/v1/responses")
    response = httpx2.Response(status, request=request, headers=headers or {})
    return openai.APIStatusError("sk-secret was told", response=response, body={"code": code, "type": kind})


@pytest.mark.parametrize(
    ("status", "code", "kind", "error", "name"),
    [
        (400, "context_length_exceeded", "", ContextTooLong, "context_length_exceeded"),
        (400, "string_above_max_length", "", ContextTooLong, "context_length_exceeded"),
        (413, "", "", ContextTooLong, "context_length_exceeded"),
        (429, "insufficient_quota", "", ModelRefused, "insufficient_quota"),
        (429, "", "insufficient_quota", ModelRefused, "insufficient_quota"),
        (402, "", "", ModelRefused, "insufficient_quota"),
        (401, "invalid_api_key", "", ModelRefused, "unauthorized"),
        (403, "", "", ModelRefused, "unauthorized"),
        (404, "", "", ModelRefused, "model_not_found"),
        (400, "model_not_found", "", ModelRefused, "model_not_found"),
        (400, "invalid_prompt", "", ModelRefused, "invalid_prompt"),
        (400, "unknown_parameter", "", ModelRefused, "invalid_request"),
        (422, "", "", ModelRefused, "invalid_request"),
    ],
)
def test_what_trying_again_cannot_help_is_permanent_and_has_a_code(status, code, kind, error, name):
    translation = translate(status_error(status, code, kind))
    assert (type(translation), translation.code) == (error, name)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504, 529])
def test_what_passes_is_tried_again_later(status):
    assert isinstance(translate(status_error(status)), ModelUnavailable)


def test_the_wait_that_the_service_asks_for_is_carried_over():
    assert translate(status_error(429, headers={"retry-after": "12"})).retry_after == 12


def test_the_request_id_is_kept_for_the_operator_and_the_services_words_are_not():
    said = str(translate(status_error(500, headers={"x-request-id": "req_123"})))
    assert "req_123" in said
    assert "sk-secret" not in said


def test_an_id_or_a_code_of_another_form_is_not_repeated():
    error = status_error(400, code="said: my card is 4111", headers={"x-request-id": "my card 4111"})
    assert "4111" not in str(translate(error))


def test_an_error_that_is_not_the_services_is_not_translated():
    assert translate(KeyError("x")) is None
    assert translate(openai.OpenAIError("x")) is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 29 Nov 2026 10:00:30 GMT"}, 30),
        ({"retry-after": "Sun, 29 Nov 2026 09:00:00 GMT"}, 0),
        ({"retry-after": "-5"}, 0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, MAX_RETRY_AFTER),
        ({"retry-after": "99999999999"}, MAX_RETRY_AFTER),
        ({"retry-after-ms": "x", "retry-after": "2"}, 2),
    ],
)
def test_the_wait_is_read_in_every_form_and_bounded(headers, seconds):
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize("code", [None, 7, "", "server_error", "new_kind_of_failure", "a b\nc"])
def test_a_response_that_failed_for_no_known_lasting_cause_is_tried_again(code):
    assert isinstance(from_code(code), ModelUnavailable)
