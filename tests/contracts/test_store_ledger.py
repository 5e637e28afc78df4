"""The ledger's contract: fake and DynamoDB."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from threading import Barrier

import pytest

from tests.builders import CONVERSATION, NOW, message, turn
from tests.contracts.replies import A_MONTH, replied, reply, waiting
from tests.contracts.stores import Stores
from whatsapp_agent.errors import SeqTaken, TurnMoved
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Usage


class TestClaim:
    def test_a_new_event_is_written_with_its_message(self, stores: Stores):
        assert stores.ledger.claim(turn(), message(text="hello")) is None
        assert stores.ledger.turn(CONVERSATION, "evt_1") == turn(expires_at=NOW + A_MONTH)
        assert stores.conversations.newest_messages(CONVERSATION, 10) == [message(text="hello")]

    def test_an_event_claimed_before_gives_its_turn_and_writes_nothing(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        found = stores.ledger.claim(turn(seq=2, created_at=NOW + timedelta(hours=1)), message(2))
        assert found == turn(expires_at=NOW + A_MONTH)
        assert [each.seq for each in stores.conversations.newest_messages(CONVERSATION, 10)] == [1]

    def test_an_event_claimed_before_at_a_taken_place_gives_its_turn(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        assert stores.ledger.claim(turn(), message()) == turn(expires_at=NOW + A_MONTH)

    def test_a_taken_place_writes_no_turn(self, stores: Stores):
        stores.ledger.claim(turn(), message(text="first"))
        with pytest.raises(SeqTaken):
            stores.ledger.claim(turn("evt_2"), message(1, "second", event_id="evt_2"))
        assert stores.ledger.turn(CONVERSATION, "evt_2") is None
        assert [each.text for each in stores.conversations.newest_messages(CONVERSATION, 10)] == ["first"]

    def test_an_event_without_a_message_is_written_alone(self, stores: Stores):
        silent = turn(state="silent", seq=0)
        assert stores.ledger.claim(silent, None) is None
        assert stores.ledger.claim(silent, None) == replace(silent, expires_at=NOW + A_MONTH)
        assert stores.conversations.newest_messages(CONVERSATION, 10) == []

    def test_the_same_event_of_two_conversations_is_two_turns(self, stores: Stores):
        other = "support#+34600111222"
        stores.ledger.claim(turn(), message())
        assert stores.ledger.claim(turn(conversation=other), message(conversation=other)) is None

    def test_an_expired_turn_counts_as_absent(self, stores: Stores):
        stores.ledger.claim(turn(), None)
        stores.clock.advance(days=30)
        assert stores.ledger.turn(CONVERSATION, "evt_1") is None
        later = turn(created_at=stores.clock())
        assert stores.ledger.claim(later, None) is None
        assert stores.ledger.turn(CONVERSATION, "evt_1") == replace(later, expires_at=stores.clock() + A_MONTH)

    def test_the_place_of_an_expired_message_is_free(self, make_stores: Callable[[int], Stores]):
        stores = make_stores(7)
        stores.ledger.claim(turn(), message(text="old"))
        stores.clock.advance(days=7)
        assert stores.ledger.claim(turn("evt_2"), message(1, "new", event_id="evt_2")) is None
        assert [each.text for each in stores.conversations.newest_messages(CONVERSATION, 10)] == ["new"]

    def test_an_end_that_the_turn_brings_is_kept(self, stores: Stores):
        stores.ledger.claim(turn(expires_at=NOW + timedelta(hours=1)), None)
        stores.clock.advance(minutes=59)
        assert stores.ledger.turn(CONVERSATION, "evt_1") == turn(expires_at=NOW + timedelta(hours=1))
        stores.clock.advance(minutes=1)
        assert stores.ledger.turn(CONVERSATION, "evt_1") is None

    def test_two_concurrent_claims_of_one_event_let_one_through(self, concurrent_stores: Stores):
        barrier = Barrier(2)

        def claim(seq: int) -> Turn | None:
            barrier.wait(10)
            return concurrent_stores.ledger.claim(turn(seq=seq), message(seq))

        with ThreadPoolExecutor(2) as pool:
            answers = list(pool.map(claim, (1, 2)))
        won = [answer for answer in answers if answer is None]
        lost = [answer for answer in answers if answer is not None]
        assert (len(won), len(lost)) == (1, 1)
        stored = concurrent_stores.conversations.newest_messages(CONVERSATION, 10)
        assert [each.seq for each in stored] == [lost[0].seq]

    def test_two_concurrent_events_never_share_a_place(self, concurrent_stores: Stores):
        barrier = Barrier(2)

        def claim(event_id: str) -> bool:
            barrier.wait(10)
            try:
                concurrent_stores.ledger.claim(turn(event_id), message(1, event_id, event_id=event_id))
            except SeqTaken:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            won = list(pool.map(claim, ("evt_a", "evt_b")))
        assert sorted(won) == [False, True]
        (stored,) = concurrent_stores.conversations.newest_messages(CONVERSATION, 10)
        assert stored.event_id == ("evt_a" if won[0] else "evt_b")


class TestCommit:
    def test_reply_and_turn_are_written_together(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        usage = Usage(1000, 800, 50)
        stores.ledger.commit(reply(prompt_chars=4000, usage=usage), replied("hi", "there", usage=usage), [])
        stored = stores.ledger.turn(CONVERSATION, "evt_1")
        assert stored == replied("hi", "there", usage=usage, expires_at=NOW + A_MONTH)
        assert stores.conversations.newest_messages(CONVERSATION, 1) == [reply(prompt_chars=4000, usage=usage)]

    def test_covered_turns_point_to_the_turn_with_the_reply(self, stores: Stores):
        for seq in (1, 2, 3):
            stores.ledger.claim(turn(f"evt_{seq}", seq=seq), message(seq))
        lead = turn("evt_3", "replied", seq=3, reply_seq=4, parts=("hi",))
        stores.ledger.commit(message(4, role="assistant"), lead, ["evt_1", "evt_2"])
        covered = stores.ledger.turn(CONVERSATION, "evt_1")
        assert covered == turn(state="covered", lead="evt_3", expires_at=NOW + A_MONTH)
        assert stores.ledger.turn(CONVERSATION, "evt_2").lead == "evt_3"

    def test_a_failed_turn_can_still_be_answered(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        stores.ledger.close(turn(), "failed", "quota")
        stores.ledger.commit(reply(), replied(), [])
        assert stores.ledger.turn(CONVERSATION, "evt_1") == replied(expires_at=NOW + A_MONTH)

    def test_a_taken_place_leaves_the_turn_waiting(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        stores.ledger.claim(turn("evt_2", seq=2), message(2))
        with pytest.raises(SeqTaken):
            stores.ledger.commit(reply(2), replied(), [])
        assert stores.ledger.turn(CONVERSATION, "evt_1").state == "claimed"

    def test_a_reply_is_not_written_twice(self, stores: Stores):
        sent_once = waiting(stores)
        with pytest.raises(TurnMoved):
            stores.ledger.commit(reply(3), replace(sent_once, reply_seq=3), [])
        with pytest.raises(TurnMoved):
            stores.ledger.commit(reply(2), sent_once, [])
        assert [each.seq for each in stores.conversations.newest_messages(CONVERSATION, 10)] == [1, 2]

    @pytest.mark.parametrize("state", ["silent", "suppressed", "covered", "undelivered", "sent"])
    def test_a_turn_that_does_not_wait_gets_no_reply(self, stores: Stores, state: str):
        stores.put([message()], [turn(state=state)])
        with pytest.raises(TurnMoved):
            stores.ledger.commit(reply(), replied(), [])
        assert len(stores.conversations.newest_messages(CONVERSATION, 10)) == 1

    def test_an_erased_turn_gets_no_reply(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        stores.conversations.erase(CONVERSATION)
        with pytest.raises(TurnMoved):
            stores.ledger.commit(reply(), replied(), [])
        assert stores.left(CONVERSATION) == 0

    def test_a_covered_event_that_was_never_claimed_stops_the_reply(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        with pytest.raises(TurnMoved):
            stores.ledger.commit(reply(), replied(), ["evt_unknown"])
        assert stores.ledger.turn(CONVERSATION, "evt_1").state == "claimed"
        assert len(stores.conversations.newest_messages(CONVERSATION, 10)) == 1

    def test_an_apology_made_meanwhile_is_not_forgotten(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        stores.ledger.apologise(turn())
        stores.ledger.commit(reply(), replied(), [])
        assert stores.ledger.turn(CONVERSATION, "evt_1").apologised

    def test_an_event_covered_twice_or_by_itself_is_covered_once(self, stores: Stores):
        stores.ledger.claim(turn(), message())
        stores.ledger.claim(turn("evt_2", seq=2), message(2))
        stores.ledger.commit(reply(3), replied(reply_seq=3), ["evt_2", "evt_2", "evt_1"])
        assert stores.ledger.turn(CONVERSATION, "evt_1").state == "replied"
        assert stores.ledger.turn(CONVERSATION, "evt_2").state == "covered"

    def test_a_reply_covers_98_further_turns_and_no_more(self, stores: Stores):
        stores.put(
            [message(seq) for seq in range(1, 101)],
            [turn(f"evt_{seq}", seq=seq) for seq in range(1, 101)],
        )
        others = [f"evt_{seq}" for seq in range(2, 101)]
        lead = replied(reply_seq=101)
        with pytest.raises(ValueError, match="98"):
            stores.ledger.commit(reply(101), lead, others)
        stores.ledger.commit(reply(101), lead, others[:98])
        assert stores.ledger.turn(CONVERSATION, "evt_99").state == "covered"
        assert stores.ledger.turn(CONVERSATION, "evt_100").state == "claimed"
