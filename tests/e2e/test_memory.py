"""A long talk becomes summary and facts; prompts keep to their budget."""

from tests.e2e.watching import content_of, idle, reply_inputs
from tools.local.state import ROOT
from tools.local.talk import poll
from whatsapp_agent.agents import load_agent

KEEP_MESSAGES = 20
CONTEXT_CHARS = 12_000
CONTEXT_MESSAGES = 60

TOLD = (
    "Hola, me llamo Maya.",
    "Vivo en Sevilla.",
    "Trabajo como enfermera en un hospital.",
    "Me gusta la música cubana.",
    "Mi hermana se llama Laura.",
)


def test_a_talk_of_45_messages_becomes_one_summary_and_facts(talk, person):
    texts = [*TOLD, *(f"Hoy he pensado en la cosa número {number}." for number in range(40))]
    for start in range(0, len(texts), 9):
        deliveries = talk.write(person, *texts[start : start + 9])
        assert talk.wait_until_answered(person, [delivery["event_id"] for delivery in deliveries])
    assert poll(lambda: talk.remembered(person).summary.version >= 1, 90)
    assert idle(talk)
    kept = talk.remembered(person)

    assert kept.summary.text.strip()
    keys = load_agent(ROOT / "layers" / "agents", talk.info.agent_id).fact_keys
    assert {fact.key for fact in kept.facts} <= keys.keys()
    assert kept.values("name") == ["Maya"]
    assert any("Sevilla" in value for value in kept.values("city"))
    assert any("enfermera" in value for value in kept.values("job"))

    seqs = [message.seq for message in kept.messages]
    assert seqs == list(range(kept.summary.through_seq + 1, kept.summary.through_seq + 1 + len(seqs)))
    # The newest 20 (up to one exchange more, so that none is cut), and what was said since.
    assert KEEP_MESSAGES <= len(seqs) < 40 + KEEP_MESSAGES
    told = len([message for message in kept.messages if message.role == "user"])
    assert told < 45

    (last,) = talk.write(person, "¿Cómo me llamo?")
    assert talk.wait_until_answered(person, [last["event_id"]])
    assert "Maya" in talk.received(person)[-1]["text"]


def test_every_prompt_keeps_to_the_budget_however_long_the_messages_are(talk, person):
    profile = load_agent(ROOT / "layers" / "agents", talk.info.agent_id)
    not_talk = (profile.phrases.memory_label, profile.phrases.notes_label)
    mark = f"({person[-7:]})"
    for number in range(6):
        texts = [f"{mark} {number} " + "una frase que no acaba " * 70 for _ in range(2)]
        deliveries = talk.write(person, *texts)
        assert talk.wait_until_answered(person, [delivery["event_id"] for delivery in deliveries])
    prompts = reply_inputs(talk, mark)
    assert len(prompts) >= 6
    for items in prompts:
        said = [content_of(item) for item in items if not content_of(item).startswith(not_talk)]
        assert len(said) <= CONTEXT_MESSAGES
        assert sum(map(len, said)) <= CONTEXT_CHARS


def test_an_erased_person_is_a_stranger(talk, person):
    (first,) = talk.write(person, "Hola, me llamo Maya.")
    assert talk.wait_until_answered(person, [first["event_id"]])
    assert not talk.remembered(person).empty
    talk.erase(person)
    assert poll(lambda: talk.remembered(person).empty, 60)
    assert talk.turn_states(person) == {}
    (second,) = talk.write(person, "¿Cómo me llamo?")
    assert talk.wait_until_answered(person, [second["event_id"]])
    assert "Maya" not in talk.received(person)[-1]["text"]


def test_a_replaced_number_changes_no_memory(talk, person):
    (first,) = talk.write(person, "Hola, me llamo Maya.", number="+15550177")
    assert talk.wait_until_answered(person, [first["event_id"]])
    talk.control("replace_number", {"old": "+15550177", "new": "+15550178"})
    assert idle(talk)
    (second,) = talk.write(person, "¿Cómo me llamo?", number="+15550178")
    assert talk.wait_until_answered(person, [second["event_id"]])
    reply = talk.received(person)[-1]
    assert reply["number"] == "+15550178"
    assert "Maya" in reply["text"]
