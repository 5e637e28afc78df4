"""Turns: claimed once, answered once for everything that was said, sent part by part."""

from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, NUMBER, PERSON, inbound, profile
from tests.fakes.model import ScriptedModel
from tests.fakes.provider import FakeProvider
from tests.fakes.world import World
from whatsapp_agent.errors import (
    ContextTooLong,
    ModelRefused,
    ModelUnavailable,
    ProviderUnavailable,
    SendRejected,
    StoreUnavailable,
    WindowClosed,
)
from whatsapp_agent.events import DeliveryStatus, Erase, NumberReplaced, OptOut, PersonChangedNumber
from whatsapp_agent.memory.exchange import CompactionAnswer, ModelReply
from whatsapp_agent.memory.records import FactChange, Usage

OTHER = "+34600999888"


def states(world: World, *event_ids: str, conversation: str = CONVERSATION) -> list[str]:
    turns = [world.ledger.turn(conversation, event_id) for event_id in event_ids]
    return [turn.state if turn else "absent" for turn in turns]


def said(world: World, conversation: str = CONVERSATION) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in world.messages(conversation)]


def test_a_message_is_remembered_answered_and_sent() -> None:
    with ScriptedModel([ModelReply("Hello Maya", Usage(100, 50, 5))]) as model:
        world = World(model)
        world.say("evt_1", "I am Maya")
        world.run()
    assert said(world) == [("user", "I am Maya"), ("assistant", "Hello Maya")]
    assert states(world, "evt_1") == ["sent"]
    (sent,) = world.provider.sent
    assert (sent.number, sent.address, sent.text) == (NUMBER, PERSON, "Hello Maya")
    assert world.provider.typed == [(NUMBER, PERSON, "msg_evt_1")]
    reply = world.messages(CONVERSATION)[1]
    assert reply.usage == Usage(100, 50, 5)
    assert reply.prompt_chars == model.replies_asked[0].chars


def test_a_burst_is_answered_once_with_everything_in_view() -> None:
    with ScriptedModel(["Here is the code"]) as model:
        world = World(model)
        world.say("evt_1", "send me the code")
        world.say("evt_2", "my document is 12")
        world.run()
    assert [item.text for item in model.replies_asked[0].items if item.kind == "new"] == [
        "send me the code",
        "my document is 12",
    ]
    assert states(world, "evt_1", "evt_2") == ["covered", "sent"]
    assert world.provider.texts == ["Here is the code"]


def test_a_redelivered_event_sends_nothing_twice_even_after_the_queue_forgot_it() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
        world.wait(minutes=6)
        world.say("evt_1", "hi")
        world.run()
    assert world.provider.texts == ["hello"]
    assert len(said(world)) == 2


def test_a_reply_that_was_written_down_is_not_paid_for_again() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.provider.fail(ProviderUnavailable("down"), ProviderUnavailable("down"))
        world.say("evt_1", "hi")
        world.run()
    assert model.calls == 1
    assert world.provider.texts == ["hello"]
    assert states(world, "evt_1") == ["sent"]


def test_sending_resumes_at_the_first_part_that_is_not_marked_sent() -> None:
    long_reply = ("a" * 4000 + "\n\n") + ("b" * 4000)
    with ScriptedModel([long_reply]) as model:
        world = World(model)
        world.provider.fail(None, ProviderUnavailable("503"))
        world.say("evt_1", "hi")
        world.run()
    assert [text[0] for text in world.provider.texts] == ["a", "b"]
    assert world.provider.attempts == 3


def test_a_part_whose_marking_was_lost_goes_out_again_under_the_same_key() -> None:
    for idempotent, times_shown in ((True, 1), (False, 2)):
        with ScriptedModel(["hello"]) as model:
            world = World(model, provider=FakeProvider(idempotent=idempotent))
            world.tables.fail_next("mark_sent", StoreUnavailable("died"))
            world.say("evt_1", "hi")
            world.run()
        assert world.provider.texts == ["hello"] * times_shown
        assert states(world, "evt_1") == ["sent"]


def test_a_failing_model_retries_the_reply_and_not_the_messages() -> None:
    with ScriptedModel([ModelUnavailable("overloaded"), "hello"]) as model:
        world = World(model)
        world.say("evt_1", "one")
        world.say("evt_2", "two")
        failed = world.invoke()
        assert len(failed) == 1, "only the newest record is handed out again"
        assert states(world, "evt_1", "evt_2") == ["claimed", "claimed"]
        world.run()
    assert world.provider.texts == ["hello"]
    assert states(world, "evt_1", "evt_2") == ["covered", "sent"]
    assert said(world) == [("user", "one"), ("user", "two"), ("assistant", "hello")]


def test_a_failed_record_is_retried_after_seconds_that_grow() -> None:
    with ScriptedModel([ModelUnavailable("x"), ModelUnavailable("x"), "hello"]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
    assert [seconds for _, seconds in world.queue.postponed] == [5, 15]


def test_a_pause_that_the_model_asks_for_is_kept() -> None:
    with ScriptedModel([ModelUnavailable("slow down", retry_after=120), "hello"]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
    assert [seconds for _, seconds in world.queue.postponed] == [120]


def test_a_person_hears_one_apology_before_the_last_attempt_dies_and_a_redrive_answers_them() -> None:
    with ScriptedModel([ModelUnavailable("x")] * 5) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
        assert world.provider.texts == [profile().phrases.apology]
        assert len(world.queue.fifo.dead) == 1
        assert states(world, "evt_1") == ["claimed"]
        model.will_reply("finally")
        world.wait(hours=1)
        world.say("evt_1", "hi")
        world.run()
    assert world.provider.texts[1:] == ["finally"]
    assert states(world, "evt_1") == ["sent"]


def test_a_follower_keeps_its_own_attempts_when_the_one_before_it_keeps_failing() -> None:
    with ScriptedModel([ModelUnavailable("x")] * 4) as model:
        world = World(model)
        world.say("evt_1", "one")
        for _ in range(4):
            world.invoke()
            world.wait(minutes=20)
        model.will_reply(ModelUnavailable("x"), "both answered")
        world.say("evt_2", "two")
        world.run()
    assert world.queue.fifo.dead == []
    assert states(world, "evt_1", "evt_2") == ["covered", "sent"]
    assert world.provider.texts == ["both answered"]


def test_a_message_that_is_redriven_after_a_later_reply_covered_it_is_not_answered_again() -> None:
    with ScriptedModel([*[ModelUnavailable("x")] * 5, "both"]) as model:
        world = World(model)
        world.say("evt_1", "one")
        world.run()
        world.wait(hours=1)
        world.say("evt_2", "two")
        world.run()
        world.wait(hours=1)
        world.say("evt_1", "one")
        world.run()
    assert world.provider.texts == [profile().phrases.apology, "both"]
    assert states(world, "evt_1", "evt_2") == ["covered", "sent"]


def test_a_refusing_model_service_is_asked_once_and_the_person_told_once() -> None:
    with ScriptedModel([ModelRefused("no quota", code="insufficient_quota")]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
        assert model.calls == 1
        assert world.provider.texts == [profile().phrases.unavailable]
        assert states(world, "evt_1") == ["failed"]
        assert len(world.queue.fifo.dead) == 1
        assert world.telemetry.counted("ModelRefused") == 1
        model.will_reply("back again")
        world.wait(hours=1)
        world.say("evt_1", "hi")
        world.run()
    assert world.provider.texts[1:] == ["back again"]


def test_a_prompt_that_is_too_long_is_halved_once() -> None:
    with ScriptedModel(["fine"] * 3) as model:
        world = World(model)
        for place in range(3):
            world.say(f"evt_{place}", f"{place}" * 3000)
            world.run()
        model.will_reply(ContextTooLong("too long"), "shorter")
        world.say("evt_3", "and now?")
        world.run()
    assert world.provider.texts[-1] == "shorter"
    assert model.replies_asked[-1].chars < model.replies_asked[-2].chars


def test_one_persons_failure_returns_only_their_record() -> None:
    def answer(prompt: object) -> str | ModelUnavailable:
        return ModelUnavailable("x") if "boom" in repr(prompt) else "hello"

    model = ScriptedModel([answer] * 4)
    world = World(model)
    world.say("evt_1", "hi")
    world.say("evt_2", "boom", person=OTHER, address=OTHER)
    world.say("evt_3", "hi", person="+34600777666", address="+34600777666")
    failed = world.invoke()
    assert len(failed) == 1
    assert world.provider.texts == ["hello", "hello"]


def test_a_defect_met_by_one_person_does_not_fail_the_others() -> None:
    def answer(prompt: object) -> str:
        if "boom" in repr(prompt):
            raise ZeroDivisionError
        return "hello"

    world = World(ScriptedModel([answer] * 2))
    world.say("evt_1", "boom")
    world.say("evt_2", "hi", person=OTHER, address=OTHER)
    assert len(world.invoke()) == 1
    assert world.provider.texts == ["hello"]


def test_an_unreadable_record_goes_to_the_dead_letter_queue_alone() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.queue.fifo.put(PERSON, "bad", "no event at all")
        world.say("evt_1", "hi")
        world.run()
    assert world.queue.fifo.dead == ["no event at all"]
    assert world.provider.texts == ["hello"]


@pytest.mark.parametrize(
    "call", ["claim", "commit", "newest_messages", "summary", "facts", "erased_at", "resolve"]
)
def test_a_store_that_fails_for_a_moment_delays_the_answer_and_nothing_else(call: str) -> None:
    for after in (False, True):
        world = World(ScriptedModel(["hello", "hello"]))
        world.tables.fail_next(call, StoreUnavailable("throttled"), after=after)
        world.say("evt_1", "hi")
        world.run()
        assert world.provider.texts == ["hello"], call
        assert said(world) == [("user", "hi"), ("assistant", "hello")], call
        assert states(world, "evt_1") == ["sent"], call


def test_a_message_that_can_never_be_claimed_does_not_hold_up_those_behind_it() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        for _ in range(5):
            world.tables.fail_next("claim", ValueError("item too large"))
        world.say("evt_1", "poison")
        world.say("evt_2", "hi")
        world.invoke()
        assert world.provider.texts == []
        world.run()
    assert world.provider.texts == ["hello"]


def test_a_closed_window_ends_the_turn_as_undelivered() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.provider.fail(WindowClosed("24 hours", code="131047"))
        world.say("evt_1", "hi")
        world.run()
    turn = world.ledger.turn(CONVERSATION, "evt_1")
    assert turn is not None
    assert (turn.state, turn.reason) == ("undelivered", "131047")
    assert world.telemetry.counted("ProviderRefused") == 1
    assert world.queue.fifo.dead == []


def test_a_person_who_opted_out_at_the_provider_is_left_alone_without_an_alarm() -> None:
    with ScriptedModel() as model:
        world = World(model)
        world.provider.opt_out(PERSON)
        world.say("evt_1", "STOP")
        world.run()
    assert states(world, "evt_1") == ["suppressed"]
    assert world.telemetry.counted("ProviderRefused") == 0
    assert world.conversations.summary(CONVERSATION).opted_out_at is not None


def test_a_wrong_provider_key_keeps_the_reply_for_after_the_fix() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.provider.fail(*[SendRejected("key wrong", code="unauthorized")] * 5)
        world.say("evt_1", "hi")
        world.run()
        assert states(world, "evt_1") == ["replied"]
        assert len(world.queue.fifo.dead) == 1
        world.wait(hours=1)
        world.say("evt_1", "hi")
        world.run()
    assert world.provider.texts == ["hello"]
    assert states(world, "evt_1") == ["sent"]


def test_a_failing_typing_sign_does_not_fail_the_turn() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.provider.fail_typing()
        world.say("evt_1", "hi")
        world.run()
    assert world.provider.texts == ["hello"]


def test_too_little_time_left_asks_no_model_and_comes_again() -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.remaining = 10.0
        world.say("evt_1", "hi")
        assert len(world.invoke()) == 1
        assert model.calls == 0
        world.remaining = 80.0
        world.run()
    assert world.provider.texts == ["hello"]
    assert model.seconds == [65.0]


@pytest.mark.parametrize("kind", ["reaction", "deleted", "edited"])
def test_what_nobody_waits_for_an_answer_to_is_not_answered(kind: str) -> None:
    with ScriptedModel() as model:
        world = World(model)
        world.say("evt_1", "👍" if kind == "reaction" else "corrected", kind=kind, target_id="msg_0")
        world.run()
    assert states(world, "evt_1") == ["silent"]
    assert world.provider.sent == []


def test_stop_is_confirmed_once_without_asking_the_model_and_lifts_when_the_person_writes() -> None:
    with ScriptedModel(["one", "welcome back"]) as model:
        world = World(model)
        for event_id, text in (("evt_1", "hi"), ("evt_2", "STOP"), ("evt_3", "Stop.")):
            world.say(event_id, text)
            world.run()
            world.wait(minutes=1)
        assert world.provider.texts == ["one", profile().phrases.opted_out]
        assert world.conversations.summary(CONVERSATION).opted_out_at is not None
        world.say("evt_4", "hello again")
        world.run()
    assert world.provider.texts[-1] == "welcome back"
    assert world.conversations.summary(CONVERSATION).opted_out_at is None
    assert len(said(world)) == 7, "memory survives an opt-out"


def test_stop_in_a_burst_suppresses_the_answer_to_what_stood_before_it() -> None:
    with ScriptedModel() as model:
        world = World(model)
        world.say("evt_1", "tell me a story")
        world.say("evt_2", "STOP")
        world.run()
    assert world.provider.texts == [profile().phrases.opted_out]
    assert states(world, "evt_1", "evt_2") == ["covered", "sent"]


def test_forget_on_opt_out_leaves_nothing() -> None:
    with ScriptedModel(["one"]) as model:
        world = World(model, forget_on_opt_out=True)
        world.say("evt_1", "my secret is 42")
        world.run()
        world.wait(minutes=1)
        world.say("evt_2", "STOP")
        world.run()
    assert world.provider.texts[-1] == profile().phrases.opted_out
    assert said(world) == []
    assert states(world, "evt_1", "evt_2") == ["absent", "absent"]


def test_an_opt_out_reported_by_the_provider_is_kept() -> None:
    world = World(ScriptedModel())
    world.arrive(OptOut("evt_1", PERSON, NUMBER, NOW))
    world.run()
    assert world.conversations.summary(CONVERSATION).opted_out_at == NOW


def test_a_paused_conversation_is_remembered_and_not_answered() -> None:
    with ScriptedModel() as model:
        world = World(model)
        world.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=NOW + timedelta(hours=1))
        world.say("evt_1", "hi")
        world.run()
    assert said(world) == [("user", "hi")]
    assert states(world, "evt_1") == ["suppressed"]


def test_an_erasure_runs_behind_what_is_queued_and_drops_what_comes_late() -> None:
    with ScriptedModel(["one"]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.arrive(Erase("erase_1", "sales", PERSON, NOW))
        world.run()
        assert world.provider.texts == ["one"]
        assert said(world) == []
        late = inbound("evt_0", "from before", received_at=NOW - timedelta(minutes=1))
        world.wait(minutes=10)
        world.arrive(late)
        world.run()
    assert said(world) == []
    assert world.queue.fifo.bodies == []


def test_a_message_after_an_erasure_starts_a_new_conversation() -> None:
    with ScriptedModel(["one", "two"]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
        world.arrive(Erase("erase_1", "sales", PERSON, world.clock))
        world.run()
        world.wait(minutes=1)
        world.say("evt_2", "hi again")
        world.run()
    assert [message.seq for message in world.messages(CONVERSATION)] == [1, 2]
    assert "hi" not in [item.text for item in model.replies_asked[1].items]


def test_a_replaced_number_changes_nobodys_memory() -> None:
    with ScriptedModel(["one", "two"]) as model:
        world = World(model, profiles={"sales": profile(), "care": profile(agent_id="care", numbers=(NUMBER,))})
        world.say("evt_1", "hi")
        world.run()
        world.directory.assign_number(NUMBER, "care")
        world.arrive(NumberReplaced("evt_2", NUMBER, "+15550123", world.clock, "care"))
        world.run()
        world.say("evt_3", "hi again", number="+15550123")
        world.run()
    assert [text for _, text in said(world, f"care#{PERSON}")] == ["hi", "one", "hi again", "two"]
    assert world.provider.sent[-1].number == "+15550123"
    assert any("+15550123" in item.text for item in model.replies_asked[1].items if item.kind == "notes")


def test_a_person_who_changes_their_number_keeps_their_memory() -> None:
    with ScriptedModel(["one", "two"]) as model:
        world = World(model)
        world.say("evt_1", "I am Maya")
        world.run()
        world.arrive(PersonChangedNumber("evt_2", PERSON, OTHER, NUMBER, world.clock))
        world.run()
        world.say("evt_3", "it is me", person=OTHER, address=OTHER)
        world.run()
    assert [text for _, text in said(world)] == ["I am Maya", "one", "it is me", "two"]
    assert world.provider.sent[-1].address == OTHER


def test_a_delivery_failure_is_recorded_on_its_turn() -> None:
    with ScriptedModel(["one"]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.run()
        world.arrive(DeliveryStatus("evt_2", PERSON, NUMBER, "fake_1", "failed", world.clock, code="131026"))
        world.run()
    turn = world.ledger.turn(CONVERSATION, "evt_1")
    assert turn is not None
    assert (turn.state, turn.reason) == ("undelivered", "131026")


def test_two_agents_share_no_memory_of_a_person() -> None:
    care = profile(agent_id="care", numbers=("+15550999",))
    with ScriptedModel(["one", "two"]) as model:
        world = World(model, profiles={"sales": profile(), "care": care})
        world.say("evt_1", "the secret word is xylophone")
        world.say("evt_2", "what is the secret word?", number="+15550999")
        world.run()
    assert "xylophone" not in repr(model.replies_asked[1])
    assert len(said(world)) == 2
    assert len(said(world, f"care#{PERSON}")) == 2


def test_compaction_becomes_due_at_its_count_and_leaves_the_newest_messages() -> None:
    answer = CompactionAnswer("Maya told about her job.", (FactChange("set", "name", "Maya"),))
    with ScriptedModel(["ok"] * 22, [answer]) as model:
        world = World(model)
        for place in range(22):
            world.say(f"evt_{place}", f"message {place}, I am Maya")
            world.run()
        assert len(world.compact()) == 1
    summary = world.conversations.summary(CONVERSATION)
    assert (summary.version, summary.through_seq) == (1, 24)
    assert [fact.value for fact in world.facts.facts(CONVERSATION)] == ["Maya"]
    assert [message.seq for message in world.messages(CONVERSATION)] == list(range(25, 45))


def test_nothing_falls_between_window_and_compaction() -> None:
    with ScriptedModel(["ok"] * 40, [CompactionAnswer("They talked.", ())]) as model:
        world = World(model)
        for place in range(39):
            world.say(f"evt_{place}", f"m{place:02d}")
            world.run()
        world.compact()
        world.say("evt_39", "m39")
        world.run()
    through = world.conversations.summary(CONVERSATION).through_seq
    seen = "".join(item.text for item in model.replies_asked[-1].items)
    uncompacted = [message for message in world.messages(CONVERSATION) if message.seq > through]
    assert all(message.text in seen for message in uncompacted[:-1])


def test_a_compaction_that_cannot_be_queued_fails_nobodys_turn_and_is_found_due_again() -> None:
    with ScriptedModel(["ok"] * 4) as model:
        world = World(model, compact_at=4, keep_messages=2)
        world.compaction_queue.fail(1)
        for place in range(4):
            world.say(f"evt_{place}", "hi")
            world.run()
    assert world.telemetry.counted("CompactionNotQueued") == 1
    assert len(world.compaction_queue.jobs) == 1
