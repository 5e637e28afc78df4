"""Whom the messages of one batch are for: looked up once per sender, and once more where time could matter."""

from datetime import timedelta

from tests.builders import NOW, PERSON, inbound
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.memory.records import conversation_key

SALES = conversation_key("sales", PERSON)
MOVED = "+34600555666"


def sent(world: World, *seconds: int) -> None:
    for place, second in enumerate(seconds):
        at = NOW + timedelta(seconds=second)
        world.arrive(inbound(f"evt_{place}", f"message {place}", sent_at=at, received_at=world.clock))


def test_a_burst_of_one_sender_asks_the_directory_about_its_first_and_its_last_message() -> None:
    with ScriptedModel(["Hello"]) as model:
        world = World(model)
        sent(world, 0, 1, 2, 3, 4)
        world.run()
    assert world.tables.calls.count("resolve") == 2
    assert [message.text for message in world.messages(SALES)][:5] == [f"message {n}" for n in range(5)]


def test_an_address_that_changed_hands_within_a_burst_leads_to_both_owners() -> None:
    with ScriptedModel(["To the first", "To the second"]) as model:
        world = World(model)
        # They wrote three messages from their number, then moved; who has it now writes from it, too.
        world.directory.move_person(PERSON, MOVED, NOW + timedelta(seconds=25))
        sent(world, 0, 20, 30, 10)
        world.run()
    conversations = [key for key, messages in world.tables.messages.items() if messages]
    assert len(conversations) == 2
    assert sorted(
        [message.text for message in world.messages(key) if message.role == "user"] for key in conversations
    ) == [["message 0", "message 1", "message 3"], ["message 2"]]
