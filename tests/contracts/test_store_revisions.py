"""What a message carries beside its words, other words for it, and several turns at once."""

from dataclasses import replace

import pytest

from tests.builders import CONVERSATION, NOW, message, turn
from tests.contracts.stores import Stores
from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.store.items import message_from, message_item
from whatsapp_agent.store.wire import from_wire, to_wire


class TestRevise:
    def test_a_message_gets_other_words_and_keeps_everything_else(self, stores: Stores):
        stored = message(
            1, "hello", message_id="wamid.1", quote="hi", spent=Spent(NOW, 1, 5, 1, True, "media", NOW, 3)
        )
        stores.ledger.claim(turn(), stored)
        assert stores.conversations.revise(stored, text="bye", kind="voice")
        assert stores.conversations.newest_messages(CONVERSATION, 1) == [
            replace(stored, text="bye", kind="voice")
        ]

    def test_words_can_be_taken_away(self, stores: Stores):
        stores.put_first_message()
        assert stores.conversations.revise(message(1), text="", kind="deleted")
        (left,) = stores.conversations.newest_messages(CONVERSATION, 1)
        assert (left.text, left.kind, left.seq) == ("", "deleted", 1)

    def test_nothing_is_written_where_the_message_is_gone_or_another_stands(self, stores: Stores):
        assert not stores.conversations.revise(message(1), text="bye", kind="text")
        assert stores.left(CONVERSATION) == 0
        stores.put_first_message()
        assert not stores.conversations.revise(message(1, event_id="evt_other"), text="bye", kind="text")
        assert stores.conversations.newest_messages(CONVERSATION, 1) == [message(1)]

    def test_a_message_that_expired_is_not_brought_back(self, make_stores):
        stores = make_stores(1)
        stores.put_first_message()
        stores.clock.advance(days=2)
        assert not stores.conversations.revise(message(1), text="bye", kind="text")


class TestTurnsOf:
    def test_those_that_exist_come_back(self, stores: Stores):
        stores.put([], [turn("evt_1"), turn("evt_2", seq=2), turn("evt_1", conversation="sales#+34600999888")])
        found = stores.ledger.turns_of(CONVERSATION, ["evt_2", "evt_1", "evt_9", "evt_1"])
        assert sorted((each.conversation, each.event_id) for each in found) == [
            (CONVERSATION, "evt_1"),
            (CONVERSATION, "evt_2"),
        ]

    def test_no_events_ask_for_nothing(self, stores: Stores):
        assert stores.ledger.turns_of(CONVERSATION, []) == []

    def test_an_expired_turn_is_gone(self, stores: Stores):
        stores.put([], [turn("evt_1")])
        stores.clock.advance(days=31)
        assert stores.ledger.turns_of(CONVERSATION, ["evt_1"]) == []


@pytest.mark.parametrize(
    "stored",
    [
        None,
        "",
        7,
        [],
        {},
        {"since": "2026-11-29T10:00:00Z", "turns": 1},
        ["yesterday", 1, 0, 0, 0, "", 0, 0],
        [1764410400000],
        [1764410400000, "many", 0, 0, 0, "", 0, 0],
        [1e30, 1, 0, 0, 0, "", 0, 0],
    ],
)
def test_an_account_that_cannot_be_read_silences_nobody(stored: object) -> None:
    item = from_wire(to_wire(message_item(message(), None))) | {"spent": stored}
    assert message_from(item).spent == Spent()
