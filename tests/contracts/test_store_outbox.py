"""The ledger's contract once a reply is written down, and how turns end: fake and DynamoDB."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, message, turn
from tests.contracts.replies import A_MONTH, replied, waiting
from tests.contracts.stores import Stores
from whatsapp_agent.errors import TurnMoved


class TestMarkSent:
    def test_parts_are_marked_in_order_until_the_turn_is_sent(self, stores: Stores):
        first = stores.ledger.mark_sent(waiting(stores, "one", "two"), "wamid.1")
        assert (first.state, first.sent, first.provider_ids) == ("replied", 1, ("wamid.1",))
        last = stores.ledger.mark_sent(first, "wamid.2")
        assert (last.state, last.sent, last.provider_ids) == ("sent", 2, ("wamid.1", "wamid.2"))
        assert stores.ledger.turn(CONVERSATION, "evt_1") == replace(last, expires_at=NOW + A_MONTH)

    def test_a_part_is_not_marked_twice_with_different_ids(self, stores: Stores):
        committed = waiting(stores, "one", "two")
        stores.ledger.mark_sent(committed, "wamid.1")
        with pytest.raises(TurnMoved):
            stores.ledger.mark_sent(committed, "wamid.other")
        assert stores.ledger.turn(CONVERSATION, "evt_1").provider_ids == ("wamid.1",)

    def test_the_same_mark_again_is_no_error(self, stores: Stores):
        committed = waiting(stores)
        assert stores.ledger.mark_sent(committed, "wamid.1") == stores.ledger.mark_sent(committed, "wamid.1")

    def test_a_turn_that_is_not_replied_cannot_be_marked(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        with pytest.raises(TurnMoved):
            stores.ledger.mark_sent(replied(), "wamid.1")

    def test_an_erased_turn_cannot_be_marked(self, stores: Stores):
        committed = waiting(stores)
        stores.conversations.erase(CONVERSATION)
        with pytest.raises(TurnMoved):
            stores.ledger.mark_sent(committed, "wamid.1")
        assert stores.left(CONVERSATION) == 0


class TestClose:
    @pytest.mark.parametrize("state", ["silent", "suppressed", "failed"])
    def test_a_claimed_turn_is_closed_with_its_reason(self, stores: Stores, state: str):
        stores.ledger.claim(turn(), message())
        closed = stores.ledger.close(turn(), state, "because")
        assert (closed.state, closed.reason) == (state, "because")
        assert stores.ledger.turn(CONVERSATION, "evt_1") == replace(closed, expires_at=NOW + A_MONTH)

    def test_a_reply_that_is_refused_keeps_what_was_sent(self, stores: Stores):
        first = stores.ledger.mark_sent(waiting(stores, "one", "two"), "wamid.1")
        stores.ledger.close(first, "undelivered", "131026")
        stored = stores.ledger.turn(CONVERSATION, "evt_1")
        assert (stored.state, stored.sent, stored.provider_ids) == ("undelivered", 1, ("wamid.1",))

    def test_a_turn_in_another_state_is_not_closed(self, stores: Stores):
        waiting(stores)
        with pytest.raises(TurnMoved):
            stores.ledger.close(turn(), "suppressed", "opted_out")
        assert stores.ledger.turn(CONVERSATION, "evt_1").state == "replied"

    def test_a_turn_that_is_gone_is_not_closed(self, stores: Stores):
        with pytest.raises(TurnMoved):
            stores.ledger.close(turn(), "suppressed", "opted_out")
        assert stores.left(CONVERSATION) == 0


class TestApologise:
    def test_only_the_first_apology_is_to_be_said(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        assert stores.ledger.apologise(turn()) == turn(apologised=True)
        assert stores.ledger.apologise(turn()) is None

    def test_nobody_apologises_for_a_turn_that_is_gone(self, stores: Stores):
        with pytest.raises(TurnMoved):
            stores.ledger.apologise(turn())
        assert stores.left(CONVERSATION) == 0


class TestFindByProviderId:
    def test_the_newest_turn_with_the_part_is_found(self, stores: Stores):
        parts = {"state": "sent", "parts": ("x", "y"), "sent": 2}
        stores.put(
            [],
            [
                turn("evt_1", provider_ids=("wamid.1", "wamid.2"), **parts),
                turn("evt_2", provider_ids=("wamid.3", "wamid.2"), created_at=NOW + timedelta(1), **parts),
                turn("evt_3", conversation="sales#+1", provider_ids=("wamid.9",), **parts),
            ],
        )
        assert stores.ledger.find_by_provider_id(CONVERSATION, "wamid.1").event_id == "evt_1"
        assert stores.ledger.find_by_provider_id(CONVERSATION, "wamid.2").event_id == "evt_2"

    @pytest.mark.parametrize("unknown", ["wamid.9", "wamid", ""])
    def test_an_unknown_id_finds_nothing(self, stores: Stores, unknown: str):
        stores.put([], [turn(provider_ids=("wamid.1",)), turn("evt_2")])
        assert stores.ledger.find_by_provider_id(CONVERSATION, unknown) is None
