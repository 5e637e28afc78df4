"""Compaction: one question to the model, one transaction, and nothing damaged when either fails."""

import pytest

from tests.builders import CONVERSATION, profile, summary
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.errors import AgentError, ModelAnswerUnusable, ModelUnavailable, StoreUnavailable
from whatsapp_agent.memory.exchange import CompactionAnswer
from whatsapp_agent.memory.records import CompactionJob, FactChange

JOB = CompactionJob(CONVERSATION, 0)
ANSWER = CompactionAnswer(
    "Maya lives in Lima.", (FactChange("set", "name", "Maya"), FactChange("set", "city", "Lima"))
)


def talked(model: ScriptedModel, exchanges: int = 6) -> World:
    model.will_reply(*[f"reply {place}" for place in range(exchanges)])
    world = World(model, compact_at=1000, keep_messages=4)
    for place in range(exchanges):
        world.say(f"evt_{place}", f"I am Maya and live in Lima {place}")
        world.run()
    return world


def test_a_compaction_writes_summary_and_facts_and_keeps_the_newest_messages() -> None:
    with ScriptedModel(compactions=[ANSWER]) as model:
        world = talked(model)
        assert world.compactor.compact(JOB, seconds=60)
    assert world.conversations.summary(CONVERSATION).text == "Maya lives in Lima."
    assert {fact.key: fact.value for fact in world.facts.facts(CONVERSATION)} == {
        "name": "Maya",
        "city": "Lima",
    }
    assert [message.seq for message in world.messages(CONVERSATION)] == [9, 10, 11, 12]
    assert len(model.compactions_asked) == 1


def test_the_model_is_asked_with_the_agents_keys_and_the_facts_that_are_known() -> None:
    with ScriptedModel(compactions=[ANSWER, CompactionAnswer("Same.", ())]) as model:
        world = talked(model)
        world.compactor.compact(JOB, seconds=60)
        model.will_reply("ok", "ok")
        for place in (7, 8):
            world.say(f"evt_{place}", "more")
            world.run()
        world.compactor.compact(CompactionJob(CONVERSATION, 8), seconds=60)
    assert set(model.keys_offered[0]) == set(profile().fact_keys)
    assert '"Lima"' in "".join(item.text for item in model.compactions_asked[1].items if item.kind == "facts")


def test_a_late_or_duplicated_job_asks_nobody_and_only_finishes_the_deletion() -> None:
    with ScriptedModel(compactions=[ANSWER]) as model:
        world = talked(model)
        world.tables.fail_next("delete_messages", StoreUnavailable("died"))
        with pytest.raises(StoreUnavailable):
            world.compactor.compact(JOB, seconds=60)
        assert len(world.messages(CONVERSATION)) == 12
        assert not world.compactor.compact(JOB, seconds=60)
    assert [message.seq for message in world.messages(CONVERSATION)] == [9, 10, 11, 12]
    assert world.conversations.summary(CONVERSATION).version == 1


@pytest.mark.parametrize(
    "answer", [CompactionAnswer("  ", ()), ModelAnswerUnusable("malformed"), ModelUnavailable("429")]
)
def test_a_failed_or_empty_answer_damages_nothing(answer: CompactionAnswer | AgentError) -> None:
    with ScriptedModel(compactions=[answer]) as model:
        world = talked(model)
        before = world.messages(CONVERSATION)
        with pytest.raises(AgentError):
            world.compactor.compact(JOB, seconds=60)
    assert world.messages(CONVERSATION) == before
    assert world.conversations.summary(CONVERSATION) == summary()
    assert world.facts.facts(CONVERSATION) == []


def test_two_compactions_at_once_write_one_summary() -> None:
    world: World

    def meanwhile(_: object) -> CompactionAnswer:
        world.compactor.compact(JOB, seconds=60)
        return CompactionAnswer("The slower one.", ())

    with ScriptedModel() as model:
        world = talked(model)
        model.will_compact(meanwhile, ANSWER)
        assert not world.compactor.compact(JOB, seconds=60)
    stored = world.conversations.summary(CONVERSATION)
    assert (stored.version, stored.text) == (1, "Maya lives in Lima.")


def test_an_erasure_during_a_compaction_leaves_nothing_to_be_written_back() -> None:
    world: World

    def meanwhile(_: object) -> CompactionAnswer:
        world.conversations.erase(CONVERSATION)
        world.facts.erase(CONVERSATION)
        return ANSWER

    with ScriptedModel() as model:
        world = talked(model)
        model.will_compact(meanwhile)
        assert not world.compactor.compact(JOB, seconds=60)
    assert world.conversations.summary(CONVERSATION) == summary()
    assert world.facts.facts(CONVERSATION) == []


def test_ten_compactions_keep_one_summary_and_a_bounded_prompt() -> None:
    with ScriptedModel() as model:
        world = talked(model)
        for round_ in range(10):
            model.will_compact(CompactionAnswer(f"Summary {round_}.", ()))
            job = CompactionJob(CONVERSATION, world.conversations.summary(CONVERSATION).through_seq)
            world.compactor.compact(job, seconds=60)
            model.will_reply(*["ok"] * 4)
            for place in range(4):
                world.say(f"evt_{round_}_{place}", f"talk {round_} {place}")
                world.run()
    stored = world.conversations.summary(CONVERSATION)
    assert (stored.version, stored.text) == (10, "Summary 9.")
    assert model.replies_asked[-1].chars < 4_000


def test_a_job_for_an_agent_that_is_no_longer_deployed_does_nothing() -> None:
    with ScriptedModel() as model:
        world = World(model)
        assert not world.compactor.compact(CompactionJob("gone#+34600111222", 0), seconds=60)
