"""Facts that the person can see at work: corrected at once, kept with their past, forgotten on request."""

from tools.local.clients import client
from whatsapp_agent.clock import utc_now
from whatsapp_agent.memory.records import PastFact, conversation_key
from whatsapp_agent.store.facts import DynamoFactStore


def history(talk, person) -> list[PastFact]:
    table = talk.info.outputs["FactsTable"]
    store = DynamoFactStore(client("dynamodb", talk.info.endpoint), facts=table, now=utc_now)
    return store.history(conversation_key(talk.info.agent_id, person))


def say(talk, person, text) -> str:
    (delivery,) = talk.write(person, text)
    assert talk.wait_until_answered(person, [delivery["event_id"]])
    return str(talk.received(person)[-1]["text"])


def test_a_move_replaces_the_city_and_the_history_names_day_and_message(talk, person):
    say(talk, person, "Hola, vivo en Lisboa")
    assert talk.remembered(person).values("city") == ["Lisboa"]
    say(talk, person, "Me mudé a Berlín")
    kept = talk.remembered(person)
    assert kept.values("city") == ["Berlín"]
    [past] = history(talk, person)
    assert (past.fact.value, past.reason) == ("Lisboa", "changed")
    by_place = {message.seq: message for message in kept.messages}
    assert by_place[past.evidence_seq].text == "Me mudé a Berlín"
    assert by_place[past.fact.evidence_seq].text == "Hola, vivo en Lisboa"
    assert past.replaced_at >= by_place[past.evidence_seq].received_at


def test_what_a_person_asks_to_forget_is_gone_with_its_past(talk, person):
    say(talk, person, "Vivo en Lisboa")
    say(talk, person, "Me mudé a Berlín")
    assert say(talk, person, "Olvida que vivo en Berlín") == "Lo he olvidado."
    assert talk.remembered(person).values("city") == []
    assert history(talk, person) == []
