"""Travelling in time on the playground page: the store reads what became older as it reads everything."""

from datetime import timedelta

from tests.builders import CONVERSATION, NOW, fact, message
from tests.contracts.stores import Stores
from tools.local.playground.aging import age
from whatsapp_agent.memory.records import FactUpdate

DAYS = 21


def test_three_weeks_later_everything_is_older_and_short_lived_facts_have_expired(dynamo: Stores):
    dynamo.put([message(1, "I feel tired", sent_at=NOW), message(2, "Sorry", "assistant")], [])
    mood = fact("mood", "tired", updated_at=NOW, expires_at=NOW + timedelta(days=7))
    plan = fact("plans", "a journey", item="a1", created_at=NOW, expires_at=NOW + timedelta(days=60))
    updates = [FactUpdate(each.key, each.item, 0, each, None) for each in (mood, plan)]
    dynamo.facts.write(CONVERSATION, updates)

    assert dynamo.client is not None
    tables = {"MessagesTable": dynamo.tables["messages"], "FactsTable": dynamo.tables["facts"]}
    age(dynamo.client, tables, CONVERSATION, DAYS, dynamo.clock())

    first = dynamo.conversations.newest_messages(CONVERSATION, 10)[0]
    assert first.sent_at == NOW - timedelta(days=DAYS)
    assert first.received_at == message(1).received_at
    (kept,) = dynamo.facts.facts(CONVERSATION)
    assert kept.key == "plans"
    assert kept.expires_at == NOW + timedelta(days=60 - DAYS)
    assert kept.created_at == NOW - timedelta(days=DAYS)
    (past,) = dynamo.facts.history(CONVERSATION)
    assert (past.fact.key, past.reason) == ("mood", "expired")
    assert past.replaced_at == NOW + timedelta(days=7 - DAYS)
