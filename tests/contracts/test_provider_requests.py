"""What the real senders put into a request, and how they hold a connection."""

import socket

import pytest

from tests.builders import NUMBER, PERSON
from tests.contracts.senders import KEY, part, refusal
from whatsapp_agent.errors import (
    ConfigurationError,
    ProviderUnavailable,
)
from whatsapp_agent.providers.http import JsonApi
from whatsapp_agent.providers.meta.api import GRAPH_VERSION, MetaProvider
from whatsapp_agent.providers.whasp.api import WhaspProvider

PHONE_NUMBER_ID = "106540352242922"
USER_ID = "US.13491208655302741918"


def test_a_request_to_whasp_has_the_form_of_the_contract(whasp, server):
    server.then = (202, {}, b'{"id": "msg_1", "status": "queued"}')
    assert whasp.send(part(reply_to="msg_0")) == "msg_1"
    whasp.typing(NUMBER, PERSON, "msg_0")
    message, typing = server.asked
    assert (message.method, message.path) == ("POST", "/v1/messages")
    assert message.headers["authorization"] == f"Bearer {KEY}"
    assert message.headers["idempotency-key"] == "evt_1/0"
    assert message.headers["content-type"] == "application/json"
    assert message.json() == {"number": NUMBER, "chat": PERSON, "text": "hello", "reply_to": "msg_0"}
    assert (typing.path, typing.json()) == ("/v1/chats/%2B34600111222/typing", {"number": NUMBER})


def test_an_address_cannot_lead_to_another_path(whasp, meta, server):
    whasp.typing(NUMBER, "../../v1/messages?x=#", "")
    meta.typing("../me?fields=id#", PERSON, "wamid.1")
    assert [asked.path for asked in server.asked] == [
        "/v1/chats/..%2F..%2Fv1%2Fmessages%3Fx%3D%23/typing",
        f"/{GRAPH_VERSION}/..%2Fme%3Ffields%3Did%23/messages",
    ]


@pytest.mark.parametrize("key", ["", "evt with spaces", "evt\r\nX-Evil: 1", "évènement", "x" * 256])
def test_a_key_that_cannot_stand_in_a_header_is_hashed(whasp, server, key):
    server.then = (202, {}, b'{"id": "msg_1"}')
    whasp.send(part(idempotency_key=key))
    whasp.send(part(idempotency_key=key))
    keys = {asked.headers["idempotency-key"] for asked in server.asked}
    assert len(keys) == 1
    assert len(keys.pop()) == 64
    assert "x-evil" not in server.asked[0].headers


def test_a_request_to_meta_has_the_documented_form(meta, server):
    server.then = (200, {}, b'{"messages": [{"id": "wamid.OUT1"}]}')
    message = part(number=PHONE_NUMBER_ID, address="34600111222", reply_to="wamid.IN1")
    assert meta.send(message) == "wamid.OUT1"
    [asked] = server.asked
    assert asked.path == f"/{GRAPH_VERSION}/{PHONE_NUMBER_ID}/messages"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.json() == {
        "messaging_product": "whatsapp",
        "recipient_type": "individual",
        "to": "34600111222",
        "type": "text",
        "text": {"body": "hello"},
        "context": {"message_id": "wamid.IN1"},
    }


@pytest.mark.parametrize("user_id", [USER_ID, "US.ENT.11815799212886844830", "AR.54911abc"])
def test_a_person_without_a_phone_is_addressed_in_the_recipient_field(meta, server, user_id):
    server.then = (200, {}, b'{"messages": [{"id": "wamid.OUT1"}]}')
    meta.send(part(number=PHONE_NUMBER_ID, address=user_id))
    body = server.asked[0].json()
    assert body["recipient"] == user_id
    assert "to" not in body


def test_read_mark_and_typing_are_one_call_at_meta(meta, server):
    meta.typing(PHONE_NUMBER_ID, PERSON, "wamid.IN1")
    assert [asked.json() for asked in server.asked] == [
        {
            "messaging_product": "whatsapp",
            "status": "read",
            "message_id": "wamid.IN1",
            "typing_indicator": {"type": "text"},
        }
    ]


def test_without_a_message_to_mark_meta_is_not_asked(meta, server):
    meta.typing(PHONE_NUMBER_ID, PERSON, "")
    assert server.asked == []


@pytest.mark.parametrize(
    ("configured", "path"),
    [
        ("", f"/{GRAPH_VERSION}/7/messages"),
        ("/", f"/{GRAPH_VERSION}/7/messages"),
        ("/v25.0", "/v25.0/7/messages"),
        ("/v25.0/", "/v25.0/7/messages"),
    ],
)
def test_the_graph_version_can_be_configured(server, pool, configured, path):
    MetaProvider(server.url + configured, KEY, pool=pool).typing("7", PERSON, "wamid.1")
    assert [asked.path for asked in server.asked] == [path]


def test_a_provider_that_cannot_be_reached_is_worth_another_try(pool):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        for provider in (WhaspProvider(url, KEY, pool=pool), MetaProvider(url, KEY, pool=pool)):
            error = refusal(provider)
            assert type(error) is ProviderUnavailable
            assert PERSON not in f"{error!r} {error.__cause__!r}"
            provider.typing(NUMBER, PERSON, "msg_1")


def test_a_provider_that_does_not_answer_in_time_is_worth_another_try(pool):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        provider = WhaspProvider(url, KEY, pool=pool, seconds=0.1, typing_seconds=0.1)
        assert type(refusal(provider)) is ProviderUnavailable
        provider.typing(NUMBER, PERSON, "msg_1")


def test_an_answer_that_trickles_in_does_not_outlive_the_budget(server, pool):
    server.then = (202, {}, [b" "] * 1_000)
    server.pause_seconds = 0.05
    provider = WhaspProvider(server.url, KEY, pool=pool, seconds=0.3)
    assert type(refusal(provider)) is ProviderUnavailable


def test_an_endless_answer_is_not_read_to_its_end(whasp, server):
    server.then = (503, {}, b"x" * 5_000_000)
    assert type(refusal(whasp)) is ProviderUnavailable


def test_a_connection_is_used_again(whasp, server, pool):
    server.then = (202, {}, b'{"id": "msg_1"}')
    for n in range(3):
        whasp.send(part(idempotency_key=f"evt_1/{n}"))
    [connection_pool] = [pool.pools[key] for key in pool.pools.keys()]  # noqa: SIM118
    assert (connection_pool.num_connections, connection_pool.num_requests) == (1, 3)


@pytest.mark.parametrize(
    "url", ["", "whasp.example", "ftp://whasp.example", "https://", "https://a.example/?k=v"]
)
def test_a_url_that_is_none_is_a_configuration_error_that_does_not_repeat_it(url):
    with pytest.raises(ConfigurationError) as raised:
        JsonApi(url, KEY)
    assert "a.example" not in str(raised.value)


@pytest.mark.parametrize("key", ["", "  ", "two words", "line\nbreak", "schlüssel"])
def test_a_key_that_is_none_is_a_configuration_error_that_does_not_repeat_it(key):
    with pytest.raises(ConfigurationError) as raised:
        WhaspProvider("https://whasp.example", key)
    assert not key.strip() or key not in str(raised.value)


def test_a_text_with_half_a_character_is_sent_all_the_same(whasp, server):
    server.then = (202, {}, b'{"id": "msg_1"}')
    whasp.send(part(text="cut \ud83d"))
    assert server.asked[0].json()["text"] == "cut \ud83d"
