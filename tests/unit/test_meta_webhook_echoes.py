"""What the owner of a number writes by hand, as Meta reports it."""

from typing import Any

import pytest

from tests.unit.webhook_payloads import NOW, PERSON, PNID, change, encoded, envelope, value_of
from tools.local.sign_event import META_SECRET
from whatsapp_agent.events import OwnerMessage, decode, encode
from whatsapp_agent.ports.provider import Delivery
from whatsapp_agent.providers.meta.webhook import MetaWebhook

BUSINESS = "15550783881"


def echo(kind: str = "text", content: Any = None, **fields: Any) -> dict[str, Any]:
    return {
        "from": BUSINESS,
        "to": PERSON,
        "id": "wamid.echo",
        "timestamp": "1700000000",
        "type": kind,
        kind: {"body": "I take over"} if content is None else content,
        **fields,
    }


def parsed(*echoes: Any) -> Delivery:
    payload = envelope(change(value_of(message_echoes=list(echoes)), "smb_message_echoes"))
    return MetaWebhook(META_SECRET, "").parse(encoded(payload), NOW)


def test_an_echo_is_the_owners_message_to_the_person_it_went_to() -> None:
    (event,) = parsed(echo()).events
    assert isinstance(event, OwnerMessage)
    assert (event.person, event.address, event.number) == (f"+{PERSON}", PERSON, PNID)
    assert (event.kind, event.text, event.message_id) == ("text", "I take over", "wamid.echo")
    assert event.label == BUSINESS
    assert decode(encode(event)) == event


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("image", {"id": "1", "caption": "our shop"}, ("image", "our shop")),
        ("location", {"latitude": 1.5, "longitude": 2.5}, ("location", "Location: (1.5, 2.5)")),
        ("audio", {"id": "1", "voice": True}, ("voice", "")),
        ("sticker", {}, ("sticker", "")),
    ],
)
def test_other_types_are_the_owners_too(kind: str, content: Any, expected: tuple[str, str]) -> None:
    (event,) = parsed(echo(kind, content)).events
    assert isinstance(event, OwnerMessage)
    assert (event.kind, event.text) == expected


def test_a_revoked_and_an_edited_echo_name_what_they_are_about() -> None:
    edit = {"original_message_id": "wamid.1", "message": {"type": "text", "text": {"body": "new"}}}
    delivery = parsed(echo("revoke", {"original_message_id": "wamid.1"}), echo("edit", edit))
    assert [(e.kind, e.text, e.target_id) for e in delivery.events if isinstance(e, OwnerMessage)] == [
        ("deleted", "", "wamid.1"),
        ("edited", "new", "wamid.1"),
    ]


def test_a_person_without_a_phone_is_known_by_their_user_id() -> None:
    (event,) = parsed(echo(to=None, to_user_id="US.13491208655302741918")).events
    assert isinstance(event, OwnerMessage)
    assert event.person == event.address == "US.13491208655302741918"


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        (echo(to="123@g.us"), "group"),
        (echo(group_id="5"), "group"),
        (echo(to=None), "bad_address"),
        (echo(to=[]), "bad_address"),
        (echo(content={"body": " \u200b"}), "blank"),
        (echo("system", {}), "system"),
        (None, "malformed"),
        ("x", "malformed"),
    ],
)
def test_what_is_no_message_to_a_person_is_counted(wrong: Any, name: str) -> None:
    assert parsed(wrong) == Delivery((), {name: 1})
