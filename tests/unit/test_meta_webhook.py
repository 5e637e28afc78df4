"""Handshake, signature and envelope of Meta's webhooks."""

from typing import Any

import pytest

from tests.unit.webhook_payloads import (
    NOW,
    PERSON,
    PNID,
    change,
    encoded,
    env,
    envelope,
    signed_meta,
    text,
    typed,
    value_of,
)
from tools.local.sign_event import META_SECRET
from whatsapp_agent.errors import ConfigurationError, InvalidPayload, InvalidSignature
from whatsapp_agent.events import DeliveryStatus, PersonChangedNumber
from whatsapp_agent.ports.provider import Delivery
from whatsapp_agent.providers.meta.webhook import MetaWebhook

TOKEN = "token-1"
HANDSHAKE = {"hub.mode": "subscribe", "hub.verify_token": TOKEN, "hub.challenge": "1158"}


def webhook(secrets: str = META_SECRET, token: str = TOKEN) -> MetaWebhook:
    return MetaWebhook(secrets, token)


def parsed(payload: Any) -> Delivery:
    return webhook().parse(encoded(payload), NOW)


def ids(delivery: Delivery) -> list[str]:
    return [event.event_id for event in delivery.events]


class TestHandshake:
    def test_the_challenge_comes_back_as_it_is(self) -> None:
        assert webhook().handshake(HANDSHAKE) == "1158"

    @pytest.mark.parametrize(
        "changed",
        [
            {"hub.verify_token": "wrong"},
            {"hub.verify_token": ""},
            {"hub.verify_token": "é\udcff"},
            {"hub.mode": "unsubscribe"},
            {"hub.challenge": ""},
            {"hub.challenge": "<script>alert(1)</script>"},
            {"hub.challenge": "1" * 300},
        ],
    )
    def test_anything_else_is_refused(self, changed: dict[str, str]) -> None:
        with pytest.raises(InvalidSignature):
            webhook().handshake({**HANDSHAKE, **changed})

    def test_an_empty_token_on_both_sides_is_refused(self) -> None:
        with pytest.raises(InvalidSignature):
            webhook(token="").handshake({**HANDSHAKE, "hub.verify_token": ""})

    def test_no_parameters_are_refused(self) -> None:
        with pytest.raises(InvalidSignature):
            webhook().handshake({})


class TestSignature:
    @pytest.mark.parametrize("body", [b"", encoded(env()), rb'{"t":"caf\u00e9 \/ \ud83d\ude00"}', "é".encode()])
    def test_the_signature_covers_the_bytes_as_they_came(self, body: bytes) -> None:
        webhook().verify(signed_meta(body), body, NOW)

    @pytest.mark.parametrize(
        "header",
        [None, "", "sha256=", "sha1=abc", "sha256", "sha256=é", "sha256=\udcff", "sha256=" + "0" * 64],
    )
    def test_a_missing_or_wrong_signature_is_refused(self, header: str | None) -> None:
        headers = {} if header is None else {"x-hub-signature-256": header}
        with pytest.raises(InvalidSignature):
            webhook().verify(headers, b"{}", NOW)

    def test_a_signature_of_another_body_is_refused(self) -> None:
        with pytest.raises(InvalidSignature):
            webhook().verify(signed_meta(b"{}"), b"{ }", NOW)

    @pytest.mark.parametrize("secret", ["new-secret", META_SECRET])
    def test_two_secrets_are_valid_at_once(self, secret: str) -> None:
        webhook(f"new-secret {META_SECRET}").verify(signed_meta(b"{}", secret), b"{}", NOW)

    @pytest.mark.parametrize("secrets", ["", "  "])
    def test_an_empty_secret_believes_nobody(self, secrets: str) -> None:
        for headers in ({}, signed_meta(b"{}", "")):
            with pytest.raises(ConfigurationError):
                webhook(secrets).verify(headers, b"{}", NOW)


class TestEnvelope:
    def test_every_message_of_a_batch_is_read_in_order(self) -> None:
        assert ids(parsed(env(text(1, "a"), text(2, "b"), text(3, "c")))) == ["wamid.1", "wamid.2", "wamid.3"]

    def test_every_change_of_every_entry_is_read(self) -> None:
        entries = [
            {"id": "1", "changes": [change(value_of(text(n, "a"))) for n in pair]} for pair in ((1, 2), (3, 4))
        ]
        delivery = parsed({"object": "whatsapp_business_account", "entry": entries})
        assert ids(delivery) == ["wamid.1", "wamid.2", "wamid.3", "wamid.4"]

    @pytest.mark.parametrize("status", ["sent", "delivered", "read", "played"])
    def test_a_status_is_only_counted(self, status: str) -> None:
        item = {"id": "wamid.X", "status": status, "timestamp": "1700000000", "recipient_id": PERSON}
        assert parsed(env(statuses=[item])) == Delivery((), {f"status.{status}": 1})

    def test_a_failed_status_carries_its_code_also_where_the_contact_has_no_profile(self) -> None:
        item = {
            "id": "wamid.X",
            "status": "failed",
            "timestamp": "1700000000",
            "recipient_id": PERSON,
            "errors": [{"code": 131026, "title": "x"}],
        }
        delivery = parsed(env(statuses=[item], contacts=[{"wa_id": PERSON}]))
        expected = DeliveryStatus("wamid.X:failed", "+15550001111", PNID, "wamid.X", "failed", NOW, "131026")
        assert delivery == Delivery((expected,), {})

    def test_a_failed_status_of_a_person_without_phone(self) -> None:
        item = {"id": "wamid.X", "status": "failed", "recipient_user_id": "US.13491208655302741918"}
        (event,) = parsed(env(statuses=[item])).events
        assert isinstance(event, DeliveryStatus)
        assert (event.person, event.code) == ("US.13491208655302741918", "")

    @pytest.mark.parametrize(
        "bad", [{"status": "failed"}, {"status": "failed", "errors": 5}, {}, None, 7, "x", []]
    )
    def test_a_senseless_status_never_costs_a_message(self, bad: Any) -> None:
        delivery = parsed(env(text(1, "hi"), statuses=[bad, {"id": "wamid.U", "status": "sent"}]))
        assert ids(delivery) == ["wamid.1"]
        assert sum(delivery.ignored.values()) == 2

    @pytest.mark.parametrize(
        "bad",
        [
            None,
            "x",
            [],
            {},
            {"type": "text", "from": 5},
            typed("text", None),
            typed("text", []),
            text(9, "hi", frm="nobody"),
            {**text(9, "hi"), "timestamp": {"a": 1}, "from": None},
        ],
    )
    def test_one_bad_message_never_costs_the_good_ones(self, bad: Any) -> None:
        delivery = parsed(env(text(1, "a"), bad, text(2, "b")))
        assert ids(delivery) == ["wamid.1", "wamid.2"]
        assert sum(delivery.ignored.values()) == 1

    @pytest.mark.parametrize(
        "field",
        ["account_alerts", "message_template_status_update", "user_id_update", "user_preferences", "history"],
    )
    def test_other_fields_are_counted(self, field: str) -> None:
        assert parsed(envelope(change(value_of(text(1, "a")), field))) == Delivery((), {field: 1})

    @pytest.mark.parametrize(
        "payload",
        [
            {},
            {"entry": None},
            {"entry": [{"changes": [{"value": None}]}]},
            {"object": "page", "entry": [{"changes": [change(value_of(text(1, "a")))]}]},
        ],
    )
    def test_what_is_not_of_a_whatsapp_account_is_counted(self, payload: Any) -> None:
        assert parsed(payload) == Delivery((), {"other_object": 1})

    @pytest.mark.parametrize(
        "entry", [None, 5, [None], [{"changes": None}], [{"changes": [None]}], [{"changes": [change(None)]}]]
    )
    def test_an_envelope_with_holes_brings_nothing(self, entry: Any) -> None:
        assert parsed({"object": "whatsapp_business_account", "entry": entry}).events == ()

    @pytest.mark.parametrize("body", [b"", b"[]", b"null", b'"x"', b"{"])
    def test_what_is_no_json_object_is_an_invalid_payload(self, body: bytes) -> None:
        with pytest.raises(InvalidPayload):
            webhook().parse(body, NOW)

    def test_errors_of_the_account_are_counted(self) -> None:
        assert parsed(env(errors=[{"code": 130429}])) == Delivery((), {"errors": 1})

    def test_the_number_of_names_that_are_counted_by_is_bounded(self) -> None:
        changes = [change({}, f"field_{n}") for n in range(50)]
        ignored = parsed(envelope(*changes)).ignored
        assert len(ignored) == 21
        assert ignored["other"] == 30


class TestChangedIdentity:
    def system(self, **system: Any) -> dict[str, Any]:
        message = {
            "from": PERSON,
            "id": "wamid.S",
            "timestamp": "1700000000",
            "type": "system",
            "system": system,
        }
        return env(messages=[message])

    def test_a_changed_number_needs_no_contacts(self) -> None:
        delivery = parsed(self.system(type="user_changed_number", wa_id="15550003333", body="x"))
        expected = PersonChangedNumber("wamid.S", "+15550001111", "+15550003333", PNID, NOW)
        assert delivery == Delivery((expected,), {})

    def test_a_changed_number_brings_the_new_user_id_along(self) -> None:
        delivery = parsed(
            self.system(
                type="user_changed_number", wa_id="15550003333", user_id="US.2481", previous_user_id="US.1349"
            )
        )
        assert [(e.event_id, e.person, e.new_person) for e in delivery.events] == [  # type: ignore[union-attr]
            ("wamid.S", "+15550001111", "+15550003333"),
            ("wamid.S:1", "+15550001111", "US.2481"),
        ]

    def test_a_changed_user_id_leads_to_the_former_one(self) -> None:
        message = {
            "id": "wamid.S",
            "type": "system",
            "system": {"type": "user_changed_user_id", "user_id": "US.2481", "previous_user_id": "US.1349"},
        }
        (event,) = parsed(env(messages=[message])).events
        assert event == PersonChangedNumber("wamid.S", "US.1349", "US.2481", PNID, NOW)

    @pytest.mark.parametrize(
        ("system", "name"),
        [
            ({"type": "customer_identity_changed"}, "system"),
            ({}, "system"),
            ({"type": "user_changed_number"}, "bad_address"),
            ({"type": "user_changed_number", "wa_id": "15550001111"}, "bad_address"),
            ({"type": "user_changed_number", "wa_id": {"a": 1}}, "bad_address"),
        ],
    )
    def test_every_other_note_of_the_system_is_counted(self, system: dict[str, Any], name: str) -> None:
        assert parsed(self.system(**system)) == Delivery((), {name: 1})
