"""What is past its end is gone, though DynamoDB deletes it later: nothing is written onto it."""

from collections.abc import Callable

import pytest

from tests.builders import CONVERSATION, NOW, fact, message, turn
from tests.contracts.stores import Stores
from tests.faults.races import MESSAGE, SUMMARY, TURN, expire, just_before, somebody_else, waiting
from whatsapp_agent.errors import MessagesGone, SummaryMoved, TurnMoved
from whatsapp_agent.memory.records import FactUpdate


class TestExpiredTurns:
    """A turn past its end is gone: nothing moves it on, whatever state it had."""

    def test_it_gets_no_reply(self, stores: Stores) -> None:
        waiting(stores)
        expire(stores, "turns", TURN)
        replied = turn(state="replied", reply_seq=2, parts=("hi",))
        with pytest.raises(TurnMoved):
            stores.ledger.commit(message(2, role="assistant"), replied, [])

    def test_it_is_not_covered(self, stores: Stores) -> None:
        waiting(stores)
        stores.ledger.claim(turn("evt_2", seq=2), message(2))
        expire(stores, "turns", TURN)
        replied = turn("evt_2", "replied", seq=2, reply_seq=3, parts=("hi",))
        with pytest.raises(TurnMoved):
            stores.ledger.commit(message(3, role="assistant"), replied, ["evt_1"])

    def test_it_is_not_marked_sent(self, stores: Stores) -> None:
        waiting(stores)
        replied = turn(state="replied", reply_seq=2, parts=("hi",))
        stores.ledger.commit(message(2, role="assistant"), replied, [])
        expire(stores, "turns", TURN)
        with pytest.raises(TurnMoved):
            stores.ledger.mark_sent(replied, "msg_1")

    def test_it_is_not_closed(self, stores: Stores) -> None:
        waiting(stores)
        expire(stores, "turns", TURN)
        with pytest.raises(TurnMoved):
            stores.ledger.close(turn(), "silent", "late")

    def test_it_is_not_apologised_for(self, stores: Stores) -> None:
        waiting(stores)
        expire(stores, "turns", TURN)
        with pytest.raises(TurnMoved):
            stores.ledger.apologise(turn())


class TestExpiredSummaries:
    def test_a_state_written_onto_one_does_not_bring_its_text_back(self, stores: Stores) -> None:
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=None)
        summary = stores.conversations.summary(CONVERSATION)
        assert (summary.text, summary.version, summary.opted_out_at) == ("", 0, NOW)

    def test_clearing_the_state_of_one_does_not_bring_its_text_back(
        self, make_stores: Callable[[int], Stores]
    ) -> None:
        stores = make_stores(7)
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=None)
        assert stores.conversations.summary(CONVERSATION).version == 0

    def test_a_compaction_written_onto_one_does_not_undo_another(self, stores: Stores) -> None:
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        other = somebody_else(stores)
        just_before(stores, "DeleteItem", lambda: other.compact(text="They met."))
        with pytest.raises(SummaryMoved):
            stores.compact(text="They talked.")
        assert stores.conversations.summary(CONVERSATION).text == "They met."

    def test_one_that_somebody_has_written_anew_is_not_deleted(self, stores: Stores) -> None:
        stores.put_first_message()
        stores.compact()
        expire(stores, "summaries", SUMMARY)
        other = somebody_else(stores)
        just_before(stores, "DeleteItem", lambda: other.compact(text="They met."))
        stores.conversations.set_state(CONVERSATION, opted_out_at=NOW, paused_until=None)
        summary = stores.conversations.summary(CONVERSATION)
        assert (summary.text, summary.version, summary.opted_out_at) == ("They met.", 1, NOW)

    def test_clearing_a_state_that_nobody_has_written_makes_no_item(
        self, make_stores: Callable[[int], Stores]
    ) -> None:
        stores = make_stores(7)
        stores.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=None)
        assert stores.left(CONVERSATION) == 0


class TestExpiredMessages:
    def test_no_fact_comes_from_one(self, stores: Stores) -> None:
        stores.put_first_message()
        expire(stores, "messages", MESSAGE)
        with pytest.raises(MessagesGone):
            stores.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)], while_there=message())

    def test_none_is_revised(self, stores: Stores) -> None:
        stores.put_first_message()
        expire(stores, "messages", MESSAGE)
        assert not stores.conversations.revise(message(), text="", kind="deleted")

    def test_no_summary_stands_for_one(self, stores: Stores) -> None:
        stores.put_first_message()
        expire(stores, "messages", MESSAGE)
        for event_id in ("", "evt_1"):
            with pytest.raises(MessagesGone):
                stores.compact(newest_event_id=event_id)
