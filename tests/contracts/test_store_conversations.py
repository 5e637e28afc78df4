"""The contract of messages and the conversation's state: fake and DynamoDB."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, message, summary, turn
from tests.contracts.stores import Stores
from whatsapp_agent.memory.records import Usage

OTHER = "sales#+34600999888"


def seqs(messages: list) -> list[int]:
    return [each.seq for each in messages]


class TestMessages:
    def test_a_message_comes_back_as_it_was(self, stores: Stores):
        full = message(
            7,
            "👋 hola\nsegunda línea",
            role="assistant",
            kind="voice",
            prompt_chars=12_000,
            usage=Usage(4000, 3000, 120),
            sent_at=NOW + timedelta(milliseconds=123),
        )
        bare = message(8, "", number="")
        stores.put([full, bare], [])
        assert stores.conversations.newest_messages(CONVERSATION, 10) == [full, bare]

    def test_a_claimed_message_with_empty_fields_comes_back_as_it_was(self, stores: Stores):
        empty = message(1, "", number="", kind="sticker")
        stores.ledger.claim(turn(number="", address=""), empty)
        assert stores.conversations.newest_messages(CONVERSATION, 1) == [empty]
        stored = stores.ledger.turn(CONVERSATION, "evt_1")
        assert (stored.number, stored.address) == ("", "")

    def test_the_newest_come_oldest_first(self, stores: Stores):
        stores.put([message(seq) for seq in range(1, 12)], [])
        assert seqs(stores.conversations.newest_messages(CONVERSATION, 3)) == [9, 10, 11]
        assert seqs(stores.conversations.newest_messages(CONVERSATION, 100)) == list(range(1, 12))

    def test_those_after_a_place_come_oldest_first(self, stores: Stores):
        stores.put([message(seq) for seq in range(1, 12)], [])
        assert seqs(stores.conversations.messages_after(CONVERSATION, 4, 3)) == [5, 6, 7]
        assert seqs(stores.conversations.messages_after(CONVERSATION, 0, 100)) == list(range(1, 12))
        assert stores.conversations.messages_after(CONVERSATION, 11, 100) == []

    @pytest.mark.parametrize("limit", [0, -1])
    def test_no_room_asks_for_nothing(self, stores: Stores, limit: int):
        stores.put_first_message()
        assert stores.conversations.newest_messages(CONVERSATION, limit) == []
        assert stores.conversations.messages_after(CONVERSATION, 0, limit) == []

    def test_nobody_reads_the_messages_of_another(self, stores: Stores):
        stores.put([message(1, "mine"), message(1, "theirs", conversation=OTHER)], [])
        assert [each.text for each in stores.conversations.newest_messages(CONVERSATION, 10)] == ["mine"]
        assert [each.text for each in stores.conversations.messages_after(OTHER, 0, 10)] == ["theirs"]

    def test_a_conversation_that_is_a_prefix_of_another_stays_apart(self, stores: Stores):
        stores.put([message(1, conversation=CONVERSATION + "3")], [])
        assert stores.conversations.newest_messages(CONVERSATION, 10) == []

    def test_30_messages_of_100_kb_are_read_over_several_pages(self, stores: Stores):
        stores.put([message(seq, "x" * 100_000) for seq in range(1, 31)], [])
        assert seqs(stores.conversations.newest_messages(CONVERSATION, 25)) == list(range(6, 31))
        assert seqs(stores.conversations.messages_after(CONVERSATION, 2, 25)) == list(range(3, 28))

    def test_a_text_too_long_for_an_item_is_cut_with_a_mark(self, stores: Stores):
        stores.ledger.claim(turn(), message(1, "ñ" * 400_000))
        (stored,) = stores.conversations.newest_messages(CONVERSATION, 1)
        assert stored.text.startswith("ñññ")
        assert stored.text.endswith("ñ […]")
        assert len(stored.text.encode()) < 400_000


class TestRetention:
    def test_an_expired_message_is_gone_before_it_is_deleted(self, make_stores: Callable[[int], Stores]):
        stores = make_stores(7)
        stores.put([message(1), message(2)], [])
        stores.clock.advance(days=3)
        stores.put([message(3)], [])
        stores.clock.advance(days=4)
        assert seqs(stores.conversations.newest_messages(CONVERSATION, 10)) == [3]
        assert seqs(stores.conversations.messages_after(CONVERSATION, 0, 1)) == [3]
        assert stores.left(CONVERSATION) == 3

    def test_expired_messages_do_not_take_the_place_of_live_ones(self, make_stores: Callable[[int], Stores]):
        """After the retention was shortened, newer messages expire before older ones."""
        stores = make_stores(7)
        stores.put([message(3), message(4)], [])
        stores.clock.advance(days=6)
        stores.put([message(1), message(2)], [])
        stores.clock.advance(days=1)
        assert seqs(stores.conversations.newest_messages(CONVERSATION, 2)) == [1, 2]

    def test_without_retention_messages_stay(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        stores.clock.advance(days=10_000)
        assert seqs(stores.conversations.newest_messages(CONVERSATION, 10)) == [1]

    def test_an_expired_summary_is_gone_before_it_is_deleted(self, make_stores: Callable[[int], Stores]):
        stores = make_stores(7)
        stores.put_first_message()
        stores.compact(text="Old things.")
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=None)
        stores.clock.advance(days=7)
        assert stores.conversations.summary(CONVERSATION) == summary()

    def test_a_new_state_does_not_bring_back_an_expired_summary(self, make_stores: Callable[[int], Stores]):
        stores = make_stores(7)
        stores.put_first_message()
        stores.compact(text="Old things.")
        stores.clock.advance(days=7)
        later = stores.clock()
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=later)
        assert stores.conversations.summary(CONVERSATION) == summary(paused_until=later)

    def test_a_new_summary_does_not_bring_back_an_expired_state(self, make_stores: Callable[[int], Stores]):
        stores = make_stores(7)
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=NOW)
        stores.clock.advance(days=7)
        stores.put_first_message()
        stores.compact(text="New things.")
        stored = stores.conversations.summary(CONVERSATION)
        assert (stored.text, stored.version) == ("New things.", 1)
        assert (stored.opted_out_at, stored.paused_until) == (None, None)

    def test_clearing_the_state_does_not_bring_back_an_expired_summary(
        self, make_stores: Callable[[int], Stores]
    ):
        stores = make_stores(7)
        stores.put_first_message()
        stores.compact(text="Old things.")
        stores.clock.advance(days=7)
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=None)
        assert stores.conversations.summary(CONVERSATION) == summary()


class TestState:
    def test_an_unknown_conversation_has_an_empty_summary(self, stores: Stores):
        assert stores.conversations.summary(CONVERSATION) == summary()

    def test_state_can_be_written_before_there_is_a_summary(self, stores: Stores):
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=None)
        assert stores.conversations.summary(CONVERSATION) == summary(opted_out_at=NOW)

    def test_state_leaves_the_summary_alone(self, stores: Stores):
        stores.put_first_message()
        stores.compact(text="They talked.")
        until = NOW + timedelta(hours=1)
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=until)
        assert stores.conversations.summary(CONVERSATION) == summary(
            text="They talked.",
            through_seq=1,
            version=1,
            updated_at=NOW,
            opted_out_at=NOW,
            paused_until=until,
        )

    def test_none_clears_the_state(self, stores: Stores):
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=NOW)
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=NOW)
        assert stores.conversations.summary(CONVERSATION) == summary(paused_until=NOW)
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=None)
        assert stores.conversations.summary(CONVERSATION) == summary()

    def test_clearing_what_was_never_written_writes_nothing(self, stores: Stores):
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=None)
        assert stores.left(CONVERSATION) == 0


class TestDeletion:
    def test_messages_through_a_place_are_deleted(self, stores: Stores):
        stores.put([message(seq) for seq in range(1, 71)], [])
        stores.put([message(1, conversation=OTHER)], [])
        assert stores.conversations.delete_messages(CONVERSATION, 60) == 60
        assert seqs(stores.conversations.newest_messages(CONVERSATION, 100)) == list(range(61, 71))
        assert stores.conversations.delete_messages(CONVERSATION, 60) == 0
        assert stores.left(OTHER) == 1

    def test_30_messages_of_100_kb_are_deleted_over_several_pages(self, stores: Stores):
        stores.put([message(seq, "x" * 100_000) for seq in range(1, 31)], [])
        assert stores.conversations.delete_messages(CONVERSATION, 29) == 29
        assert stores.left(CONVERSATION) == 1

    def test_an_erasure_leaves_nothing_and_touches_nobody_else(self, stores: Stores):
        stores.put(
            [message(seq) for seq in range(1, 5)] + [message(1, conversation=OTHER)],
            [turn(f"evt_{seq}") for seq in range(1, 4)] + [turn(conversation=OTHER)],
        )
        stores.compact()
        assert stores.conversations.erase(CONVERSATION) == 4 + 3 + 1
        assert stores.left(CONVERSATION) == 0
        assert stores.left(OTHER) == 2
        assert stores.conversations.erase(CONVERSATION) == 0
