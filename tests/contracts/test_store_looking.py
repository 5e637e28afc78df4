"""What operators and erasures look up: turns of a conversation, other addresses, who is there at all."""

from tests.builders import CONVERSATION, NOW, PERSON, fact, message, turn
from tests.contracts.stores import Stores
from whatsapp_agent.clock import utc_now
from whatsapp_agent.memory.records import FactUpdate
from whatsapp_agent.store.census import DynamoCensus

OTHER = "sales#+34600999888"
ALIAS, SECOND = "US.1349120865", "+34699000000"


def test_turns_come_oldest_first_and_expired_ones_not_at_all(stores: Stores) -> None:
    stores.put([], [turn(f"evt_{seq}", seq=seq) for seq in (3, 1, 2)])
    assert [each.seq for each in stores.ledger.turns(CONVERSATION)] == [1, 2, 3]
    assert stores.ledger.turns(OTHER) == []
    stores.clock.advance(days=31)
    assert stores.ledger.turns(CONVERSATION) == []


def test_a_persons_addresses_are_known_and_forgotten_together(stores: Stores) -> None:
    directory = stores.directory
    for alias in (ALIAS, SECOND, ALIAS):
        directory.alias_person(alias, PERSON)
    assert sorted(directory.aliases(PERSON)) == sorted([ALIAS, SECOND])
    assert directory.forget_person(PERSON) == 2
    assert directory.aliases(PERSON) == []
    assert directory.resolve("", ALIAS).person == ALIAS
    assert directory.forget_person(PERSON) == 0


def test_forgetting_a_person_leaves_addresses_that_lead_to_others_by_now(stores: Stores) -> None:
    directory = stores.directory
    directory.alias_person(ALIAS, PERSON)
    directory.alias_person(ALIAS, SECOND)
    directory.forget_person(PERSON)
    assert directory.resolve("", ALIAS).person == SECOND
    assert list(directory.aliases(SECOND)) == [ALIAS]


def test_the_census_knows_everybody_of_whom_anything_is_stored(dynamo: Stores) -> None:
    tables = dynamo.tables
    dynamo.put([message(1), message(2)], [turn()])
    dynamo.facts.write(OTHER, [FactUpdate("name", "", 0, fact("name", "Tom", conversation=OTHER), None)])
    dynamo.conversations.set_state("sales#+34611", opted_out_at=NOW, paused_until=None)
    census = DynamoCensus(
        dynamo.client,
        turns=tables["turns"],
        summaries=tables["summaries"],
        partitions=[(tables[name], "conversation") for name in ("messages", "turns", "summaries", "facts")],
        now=dynamo.clock,
    )
    assert census.conversations() == sorted([CONVERSATION, OTHER, "sales#+34611"])
    assert [each.event_id for each in census.turns()] == ["evt_1"]
    assert [each.opted_out_at for each in census.summaries()] == [NOW]
    dynamo.clock.moment = utc_now().replace(year=2100)
    assert list(census.turns()) == []


def test_a_census_reads_every_page(dynamo: Stores) -> None:
    people = [f"sales#+346001{place:05d}" for place in range(30)]
    dynamo.put([message(1, "x" * 100_000, conversation=person) for person in people], [])
    census = DynamoCensus(
        dynamo.client,
        turns=dynamo.tables["turns"],
        summaries=dynamo.tables["summaries"],
        partitions=[(dynamo.tables["messages"], "conversation")],
        now=dynamo.clock,
    )
    assert census.conversations() == people
