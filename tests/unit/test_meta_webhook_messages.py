"""What each type of message of Meta's Cloud API becomes."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.unit.webhook_payloads import NOW, PERSON, PNID, encoded, env, text, typed
from whatsapp_agent.events import InboundMessage, Media
from whatsapp_agent.ports.provider import Delivery
from whatsapp_agent.providers.meta.webhook import MetaWebhook

BSUID = "US.13491208655302741918"


def parsed(payload: Any) -> Delivery:
    return MetaWebhook("secret", "token").parse(encoded(payload), NOW)


def only(*messages: Any, **fields: Any) -> InboundMessage:
    (event,) = parsed(env(*messages, **fields)).events
    assert isinstance(event, InboundMessage)
    return event


def test_a_text_carries_everything_that_the_provider_said() -> None:
    message = {**text(1, "hi"), "context": {"from": "15550783881", "id": "wamid.0", "forwarded": True}}
    assert only(message) == InboundMessage(
        event_id="wamid.1",
        person="+15550001111",
        address=PERSON,
        number=PNID,
        message_id="wamid.1",
        kind="text",
        text="hi",
        sent_at=datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC),
        received_at=NOW,
        reply_to="wamid.0",
        contact_name="Maya",
        label="15550783881",
    )


@pytest.mark.parametrize("kind", ["image", "video", "document", "sticker", "audio"])
@pytest.mark.parametrize("caption", [None, "", "\u200b", "look"])
def test_a_medium_has_a_path_with_and_without_caption(kind: str, caption: str | None) -> None:
    event = only(typed(kind, {"id": "100", "mime_type": "image/jpeg", "caption": caption, "filename": "a.jpg"}))
    assert (event.kind, event.text) == (kind, "look" if caption == "look" else "")
    assert event.media == Media("100", "image/jpeg", 0, "a.jpg")


@pytest.mark.parametrize(("voice", "kind"), [(True, "voice"), (False, "audio"), (None, "audio")])
def test_a_voice_note_is_told_from_other_audio(voice: bool | None, kind: str) -> None:
    assert (
        only(typed("audio", {"id": "100", "mime_type": "audio/ogg; codecs=opus", "voice": voice})).kind == kind
    )


@pytest.mark.parametrize("identifier", ["../../x", "1?fields=owner", "", None, 7.5])
def test_a_hostile_media_id_is_refused(identifier: Any) -> None:
    assert only(typed("image", {"id": identifier, "caption": "look"})).media is None


NFM = {"flow_token": "secret", "city": "Lima", "when": ["Mon", "Tue"], "news": True, "deep": {"a": 1}}


@pytest.mark.parametrize(
    ("message", "kind", "expected"),
    [
        (typed("location", {"latitude": 37.5, "longitude": -122.1}), "location", "Location: (37.5, -122.1)"),
        (
            typed("contacts", [{"name": {"formatted_name": "Z"}, "phones": [{"phone": "+1555"}]}]),
            "contacts",
            "Contacts: Z +1555",
        ),
        (typed("contacts", [{"name": {"first_name": "Ana", "last_name": "B"}}]), "contacts", "Contacts: Ana B"),
        (typed("contacts", None), "contacts", "Contacts:"),
        (
            typed("interactive", {"type": "button_reply", "button_reply": {"id": "b", "title": "Yes"}}),
            "button",
            "Yes",
        ),
        (
            typed(
                "interactive",
                {"type": "list_reply", "list_reply": {"id": "l", "title": "Blue", "description": "d"}},
            ),
            "list",
            "Blue",
        ),
        (
            typed(
                "interactive",
                {
                    "type": "nfm_reply",
                    "nfm_reply": {"name": "flow", "body": "Sent", "response_json": json.dumps(NFM)},
                },
            ),
            "button",
            "Form: city: Lima; when: Mon, Tue; news: yes; deep: a 1",
        ),
        (
            typed("interactive", {"type": "nfm_reply", "nfm_reply": {"body": "Sent", "response_json": "{"}}),
            "button",
            "Form: Sent",
        ),
        (
            typed("interactive", {"type": "something_new"}),
            "unsupported",
            "[unsupported message: something_new]",
        ),
        (typed("button", {"payload": "p", "text": "No"}), "button", "No"),
        (
            typed(
                "order",
                {
                    "text": "gift wrap",
                    "product_items": [
                        {"product_retailer_id": "tea", "quantity": 2, "item_price": 3.5, "currency": "EUR"}
                    ],
                },
            ),
            "text",
            "Order: 2 × tea (3.5 EUR each). gift wrap",
        ),
        (
            typed("unsupported", {"type": "poll"}, errors=[{"code": 131051}]),
            "unsupported",
            "[unsupported message: poll]",
        ),
        (typed("unsupported", None), "unsupported", "[unsupported message]"),
        (typed("unknown", None), "unsupported", "[unsupported message]"),
    ],
)
def test_what_is_no_text_is_put_into_words(message: dict[str, Any], kind: str, expected: str) -> None:
    event = only(message)
    assert (event.kind, event.text) == (kind, expected)


@pytest.mark.parametrize(
    ("message", "kind", "said"),
    [
        (typed("reaction", {"message_id": "wamid.X", "emoji": "👍"}), "reaction", "👍"),
        (typed("reaction", {"message_id": "wamid.X"}), "reaction", ""),
        (
            typed(
                "edit", {"original_message_id": "wamid.X", "message": {"type": "text", "text": {"body": "new"}}}
            ),
            "edited",
            "new",
        ),
        (
            typed(
                "edit",
                {"original_message_id": "wamid.X", "message": {"type": "image", "image": {"caption": "c"}}},
            ),
            "edited",
            "c",
        ),
        (typed("revoke", {"original_message_id": "wamid.X"}), "deleted", ""),
    ],
)
def test_a_message_about_another_names_it(message: dict[str, Any], kind: str, said: str) -> None:
    event = only(message)
    assert (event.kind, event.text, event.target_id) == (kind, said, "wamid.X")


@pytest.mark.parametrize("kind", ["edit", "revoke", "reaction"])
@pytest.mark.parametrize("part", [None, {}, [], {"message": None, "original_message_id": 5.5}])
def test_a_message_about_nothing_known_is_no_error(kind: str, part: Any) -> None:
    assert only(typed(kind, part)).target_id == ""


@pytest.mark.parametrize("body", ["", " ", "\u200b", "\u200f\u200e", None])
def test_a_text_of_which_nothing_can_be_seen_is_passed_over(body: Any) -> None:
    assert parsed(env(text(1, body))) == Delivery((), {"blank": 1})


def test_opening_the_chat_is_no_message() -> None:
    assert parsed(env(typed("request_welcome", None))) == Delivery((), {"request_welcome": 1})


def test_an_advert_in_front_of_a_message_changes_nothing() -> None:
    message = {**text(1, "hi"), "referral": {"source_url": "https://example.com/" + "x" * 2_048}}
    assert only(message).text == "hi"


def test_a_message_without_id_has_the_same_event_id_on_every_retry() -> None:
    message = text(1, "hi")
    del message["id"]
    event = only(message)
    assert event.event_id == only(message).event_id
    assert event.event_id.startswith("sha256:")
    assert event.message_id == ""


class TestPeople:
    def contact(self, **fields: Any) -> list[dict[str, Any]]:
        return [{"profile": {"name": "T", "username": "t"}, **fields}]

    def test_a_person_without_phone_is_known_by_their_user_id(self) -> None:
        message = {**text(1, "hi"), "from_user_id": BSUID}
        del message["from"]
        event = only(message, contacts=self.contact(user_id=BSUID))
        assert (event.person, event.address, event.alias, event.contact_name) == (BSUID, BSUID, "", "T")

    def test_the_contact_names_the_person_where_the_message_does_not(self) -> None:
        message = text(1, "hi")
        del message["from"]
        event = only(message, contacts=self.contact(user_id=BSUID))
        assert event.person == BSUID

    def test_nobodys_message_is_not_given_to_one_of_several_contacts(self) -> None:
        message = text(1, "hi")
        del message["from"]
        contacts = self.contact(user_id=BSUID) + self.contact(wa_id=PERSON)
        assert parsed(env(message, contacts=contacts)) == Delivery((), {"bad_address": 1})

    def test_where_both_are_given_the_phone_is_the_key_and_the_user_id_its_alias(self) -> None:
        event = only({**text(1, "hi"), "from_user_id": BSUID})
        assert (event.person, event.address, event.alias) == ("+15550001111", PERSON, BSUID)

    def test_a_user_id_that_looks_like_a_phone_is_not_rewritten(self) -> None:
        message = {**text(1, "hi"), "from": "", "from_user_id": "AR.54911abc"}
        assert only(message, contacts=[]).person == "AR.54911abc"

    def test_each_sender_of_a_batch_has_their_own_name(self) -> None:
        contacts = [
            {"wa_id": PERSON, "profile": {"name": "A"}},
            {"wa_id": "34600111222", "profile": {"name": "B"}},
        ]
        delivery = parsed(env(text(1, "a"), text(2, "b", frm="34600111222"), contacts=contacts))
        assert [event.contact_name for event in delivery.events if isinstance(event, InboundMessage)] == [
            "A",
            "B",
        ]

    @pytest.mark.parametrize(
        ("sender", "person"),
        [
            ("5215550001111", "+525550001111"),
            ("5491155550000", "+541155550000"),
            ("551187654321", "+5511987654321"),
        ],
    )
    def test_the_key_is_folded_and_the_address_is_not(self, sender: str, person: str) -> None:
        event = only(text(1, "hi", frm=sender))
        assert (event.person, event.address) == (person, sender)

    @pytest.mark.parametrize("fields", [{"group_id": "g1"}, {"from": "120363041234567890@g.us"}])
    def test_groups_are_passed_over(self, fields: dict[str, Any]) -> None:
        assert parsed(env({**text(1, "hi"), **fields})) == Delivery((), {"group": 1})
