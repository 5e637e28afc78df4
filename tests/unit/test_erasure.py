"""Erasures: complete, in the person's own order, and final for whatever was on its way."""

from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, PERSON, fact, inbound, profile
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.errors import StoreUnavailable
from whatsapp_agent.events import Erase, encode
from whatsapp_agent.memory.exchange import CompactionAnswer
from whatsapp_agent.memory.passages import Passage
from whatsapp_agent.memory.records import CompactionJob, FactUpdate, conversation_key

ALIAS = "+34699000000"
AGENTS = {"sales": profile(), "companion": profile(agent_id="companion", name="Luna")}


def talked(model: ScriptedModel, exchanges: int = 6) -> World:
    model.will_reply(*[f"reply {place}" for place in range(exchanges)])
    world = World(model, profiles=AGENTS, compact_at=1000, keep_messages=4, archive=True)
    for place in range(exchanges):
        world.say(f"evt_{place}", f"I am Maya {place}")
        world.run()
    return world


def erase(world: World, person: str = PERSON) -> None:
    world.arrive(Erase("erase_1", "sales", person, world.clock))
    world.run()


def kept_of(world: World, conversation: str = CONVERSATION) -> int:
    tables = world.tables
    held = (tables.messages, tables.turns, tables.facts, tables.history)
    return (
        sum(len(table.get(conversation, ())) for table in held)
        + (conversation in tables.summaries)
        + len(list(world.archive.messages(conversation)))
        + len(world.recall.owned.get(conversation, ()))
    )


def test_everything_everywhere_goes() -> None:
    with ScriptedModel(compactions=[CompactionAnswer("They talked.", ())]) as model:
        world = talked(model)
        world.compactor.compact(CompactionJob(CONVERSATION, 0), seconds=60)
        world.facts.write(CONVERSATION, [FactUpdate("name", "", 0, fact(), None)])
        world.recall.put([Passage(CONVERSATION, 100, "an episode")])
        world.queue.fifo.dead.append(encode(inbound("evt_dead", received_at=NOW - timedelta(hours=1))))
        assert kept_of(world) > 10
        erase(world)
        world.compact()
    assert kept_of(world) == 0
    assert world.queue.fifo.dead == []


def test_a_compaction_in_flight_leaves_nothing_in_the_archive() -> None:
    """It archives before it commits; the erasure comes between the two."""
    with ScriptedModel(compactions=[CompactionAnswer("They talked.", ())]) as model:
        world = talked(model)
        keep = world.archive.keep

        def erased_meanwhile(conversation: str, messages: object) -> None:
            erase(world)
            keep(conversation, messages)  # type: ignore[arg-type]

        world.archive.keep = erased_meanwhile  # type: ignore[method-assign, assignment]
        assert not world.compactor.compact(CompactionJob(CONVERSATION, 0), seconds=60)
        assert kept_of(world) > 0, "what was in flight wrote behind the erasure"
        world.compact()
    assert kept_of(world) == 0


def test_what_a_person_says_after_asking_is_a_new_start_and_stays() -> None:
    with ScriptedModel() as model:
        world = talked(model, exchanges=1)
        asked_at = world.clock
        world.wait(seconds=30)
        model.will_reply("who are you?")
        world.arrive(Erase("erase_1", "sales", PERSON, asked_at))
        world.say("evt_after", "hello again")
        world.run()
        world.compact()
    assert [message.text for message in world.messages(CONVERSATION)] == ["hello again", "who are you?"]


def test_an_operators_clock_that_is_ahead_drops_nothing_that_comes_later() -> None:
    with ScriptedModel() as model:
        world = talked(model, exchanges=1)
        world.arrive(Erase("erase_1", "sales", PERSON, world.clock + timedelta(hours=2)))
        world.run()
        world.wait(minutes=1)
        model.will_reply("who are you?")
        world.say("evt_after", "hello again")
        world.run()
    assert len(world.messages(CONVERSATION)) == 2


@pytest.mark.parametrize("call", ["record_erasure", "erase", "erase_facts", "aliases"])
def test_an_erasure_that_breaks_off_is_finished_by_its_retry(call: str) -> None:
    with ScriptedModel() as model:
        world = talked(model)
        world.tables.fail_next(call, StoreUnavailable("died"), after=True)
        erase(world)
    assert kept_of(world) == 0


def test_an_erasure_that_cannot_queue_its_last_job_is_tried_again() -> None:
    with ScriptedModel() as model:
        world = talked(model)
        world.compaction_queue.fail()
        erase(world)
    assert [job.erased_at is not None for job in world.compaction_queue.jobs] == [True]


def test_other_addresses_of_the_person_are_forgotten_and_their_messages_dropped() -> None:
    with ScriptedModel() as model:
        world = talked(model)
        world.directory.alias_person(ALIAS, PERSON)
        late = inbound("evt_late", person=ALIAS, address=ALIAS, received_at=NOW - timedelta(minutes=1))
        erase(world, ALIAS)
        assert world.directory.aliases(PERSON) == []
        world.arrive(late)
        world.run()
    assert kept_of(world) == 0
    assert kept_of(world, conversation_key("sales", ALIAS)) == 0


def test_other_addresses_stay_while_another_agent_remembers_the_person() -> None:
    with ScriptedModel() as model:
        world = talked(model)
        world.directory.alias_person(ALIAS, PERSON)
        other = conversation_key("companion", PERSON)
        world.facts.write(other, [FactUpdate("name", "", 0, fact(conversation=other), None)])
        erase(world)
    assert world.directory.aliases(PERSON) == [ALIAS]
    assert [each.value for each in world.facts.facts(other)] == ["Maya"]


def test_nobody_elses_dead_letters_and_jobs_are_touched() -> None:
    with ScriptedModel() as model:
        world = talked(model, exchanges=1)
        others = encode(inbound("evt_other", person="+34600999888", received_at=NOW - timedelta(hours=1)))
        world.queue.fifo.dead.append(others)
        erase(world)
    assert world.queue.fifo.dead == [others]
