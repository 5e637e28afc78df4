"""What whasp's payloads become."""

from datetime import timedelta
from typing import Any

import pytest

from tests.unit.webhook_payloads import NOW, encoded, whasp_event
from tools.local.sign_event import WHASP_SECRET
from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.events import DeliveryStatus, InboundMessage, Media, NumberReplaced
from whatsapp_agent.ports.provider import Delivery
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook


def parsed(payload: Any) -> Delivery:
    return WhaspWebhook(WHASP_SECRET).parse(encoded(payload), NOW)


def only(payload: Any) -> InboundMessage:
    (event,) = parsed(payload).events
    assert isinstance(event, InboundMessage)
    return event


class TestMessages:
    def test_a_text_carries_everything_that_the_provider_said(self) -> None:
        assert only(whasp_event({"reply_to": "msg_0"})) == InboundMessage(
            event_id="evt_1",
            person="+34600111222",
            address="+34600111222",
            number="+15550100",
            message_id="msg_1",
            kind="text",
            text="hello",
            sent_at=NOW - timedelta(seconds=2),
            received_at=NOW,
            reply_to="msg_0",
            contact_name="Maya",
            label="sales",
        )

    @pytest.mark.parametrize("kind", ["voice", "audio", "image", "video", "document", "sticker"])
    @pytest.mark.parametrize("caption", [None, "", "look at this"])
    def test_a_medium_has_a_path_with_and_without_caption(self, kind: str, caption: str | None) -> None:
        media = {"id": "med_1", "mime_type": "audio/ogg; codecs=opus", "size": 812, "filename": "a b.ogg"}
        event = only(whasp_event({"type": kind, "text": None, "media": media, "caption": caption}))
        assert (event.kind, event.text) == (kind, caption or "")
        assert event.media == Media("med_1", "audio/ogg; codecs=opus", 812, "a b.ogg")

    @pytest.mark.parametrize(
        "media",
        [
            None,
            {},
            {"id": "../../x"},
            {"id": "1?fields=owner"},
            {"id": "a/b"},
            {"id": ["x"]},
            "med",
            {"id": ".."},
        ],
    )
    def test_a_hostile_or_missing_media_id_is_no_medium_and_still_a_message(self, media: Any) -> None:
        event = only(whasp_event({"type": "image", "media": media}))
        assert (event.kind, event.media) == ("image", None)

    @pytest.mark.parametrize(
        ("message", "kind", "text"),
        [
            (
                {
                    "type": "location",
                    "latitude": 37.5,
                    "longitude": -122.1,
                    "name": "Café",
                    "address": "Main St 1",
                },
                "location",
                "Location: Café, Main St 1 (37.5, -122.1)",
            ),
            (
                {"type": "location", "latitude": 37.5, "longitude": -122.1},
                "location",
                "Location: (37.5, -122.1)",
            ),
            (
                {"type": "location", "location": {"latitude": "37.5", "longitude": 0}},
                "location",
                "Location: (37.5, 0)",
            ),
            (
                {"type": "location", "latitude": float("nan"), "longitude": 1, "name": "X"},
                "location",
                "Location: X",
            ),
            ({"type": "location", "latitude": 1e300, "longitude": 10**400}, "location", "Location:"),
            (
                {
                    "type": "contacts",
                    "contacts": [{"name": {"formatted_name": "Z"}, "phones": [{"phone": "+1555"}]}],
                },
                "contacts",
                "Contacts: Z +1555",
            ),
            (
                {"type": "contacts", "contacts": [{"name": "Ana"}, {"name": "Bo", "phones": ["+1", "+2"]}]},
                "contacts",
                "Contacts: Ana, Bo +1 +2",
            ),
            ({"type": "contacts"}, "contacts", "Contacts:"),
            ({"type": "button", "id": "b1", "title": "Yes, please"}, "button", "Yes, please"),
            ({"type": "list", "list": {"id": "l1", "title": "Blue"}}, "list", "Blue"),
            ({"type": "button", "id": "b1", "text": None}, "button", "b1"),
            ({"type": "poll", "text": None}, "unsupported", "[unsupported message: poll]"),
            ({"type": None}, "unsupported", "[unsupported message]"),
            ({"type": "x" * 500}, "unsupported", "[unsupported message]"),
        ],
    )
    def test_what_is_no_text_is_put_into_words(self, message: dict[str, Any], kind: str, text: str) -> None:
        event = only(whasp_event(message))
        assert (event.kind, event.text) == (kind, text)

    @pytest.mark.parametrize(
        ("message", "kind", "text"),
        [
            ({"type": "reaction", "message_id": "msg_0", "emoji": "👍"}, "reaction", "👍"),
            ({"type": "reaction", "message_id": "msg_0", "emoji": ""}, "reaction", ""),
            ({"type": "edited", "message_id": "msg_0", "text": "new"}, "edited", "new"),
            ({"type": "deleted", "message_id": "msg_0", "text": None}, "deleted", ""),
        ],
    )
    def test_a_message_about_another_names_it(self, message: dict[str, Any], kind: str, text: str) -> None:
        event = only(whasp_event(message))
        assert (event.kind, event.text, event.target_id) == (kind, text, "msg_0")

    @pytest.mark.parametrize(
        "blank", ["", " ", "\n", "\u200b", "\u200f\u200e", "\u2800", "\u3164", "\ufe0f", None, 1.5, {}]
    )
    def test_a_text_of_which_nothing_can_be_seen_is_passed_over(self, blank: Any) -> None:
        assert parsed(whasp_event({"text": blank})) == Delivery((), {"blank": 1})

    def test_a_long_text_is_cut_visibly(self) -> None:
        text = only(whasp_event({"text": "a" * 60_001})).text
        assert len(text) == 60_000
        assert text.endswith("a […]")
        assert only(whasp_event({"text": "a" * 60_000})).text == "a" * 60_000

    def test_characters_that_no_queue_takes_are_left_out(self) -> None:
        assert only(whasp_event({"text": "a\x00b\ud83dc\uffffd\n😀"})).text == "ab\ufffdcd\n😀"

    @pytest.mark.parametrize(
        "sent_at", [None, "", "soon", 10**30, -5, "0001-01-01T00:00:00+14:00", "2999-01-01T00:00:00Z"]
    )
    def test_an_impossible_time_is_the_time_of_the_event(self, sent_at: Any) -> None:
        event = only(whasp_event({"sent_at": sent_at}))
        assert event.sent_at == NOW - timedelta(seconds=1)

    def test_a_message_sent_weeks_ago_keeps_its_time(self) -> None:
        assert only(whasp_event({"sent_at": "2026-11-08T10:00:00Z"})).sent_at == NOW - timedelta(days=21)

    def test_an_event_without_id_has_the_same_one_on_every_retry(self) -> None:
        payload = whasp_event()
        del payload["id"]
        first, again = only(payload).event_id, only(payload).event_id
        assert first == again
        assert first.startswith("sha256:")
        assert only({**payload, "created_at": "2026-11-29T09:59:00Z"}).event_id != first

    @pytest.mark.parametrize("identifier", ["x" * 300, "a b", "é", {"a": 1}])
    def test_an_id_that_no_key_could_hold_is_hashed(self, identifier: Any) -> None:
        assert only({**whasp_event(), "id": identifier}).event_id.startswith("sha256:")


class TestPeople:
    @pytest.mark.parametrize(
        ("chat", "person"),
        [
            ("+5215550001111", "+525550001111"),
            ("+551187654321", "+5511987654321"),
            ("34600111222@s.whatsapp.net", "+34600111222"),
            ("US.13491208655302741918", "US.13491208655302741918"),
        ],
    )
    def test_the_person_is_canonical_and_the_address_as_given(self, chat: str, person: str) -> None:
        event = only(whasp_event(chat=chat))
        assert (event.person, event.address) == (person, chat)

    @pytest.mark.parametrize(
        "chat", [None, "", "maya", "+12", {"phone": "+34600111222"}, "123456789012345@lid", True, 1.5]
    )
    def test_nobodys_address_is_counted(self, chat: Any) -> None:
        assert parsed(whasp_event(chat=chat)) == Delivery((), {"bad_address": 1})

    @pytest.mark.parametrize(
        "data",
        [
            {"chat": "120363041234567890@g.us"},
            {"chat": "34600111222-1400000000@g.us"},
            {"chat": "status@broadcast"},
            {"chat": "12345678@newsletter"},
            {"group": {"id": "g1"}},
        ],
    )
    def test_groups_are_passed_over(self, data: dict[str, Any]) -> None:
        assert parsed(whasp_event(**data)) == Delivery((), {"group": 1})


class TestOtherEvents:
    def test_a_replaced_number(self) -> None:
        data = {"old_number": "+15550100", "new_number": "+15550123", "label": "sales"}
        delivery = parsed({"id": "evt_2", "type": "number.replaced", "data": data})
        assert delivery == Delivery((NumberReplaced("evt_2", "+15550100", "+15550123", NOW, "sales"),), {})

    @pytest.mark.parametrize("data", [None, {}, {"old_number": "+15550100"}, {"new_number": "+1"}, []])
    def test_half_a_replacement_is_counted(self, data: Any) -> None:
        assert parsed({"id": "e", "type": "number.replaced", "data": data}) == Delivery((), {"malformed": 1})

    def test_a_failed_message_with_its_code(self) -> None:
        payload = whasp_event({"id": "msg_9", "error": {"code": "undeliverable", "message": "Maya is away"}})
        delivery = parsed({**payload, "type": "message.failed"})
        expected = DeliveryStatus("evt_1", "+34600111222", "+15550100", "msg_9", "failed", NOW, "undeliverable")
        assert delivery == Delivery((expected,), {})

    @pytest.mark.parametrize("kind", ["message.sent", "message.delivered", "message.read", "number.renamed"])
    def test_every_other_type_is_counted_by_its_name(self, kind: str) -> None:
        assert parsed({"id": "e", "type": kind, "data": {}}) == Delivery((), {kind: 1})

    @pytest.mark.parametrize("kind", [None, 5, "", "x" * 41, "call +34600111222", "a b", {"a": 1}])
    def test_a_senseless_type_is_counted_without_its_name(self, kind: Any) -> None:
        assert parsed({"type": kind}) == Delivery((), {"unnamed": 1})

    @pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"1", b"\xff", b"[" * 100_000, b"9" * 5_000])
    def test_what_is_no_json_object_is_an_invalid_payload(self, body: bytes) -> None:
        with pytest.raises(InvalidPayload) as caught:
            WhaspWebhook(WHASP_SECRET).parse(body, NOW)
        assert caught.value.__cause__ is None
