"""What the tables hold: exact numbers, no empty attributes, an end for each item that has one."""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, fact, message, turn
from tests.contracts.stores import Stores, stores_on
from tests.contracts.tables import items_of
from tests.contracts.units import item_size
from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.memory.records import FactUpdate, PastFact, Usage


class TestItems:
    def test_floats_are_exact_and_what_is_no_number_is_left_out(self, dynamo: Stores):
        dynamo.put_first_message()
        values = [0.1, 0.30000000000000004, 1e-7, float("nan"), float("inf")]
        facts = [fact("note", item=f"i{n}", confidence=value) for n, value in enumerate(values)]
        dynamo.compact(*(FactUpdate(each.key, each.item, 0, each, None) for each in facts))
        stored = [each.confidence for each in dynamo.facts.facts(CONVERSATION)]
        assert stored == [0.1, 0.30000000000000004, 1e-7, 0.0, 0.0]

    @pytest.mark.parametrize("key", ["", "a#b"])
    def test_a_fact_without_a_proper_key_is_refused(self, dynamo: Stores, key: str):
        dynamo.put_first_message()
        with pytest.raises(ValueError, match="key of a fact"):
            dynamo.compact(FactUpdate(key, "", 0, fact(key), None))
        assert dynamo.left(CONVERSATION) == 1

    def test_half_a_surrogate_pair_does_not_stop_a_message(self, dynamo: Stores):
        dynamo.ledger.claim(turn(), message(1, "a\ud83db"))
        assert dynamo.conversations.newest_messages(CONVERSATION, 1)[0].text == "a?b"

    def test_empty_attributes_are_not_stored(self, dynamo: Stores):
        dynamo.ledger.claim(turn(number="", address=""), message(1, "", number=""))
        for table in ("turns", "messages"):
            (item,) = items_of(dynamo.client, dynamo.tables[table])
            assert all(
                value not in ({"S": ""}, {"NULL": True}, {"L": []}, {"M": {}}) for value in item.values()
            )
            assert "number" not in item

    @pytest.mark.parametrize(
        "changes",
        [
            {},
            {"kind": "voice", "received_at": NOW + timedelta(seconds=3)},
            {"message_id": "msg_1"},
            {"message_id": "evt_1"},
            {"event_id": "", "message_id": ""},
            {"spent": Spent(NOW, 3, 250, 1, noticed=True, over="media", minute=NOW, replies=2)},
            {"spent": Spent(NOW + timedelta(milliseconds=1), 1)},
        ],
    )
    def test_what_is_left_out_of_a_message_is_read_back(self, dynamo: Stores, changes: dict[str, object]):
        said = message(1, **changes)
        dynamo.put([said], [])
        assert dynamo.conversations.newest_messages(CONVERSATION, 1) == [said]

    def test_what_surrounds_the_words_of_a_message_stays_small(self, dynamo: Stores):
        """Every turn reads some forty of them: 100 bytes more on each are one more unit to read."""
        spent = Spent(NOW, 12, 3_400, 2, minute=NOW, replies=3)
        event_id = "wamid.HBgLMzQ2MDAxMTEyMjIVAgASGBQ"
        said = message(400, "", event_id=event_id, message_id=event_id, spent=spent)
        usage = Usage(3000, 2500, 80)
        reply = message(
            401, "", "assistant", event_id=event_id, usage=usage, prompt_chars=9000, spent=spent, sent_at=NOW
        )
        dynamo.put([said, replace(reply, received_at=NOW)], [])
        sizes = [item_size(item) for item in items_of(dynamo.client, dynamo.tables["messages"])]
        assert max(sizes) <= 260

    def test_every_item_that_expires_says_when_in_whole_seconds(self, dynamo: Stores):
        stores = stores_on(dynamo.client, dynamo.tables, retention_days=7)
        stores.ledger.claim(turn(created_at=NOW.replace(microsecond=999_999)), message())
        kept = PastFact(fact(), NOW, "changed", 1)
        stores.compact(FactUpdate("name", "", 0, fact(), kept))
        in_7_days, in_30_days = 1796551200, 1798538400
        ends = {
            table: {int(item["expires_at"]["N"]) for item in items_of(dynamo.client, dynamo.tables[table])}
            for table in ("turns", "messages", "summaries", "facts")
        }
        assert ends == {
            "turns": {in_30_days},
            "messages": {in_7_days},
            "summaries": {in_7_days},
            "facts": {in_7_days},
        }
