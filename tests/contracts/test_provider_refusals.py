"""How the real senders read every kind of answer."""

from datetime import timedelta
from email.utils import format_datetime

import pytest

from tests.builders import NOW, NUMBER, PERSON
from tests.contracts.senders import part, refusal
from whatsapp_agent.errors import (
    NumberRetired,
    ProviderUnavailable,
    RecipientOptedOut,
    SendRejected,
    WindowClosed,
)


def whasp_error(code: str, **more: str) -> bytes:
    fields = "".join(f', "{name}": "{value}"' for name, value in more.items())
    return f'{{"error": {{"code": "{code}", "message": "to {PERSON}: hello"{fields}}}}}'.encode()


def graph_error(code: object, more: str = "") -> bytes:
    return f'{{"error": {{"message": "to {PERSON}: hello", "code": {code}{more}}}}}'.encode()


@pytest.mark.parametrize(
    ("status", "body", "kind", "code"),
    [
        (400, whasp_error("bad_request"), SendRejected, "bad_request"),
        (401, whasp_error("anything"), SendRejected, "unauthorized"),
        (403, whasp_error("opted_out"), RecipientOptedOut, "opted_out"),
        (403, whasp_error("not_yours"), SendRejected, "not_yours"),
        (404, b"<html>", SendRejected, "http_404"),
        (409, whasp_error("busy"), SendRejected, "busy"),
        (409, whasp_error("number_retired"), NumberRetired, "number_retired"),
        (413, whasp_error("text_too_long"), SendRejected, "text_too_long"),
        (422, whasp_error("invalid_chat"), SendRejected, "invalid_chat"),
        (422, whasp_error("Chat +34600111222 is wrong"), SendRejected, "http_422"),
        (422, b'{"error": "text"}', SendRejected, "http_422"),
        (422, b'{"error": {"code": 7}}', SendRejected, "http_422"),
        (400, b"[" * 100_000, SendRejected, "http_400"),
    ],
)
def test_what_whasp_refuses_for_good_is_told_apart(whasp, server, status, body, kind, code):
    server.then = (status, {}, body)
    error = refusal(whasp)
    assert type(error) is kind
    assert error.code == code
    assert PERSON not in str(error)
    assert len(server.asked) == 1


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_what_is_worth_another_try_is_transient_at_both(whasp, meta, server, status):
    server.then = (status, {}, b"busy")
    assert type(refusal(whasp)) is ProviderUnavailable
    assert type(refusal(meta)) is ProviderUnavailable
    # One request each: the queue tries again, not the sender.
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("17", 17.0),
        ("0", 0.0),
        ("-3", 0.0),
        ("86400", 900.0),
        ("inf", 900.0),
        ("nan", None),
        ("soon", None),
        ("", None),
        (format_datetime(NOW + timedelta(seconds=90), usegmt=True), 90.0),
        (format_datetime(NOW - timedelta(seconds=90), usegmt=True), 0.0),
        (format_datetime(NOW + timedelta(days=9), usegmt=True), 900.0),
    ],
)
@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_read_in_both_forms_and_capped(whasp, meta, server, status, header, seconds):
    server.then = (status, {"Retry-After": header}, b"{}")
    assert refusal(whasp).retry_after == seconds
    assert refusal(meta).retry_after == seconds


@pytest.mark.parametrize("where", ["inside", "beside"])
def test_the_successor_of_a_retired_number_is_found_in_either_place(whasp, server, where):
    inside = whasp_error("number_retired", replaced_by="+15550123")
    beside = b'{"error": {"code": "number_retired"}, "replaced_by": "+15550123"}'
    server.answers = [(409, {}, inside if where == "inside" else beside), (202, {}, b'{"id": "msg_1"}')]
    assert whasp.send(part()) == "msg_1"
    assert [asked.json()["number"] for asked in server.asked] == [NUMBER, "+15550123"]
    assert len({asked.headers["idempotency-key"] for asked in server.asked}) == 1


def test_a_number_that_is_its_own_successor_is_not_tried_again(whasp, server):
    server.then = (409, {}, whasp_error("number_retired", replaced_by=NUMBER))
    assert type(refusal(whasp)) is NumberRetired
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    "body", [b"", b"{}", b"not json", b"[]", b'{"id": 7}', b'{"messages": [7]}', b'{"messages": []}']
)
def test_an_accepted_message_whose_answer_cannot_be_read_is_not_sent_again(whasp, meta, server, body):
    server.then = (200, {}, body)
    assert whasp.send(part()) == ""
    assert meta.send(part()) == ""


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(whasp, meta, server, status):
    server.then = (status, {"Location": f"{server.url}/elsewhere"}, b"")
    for provider in (whasp, meta):
        error = refusal(provider)
        assert type(error) is SendRejected
        assert error.code == f"http_{status}"
    assert all("elsewhere" not in asked.path for asked in server.asked)


@pytest.mark.parametrize(
    ("status", "code", "kind"),
    [
        (400, 131047, WindowClosed),
        (400, 131050, RecipientOptedOut),
        (400, 131026, SendRejected),
        (400, 131030, SendRejected),
        (400, 131049, SendRejected),
        (400, 131048, SendRejected),
        (401, 190, SendRejected),
        (401, 0, SendRejected),
        (403, 10, SendRejected),
        (403, 131031, SendRejected),
        (403, 368, SendRejected),
        (400, 100, SendRejected),
        (400, 999999, SendRejected),
        (400, 4, ProviderUnavailable),
        (400, 80007, ProviderUnavailable),
        (400, 130429, ProviderUnavailable),
        (400, 131056, ProviderUnavailable),
        (500, 131000, ProviderUnavailable),
        (500, 131016, ProviderUnavailable),
        (500, 131057, ProviderUnavailable),
        (503, 2, ProviderUnavailable),
        (503, 133004, ProviderUnavailable),
        (500, 424242, ProviderUnavailable),
        (429, 424242, ProviderUnavailable),
    ],
)
def test_metas_code_decides_before_the_http_status(meta, server, status, code, kind):
    server.then = (status, {}, graph_error(code))
    error = refusal(meta)
    assert type(error) is kind
    assert PERSON not in str(error)
    if isinstance(error, SendRejected):
        assert error.code == str(code)
    assert len(server.asked) == 1


def test_metas_own_word_that_an_error_passes_is_believed(meta, server):
    server.then = (400, {}, graph_error(424242, ', "is_transient": true'))
    assert type(refusal(meta)) is ProviderUnavailable


@pytest.mark.parametrize("code", ['"190"', "true", "null", "[]"])
def test_a_code_of_another_form_leaves_the_decision_to_the_status(meta, server, code):
    server.then = (400, {}, graph_error(code))
    error = refusal(meta)
    assert type(error) is SendRejected
    assert error.code == "http_400"


def test_a_recipient_missing_from_the_test_numbers_list_is_a_setup_hint(meta, server):
    server.then = (400, {}, graph_error(131030))
    assert "test number's list" in str(refusal(meta))
