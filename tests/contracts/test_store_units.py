"""What a turn costs in DynamoDB's units, with short and with long histories."""

import pytest

from tests.builders import CONVERSATION, NOW, NUMBER, PERSON, fact, message, turn
from tests.contracts.stores import Stores, dynamo_stores
from tests.contracts.units import Meter
from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.memory.records import FactUpdate, PastFact, Usage

pytestmark = pytest.mark.emulator


@pytest.fixture
def stores(emulator: str) -> Stores:
    return dynamo_stores(emulator, retention_days=365)


def fill(stores: Stores, messages: int) -> None:
    """A conversation with 40 pending messages of everyday length, 20 facts and a long history of facts."""
    first = messages - 39
    stores.put(
        [message(seq, "word " * 20, event_id=f"wamid.HBgLMzQ2MDAx{seq:012}") for seq in range(1, messages + 1)],
        [],
    )
    facts = [fact(f"key_{n}", "a value of some words, as people say it") for n in range(20)]
    stores.compact(*(FactUpdate(each.key, "", 0, each, None) for each in facts), newest_seq=messages)
    before = [PastFact(fact("city", f"city {n}", version=n), NOW, "changed", 1) for n in range(messages // 10)]
    stores.compact(
        *(FactUpdate("city", "", 0, None, each) for each in before), expected_version=1, newest_seq=messages
    )
    stores.conversations.delete_messages(CONVERSATION, first - 1)


def text_turn(stores: Stores, seq: int) -> None:
    """One text message that is answered with one part, as the reply function does it."""
    stores.directory.resolve(NUMBER, PERSON)
    stores.conversations.newest_messages(CONVERSATION, 60)
    stores.conversations.summary(CONVERSATION)
    stores.facts.facts(CONVERSATION)
    stores.directory.erased_at(CONVERSATION)
    waiting = turn("wamid.HBgLMzQ2MDAxMTEyMjIVAgASGBQ", seq=seq)
    spent = Spent(NOW, 12, 3_400, 2, minute=NOW, replies=3)
    received = message(
        seq, "word " * 20, event_id=waiting.event_id, message_id=waiting.event_id, quote="words", spent=spent
    )
    stores.ledger.claim(waiting, received)
    usage = Usage(3000, 2500, 80)
    parts = ("answer " * 50,)
    replied = turn(waiting.event_id, "replied", seq, reply_seq=seq + 1, parts=parts, usage=usage)
    told = {"usage": usage, "prompt_chars": 9000, "spent": spent}
    reply = message(seq + 1, parts[0], "assistant", event_id=waiting.event_id, **told)
    stores.ledger.commit(reply, replied, [])
    # Beside the commit: whether somebody asked for silence meanwhile.
    stores.conversations.summary(CONVERSATION)
    stores.ledger.mark_sent(replied, "wamid.HBgLMzQ2MDAxMTEyMjIVAgARGBI5QTNDQTVCM0Q0Q0Q2RTY3RTcA")


@pytest.mark.parametrize("messages", [40, 400])
def test_a_text_turn_costs_the_same_however_long_the_history_is(stores: Stores, messages: int):
    fill(stores, messages)
    meter = Meter(stores.client)
    text_turn(stores, messages + 1)
    assert meter.units == {"write": 9, "read": 9}
    assert meter.calls == {"read": 6, "write": 3}


def test_an_event_that_was_claimed_before_costs_one_call(stores: Stores):
    stores.ledger.claim(turn(), message())
    meter = Meter(stores.client)
    stores.ledger.claim(turn(), message())
    assert sum(meter.calls.values()) == 1


def test_a_number_is_read_once_in_a_while(stores: Stores):
    stores.directory.assign_number(NUMBER, "sales")
    stores.directory.alias_person("US.1349", PERSON)
    meter = Meter(stores.client)
    stores.directory.resolve(NUMBER, "US.1349")
    assert meter.units["read"] == 1
    stores.directory.resolve(NUMBER, "US.1349")
    assert meter.units["read"] == 1.5


def test_an_alias_that_is_known_is_not_written_again(stores: Stores):
    stores.directory.alias_person("US.1349", PERSON)
    meter = Meter(stores.client)
    stores.directory.alias_person("US.1349", PERSON)
    assert meter.units["write"] == 0
