"""Odd inputs and interleavings that once broke a promise: each stands for its kind."""

import json
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, NUMBER, PERSON, inbound, profile
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.errors import InvalidPayload, ProviderUnavailable
from whatsapp_agent.events import PersonChangedNumber, decode
from whatsapp_agent.memory.allowance import Limits
from whatsapp_agent.memory.outgoing import to_whatsapp
from whatsapp_agent.turns.fitting import ContextLimits

OTHER, USER_ID = "+34600999888", "US.1349120865530274"
FORGETS = {"sales": profile(erase_words=("forget me",))}


def remembered(world: World) -> list[str]:
    return [kept.record.text for places in world.tables.messages.values() for kept in places.values()]


def shown(model: ScriptedModel) -> str:
    return "\n".join(item.text for item in model.replies_asked[-1].items)


def test_forgetting_takes_what_was_said_under_the_new_number_before_the_change_was_told() -> None:
    model = ScriptedModel(["r"] * 9)
    world = World(model, profiles=FORGETS)
    world.say("e1", "hi from my old number")
    world.run()
    world.say("e2", "new phone, the word is xylophone", person=OTHER, address=OTHER)
    world.run()
    world.arrive(PersonChangedNumber("c", PERSON, OTHER, NUMBER, world.clock))
    world.run()
    world.wait(minutes=1)
    world.say("e3", "forget me", person=OTHER, address=OTHER)
    world.run()
    world.compact()
    assert remembered(world) == []
    world.wait(minutes=1)
    world.say("e4", "hello", person=OTHER, address=OTHER)
    world.run()
    assert "xylophone" not in shown(model)


def test_forgetting_takes_what_was_said_under_the_user_id_alone() -> None:
    world = World(ScriptedModel(["r"] * 9), profiles=FORGETS)
    world.say("e1", "hi")
    world.run()
    world.say("e2", "the word is xylophone", person=USER_ID, address=USER_ID)
    world.run()
    world.say("e3", "both", alias=USER_ID)
    world.run()
    world.wait(minutes=1)
    world.say("e4", "forget me", alias=USER_ID)
    world.run()
    world.compact()
    assert remembered(world) == []


def test_a_late_second_delivery_after_an_erasure_writes_nothing_back_and_is_not_answered_again() -> None:
    world = World(ScriptedModel(["r"] * 9), profiles=FORGETS)
    world.say("e1", "the word is xylophone")
    world.run()
    world.wait(minutes=5)
    world.say("e2", "forget me")
    world.run()
    world.wait(minutes=6)
    world.arrive(inbound("e1", "the word is xylophone", sent_at=NOW, received_at=world.clock))
    world.run()
    assert remembered(world) == []
    assert world.provider.texts.count("r") == 1


def test_a_late_second_delivery_of_the_wish_forgets_no_new_talk() -> None:
    world = World(ScriptedModel(["r"] * 9), profiles=FORGETS)
    world.say("e1", "forget me")
    world.run()
    world.wait(minutes=2)
    world.say("e2", "I am Ana")
    world.run()
    world.wait(minutes=6)
    world.arrive(inbound("e1", "forget me", sent_at=NOW, received_at=world.clock))
    world.run()
    assert remembered(world) == ["I am Ana", "r"]


def test_new_talk_is_kept_whatever_the_providers_clock_says() -> None:
    world = World(ScriptedModel(["r"] * 9), profiles=FORGETS)
    world.say("e1", "forget me")
    world.run()
    world.wait(seconds=5)
    world.arrive(inbound("e2", "I am Ana", sent_at=NOW - timedelta(minutes=2), received_at=world.clock))
    world.run()
    assert remembered(world) == ["I am Ana", "r"]


@pytest.mark.parametrize(("context", "compact_at", "keep"), [(20, 40, 20), (60, 500, 400), (2, 2, 1)])
def test_nothing_falls_between_the_window_and_compaction(context: int, compact_at: int, keep: int) -> None:
    world = World(
        ScriptedModel(["r"] * 100),
        limits=ContextLimits(12_000, context),
        compact_at=compact_at,
        keep_messages=keep,
    )
    for number in range(100):
        world.wait(minutes=2)
        world.say(f"e{number}", f"hello {number}")
        world.run()
    assert world.compaction_queue.jobs


def _record(**changes: object) -> str:
    values = {
        "v": 1, "event": "message", "event_id": "p", "person": PERSON, "address": PERSON, "number": NUMBER,
        "message_id": "m", "kind": "text", "text": "x", "sent_at": "2026-11-29T10:00:00Z",
        "received_at": "2026-11-29T10:00:00Z",
    }  # fmt: skip
    return json.dumps(values | changes)


def test_a_record_with_a_wrong_type_goes_alone() -> None:
    world = World(ScriptedModel(["r"] * 9))
    world.queue.fifo.put(PERSON, "p", _record(text=None))
    for number in range(4):
        world.say(f"e{number}", f"hello {number}")
    world.run()
    assert len(world.queue.fifo.dead) == 1
    assert world.provider.texts[-1] == "r"


@pytest.mark.parametrize(
    "body",
    ["[" * 100_000, _record(text=1), _record(event_id=["x"]), _record(person=None), _record(media={"id": 1}),
     _record(received_at="0001-01-01T00:00:00+23:59")],
)  # fmt: skip
def test_what_is_no_event_is_an_invalid_payload(body: str) -> None:
    with pytest.raises(InvalidPayload):
        decode(body)


def test_any_depth_of_quotation_can_be_sent() -> None:
    assert to_whatsapp(">" * 5_000).startswith("> >")
    world = World(ScriptedModel([">" * 2_000] * 9))
    world.say("e1", "draw a line of arrows")
    world.run()
    assert not world.queue.fifo.dead


@pytest.mark.parametrize("text", ["", "\u200b"])
def test_an_edit_without_words_costs_no_words(text: str) -> None:
    model = ScriptedModel(["r"] * 9)
    world = World(model)
    world.say("e1", "the word is xylophone")
    world.say("e2", text, kind="edited", target_id="msg_e1")
    world.run()
    assert "xylophone" in shown(model)
    assert remembered(world) == ["the word is xylophone", "r"]


def test_an_edit_without_words_of_a_message_that_is_not_known_is_not_remembered() -> None:
    world = World(ScriptedModel())
    world.say("e1", "", kind="edited", target_id="msg_0")
    world.run()
    assert remembered(world) == []


def test_a_message_that_was_edited_to_stop_before_it_was_answered_is_a_stop() -> None:
    world = World(ScriptedModel(["r"] * 9))
    world.say("e1", "STPO")
    world.say("e2", "STOP", kind="edited", target_id="msg_e1")
    world.run()
    assert world.conversations.summary(CONVERSATION).opted_out_at is not None
    assert "r" not in world.provider.texts


def test_a_stop_that_was_edited_away_before_it_was_answered_is_none() -> None:
    world = World(ScriptedModel(["r"] * 9))
    world.say("e1", "STOP")
    world.say("e2", "Stop on Mondays, please", kind="edited", target_id="msg_e1")
    world.run()
    assert world.provider.texts == ["r"]


def test_both_keys_lead_to_one_memory_again_after_an_erasure() -> None:
    world = World(ScriptedModel(["r"] * 9), profiles=FORGETS)
    world.say("e1", "hi", alias=USER_ID)
    world.run()
    world.say("e2", "forget me", alias=USER_ID)
    world.run()
    world.wait(minutes=1)
    world.say("e3", "I am Ana", alias=USER_ID)
    world.run()
    world.say("e4", "me, by user id", person=USER_ID, address=USER_ID)
    world.run()
    assert [m.text for m in world.messages(CONVERSATION)] == ["I am Ana", "r", "me, by user id", "r"]


def test_a_time_in_the_future_limits_nobody_later() -> None:
    world = World(ScriptedModel(["r"] * 40), profiles={"sales": profile(limits=Limits())})
    world.arrive(inbound("f", "hi", sent_at=world.clock + timedelta(days=400), received_at=world.clock))
    world.run()
    for number in range(20):
        world.wait(hours=5)
        world.say(f"e{number}", "hi")
        world.run()
    assert set(world.provider.texts) == {"r"}


def test_the_confirmation_of_an_agents_own_stop_word_is_sent_although_a_human_took_over() -> None:
    world = World(ScriptedModel(), profiles={"sales": profile(stop_words=("basta",))})
    world.provider.fail(ProviderUnavailable("away"))
    world.say("e1", "basta")
    world.invoke()
    state = world.conversations.summary(CONVERSATION)
    world.conversations.set_state(
        CONVERSATION, opted_out_at=state.opted_out_at, paused_until=world.clock + timedelta(hours=1)
    )
    world.run()
    assert len(world.provider.texts) == 1
