"""A retention forgets who is silent, and nobody who talks."""

from tests.builders import CONVERSATION
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.errors import StoreUnavailable


def test_a_person_who_writes_now_and_then_is_not_forgotten() -> None:
    with ScriptedModel() as model:
        world = World(model, retention_days=30)
        for week in range(8):
            model.will_reply(f"reply {week}")
            world.say(f"evt_{week}", f"week {week}")
            world.run()
            world.wait(days=7)
        assert len(world.messages(CONVERSATION)) == 16
        world.wait(days=24)
        assert world.messages(CONVERSATION) == []


def test_activity_is_written_down_once_a_day() -> None:
    with ScriptedModel() as model:
        world = World(model, retention_days=30)
        for place in range(6):
            model.will_reply(f"reply {place}")
            world.say(f"evt_{place}", "hi")
            world.run()
            world.wait(hours=6)
    assert world.tables.calls.count("refresh") == 2


def test_a_retention_of_one_day_is_kept_to_as_well() -> None:
    with ScriptedModel() as model:
        world = World(model, retention_days=1)
        for place in range(6):
            model.will_reply(f"reply {place}")
            world.say(f"evt_{place}", "hi")
            world.run()
            world.wait(hours=20)
        assert len(world.messages(CONVERSATION)) == 12


def test_without_a_retention_nothing_is_read_or_written_for_it() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
    assert "refresh" not in world.tables.calls


def test_a_refresh_that_fails_fails_no_turn_and_is_made_up_for() -> None:
    with ScriptedModel(["one", "two"]) as model:
        world = World(model, retention_days=30)
        world.tables.fail_next("refresh", StoreUnavailable("away"))
        world.say("evt_1", "hi")
        world.run()
        assert world.provider.texts == ["one"]
        assert world.telemetry.counts["RetentionNotRefreshed"] == 1
        world.say("evt_2", "hi again")
        world.run()
    assert world.telemetry.counts["RetentionRefreshed"] == 1


def test_a_paused_person_who_writes_is_active() -> None:
    with ScriptedModel() as model:
        world = World(model, retention_days=30)
        world.conversations.set_state(
            CONVERSATION, opted_out_at=None, paused_until=world.clock.replace(year=2030)
        )
        world.say("evt_1", "hi")
        world.run()
    assert world.tables.calls.count("refresh") == 1
