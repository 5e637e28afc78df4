"""A wish to be forgotten that the queue hands out again must not meet what the person wrote after it."""

from datetime import timedelta

from tests.builders import CONVERSATION, PERSON, inbound
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.events import Erase, Event

A_SECOND = timedelta(seconds=1)


def arrive_together(world: World, wish: Event) -> None:
    before = inbound("evt_1", "hello", received_at=world.clock - A_SECOND)
    after = inbound("evt_3", "hello again", sent_at=world.clock, received_at=world.clock + A_SECOND)
    world.arrive(before, wish, after)


def remembered(world: World) -> list[str]:
    return [message.text for message in world.messages(CONVERSATION)]


def test_what_is_behind_an_erasure_is_handled_when_the_erasure_is_out_of_the_queue() -> None:
    with ScriptedModel(["one", "two"]) as model:
        world = World(model)
        arrive_together(world, Erase("erase_1", "sales", PERSON, world.clock))
        assert len(world.invoke()) == 1
        assert (remembered(world), world.provider.texts) == ([], ["one"])
        world.run()
    assert (remembered(world), world.provider.texts) == (["hello again", "two"], ["one", "two"])


def test_what_is_behind_a_stop_that_forgets_waits_as_well() -> None:
    with ScriptedModel(["two"]) as model:
        world = World(model, forget_on_opt_out=True)
        arrive_together(world, inbound("evt_2", "STOP", sent_at=world.clock, received_at=world.clock))
        assert len(world.invoke()) == 1
        assert remembered(world) == []
        world.run()
    assert remembered(world) == ["hello again", "two"]


def test_a_message_on_its_last_attempt_does_not_wait() -> None:
    with ScriptedModel(["one", "two"]) as model:
        world = World(model, max_receive_count=1)
        arrive_together(world, Erase("erase_1", "sales", PERSON, world.clock))
        assert world.invoke() == []
    assert remembered(world) == ["hello again", "two"]
