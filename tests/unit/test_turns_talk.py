"""Quotes, edits, deletions, limits, handoff, windows and farewells: everything around the words."""

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, NUMBER, PERSON, inbound, profile
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.errors import ModelUnavailable, ProviderUnavailable, StoreUnavailable
from whatsapp_agent.events import NumberReplaced, OwnerMessage
from whatsapp_agent.memory.allowance import Limits
from whatsapp_agent.memory.exchange import CompactionAnswer, Prompt
from whatsapp_agent.memory.profile import AgentProfile

USER_ID = "ES.13491208655302741918"
DAY = timedelta(hours=24)


def said(world: World, conversation: str = CONVERSATION) -> list[tuple[str, str]]:
    return [(message.role, message.text) for message in world.messages(conversation)]


def states(world: World, *event_ids: str) -> list[str]:
    turns = [world.ledger.turn(CONVERSATION, event_id) for event_id in event_ids]
    return [turn.state if turn else "absent" for turn in turns]


def new(prompt: Prompt) -> list[str]:
    return [item.text for item in prompt.items if item.kind == "new"]


def one(**changes: object) -> dict[str, AgentProfile]:
    return {"sales": profile(**changes)}


def owner(event_id: str = "echo_1", text: str = "This is Ana, I take over", **changes: object) -> OwnerMessage:
    fields = {
        "person": PERSON,
        "address": PERSON,
        "number": NUMBER,
        "message_id": f"wamid.{event_id}",
        "kind": "text",
        "sent_at": NOW,
        "received_at": NOW,
        **changes,
    }
    return OwnerMessage(event_id, text=text, **fields)  # type: ignore[arg-type]


class TestQuotes:
    def test_a_quoted_message_of_the_person_is_given_to_the_model(self) -> None:
        with ScriptedModel(["one", "two"]) as model:
            world = World(model)
            world.say("evt_1", 'the "blue" one\nplease')
            world.run()
            world.say("evt_2", "no, I meant the red one", reply_to="msg_evt_1")
            world.run()
        assert new(model.replies_asked[1]) == ['[about "the \\"blue\\" one please"] no, I meant the red one']

    def test_a_quoted_part_of_a_reply_is_found_by_the_providers_id(self) -> None:
        with ScriptedModel(["a" * 4090 + "\n\nThe second part", "two"]) as model:
            world = World(model)
            world.say("evt_1", "hi")
            world.run()
            world.say("evt_2", "what is that?", reply_to="fake_2")
            world.run()
        assert new(model.replies_asked[1]) == ['[about "The second part"] what is that?']

    def test_a_quote_of_something_unknown_changes_nothing(self) -> None:
        with ScriptedModel(["one"]) as model:
            world = World(model)
            world.say("evt_1", "this one", reply_to="msg_of_last_year")
            world.run()
        assert new(model.replies_asked[0]) == ["this one"]

    def test_a_quoted_message_looks_the_same_in_later_turns(self) -> None:
        with ScriptedModel(["one", "two", "three"]) as model:
            world = World(model)
            world.say("evt_1", "hello")
            world.run()
            world.say("evt_2", "that", reply_to="msg_evt_1")
            world.run()
            world.say("evt_3", "bye")
            world.run()
        earlier = [item.text for item in model.replies_asked[2].items if item.kind == "message"]
        assert '[about "hello"] that' in earlier


class TestEditsAndDeletions:
    def test_an_edit_before_the_answer_is_what_gets_answered(self) -> None:
        with ScriptedModel(["five it is"]) as model:
            world = World(model)
            world.say("evt_1", "send me three")
            world.say("evt_2", "send me five", kind="edited", target_id="msg_evt_1")
            world.run()
        assert new(model.replies_asked[0]) == ["send me five"]
        assert states(world, "evt_1", "evt_2") == ["sent", "silent"]

    def test_an_edit_after_the_answer_corrects_memory_and_asks_for_no_second_answer(self) -> None:
        with ScriptedModel(["ok"]) as model:
            world = World(model)
            world.say("evt_1", "I live in Lima")
            world.run()
            world.say("evt_2", "I live in Quito", kind="edited", target_id="msg_evt_1")
            world.run()
        assert said(world) == [("user", "I live in Quito"), ("assistant", "ok")]

    def test_a_second_delivery_of_an_edit_does_not_undo_a_later_one(self) -> None:
        with ScriptedModel(["ok"]) as model:
            world = World(model)
            world.say("evt_1", "one")
            world.run()
            for event_id, text in (("evt_2", "two"), ("evt_3", "three"), ("evt_2", "two")):
                world.say(event_id, text, kind="edited", target_id="msg_evt_1")
                world.run()
                world.wait(minutes=6)
        assert said(world)[0] == ("user", "three")

    def test_an_edit_of_what_is_no_longer_remembered_is_kept_for_the_next_summary(self) -> None:
        with ScriptedModel() as model:
            world = World(model)
            world.say("evt_1", "I live in Quito", kind="edited", target_id="msg_long_ago")
            world.run()
        assert [(m.kind, m.text) for m in world.messages(CONVERSATION)] == [("edited", "I live in Quito")]

    def test_a_deleted_message_leaves_no_words_and_is_seen_by_the_compaction(self) -> None:
        with ScriptedModel(["ok"], [CompactionAnswer("She took something back.", ())]) as model:
            world = World(model, compact_at=3, keep_messages=0)
            world.say("evt_1", "my secret is xylophone")
            world.run()
            world.say("evt_2", "", kind="deleted", target_id="msg_evt_1")
            world.run()
            assert said(world) == [("user", ""), ("assistant", "ok")]
            model.will_reply("hm")
            world.say("evt_3", "hello?")
            world.run()
            world.compact()
        assert "xylophone" not in repr(model.replies_asked[1:]) + repr(model.compactions_asked)
        assert "[deleted]" in repr(model.compactions_asked)

    def test_a_message_deleted_before_the_answer_is_not_answered(self) -> None:
        with ScriptedModel() as model:
            world = World(model)
            world.say("evt_1", "oops")
            world.say("evt_2", "", kind="deleted", target_id="msg_evt_1")
            world.run()
        assert states(world, "evt_1", "evt_2") == ["silent", "silent"]
        assert world.provider.texts == []

    def test_nobody_edits_or_deletes_the_agents_or_the_owners_words(self) -> None:
        world = World(ScriptedModel())
        world.arrive(owner())
        world.run()
        world.say("evt_1", "", kind="deleted", target_id="wamid.echo_1")
        world.run()
        assert said(world) == [("owner", "This is Ana, I take over")]

    def test_a_correction_that_breaks_off_is_made_by_the_next_delivery(self) -> None:
        with ScriptedModel(["ok"]) as model:
            world = World(model)
            world.say("evt_1", "one")
            world.run()
            world.tables.fail_next("claim", StoreUnavailable("died"))
            world.say("evt_2", "two", kind="edited", target_id="msg_evt_1")
            world.run()
        assert said(world)[0] == ("user", "two")
        assert states(world, "evt_2") == ["silent"]


class TestLimits:
    def test_beyond_the_turns_of_an_hour_one_notice_then_silence_then_answers_again(self) -> None:
        with ScriptedModel(["a", "b", "c"]) as model:
            world = World(model, profiles=one(limits=Limits(turns=2)))
            for place in range(6):
                world.say(f"evt_{place}", f"message {place}")
                world.run()
                world.wait(minutes=5)
            assert world.provider.texts == ["a", "b", profile().phrases.limited]
            assert states(world, "evt_2", "evt_5") == ["suppressed", "suppressed"]
            world.wait(minutes=31)
            world.say("evt_6", "hello again")
            world.run()
        assert world.provider.texts[-1] == "c"
        assert len([role for role, _ in said(world) if role == "user"]) == 7, "nothing is lost"
        assert world.ledger.turn(CONVERSATION, "evt_3").reason == "limit_turns"  # type: ignore[union-attr]

    def test_two_bots_that_answer_each_other_stop(self) -> None:
        model = ScriptedModel(["echo"] * 20)
        world = World(model, profiles=one(limits=Limits()))
        for place in range(20):
            world.say(f"evt_{place}", "echo")
            world.run()
            world.wait(seconds=3)
        assert len(world.provider.texts) == Limits().burst + 1
        assert world.provider.texts.count(profile().phrases.limited) == 1

    def test_a_flood_of_characters_costs_one_answer(self) -> None:
        with ScriptedModel(["short please"]) as model:
            world = World(model, profiles=one(limits=Limits(characters=60_000)))
            for place in range(10):
                world.say(f"evt_{place}", "x" * 60_000)
                world.run()
                world.wait(minutes=1)
        assert model.calls == 1
        assert world.compaction_queue.jobs == [] or len(world.compaction_queue.jobs) == 1

    def test_a_flood_of_messages_gets_some_answers_and_one_notice(self) -> None:
        model = ScriptedModel(["a"] * 60)
        world = World(model, profiles=one(limits=Limits()))
        for place in range(200):
            world.say(f"evt_{place}", "hi")
        world.run()
        assert model.calls <= Limits().burst
        assert world.provider.texts.count(profile().phrases.limited) == 1
        assert len([role for role, _ in said(world) if role == "user"]) == 200
        assert world.queue.fifo.dead == []

    def test_the_limits_of_one_person_are_nobody_elses(self) -> None:
        with ScriptedModel(["a", "b"]) as model:
            world = World(model, profiles=one(limits=Limits(turns=1)))
            for event_id, person in (("evt_1", PERSON), ("evt_2", "+34600999888")):
                world.say(event_id, "hi", person=person, address=person)
                world.run()
        assert world.provider.texts == ["a", "b"]

    def test_stop_is_heard_beyond_every_limit(self) -> None:
        with ScriptedModel(["a"]) as model:
            world = World(model, profiles=one(limits=Limits(turns=1)))
            for event_id, text in (("evt_1", "hi"), ("evt_2", "more"), ("evt_3", "STOP")):
                world.say(event_id, text)
                world.run()
                world.wait(minutes=1)
        assert world.provider.texts[-1] == profile().phrases.opted_out

    def test_a_limiter_that_fails_silences_nobody_and_is_counted(self) -> None:
        class Broken:
            def __getattr__(self, name: str) -> int:
                raise ZeroDivisionError(name)

        with ScriptedModel(["a"]) as model:
            world = World(model, profiles=one(limits=Broken()))
            world.say("evt_1", "hi")
            world.run()
        assert world.provider.texts == ["a"]
        assert world.telemetry.counted("LimiterFailed") == 1

    def test_where_the_account_cannot_be_read_nobody_is_answered_until_it_can(self) -> None:
        with ScriptedModel(["a"]) as model:
            world = World(model, profiles=one(limits=Limits(turns=1)))
            world.tables.fail_next("newest_messages", StoreUnavailable("away"))
            world.say("evt_1", "hi")
            assert len(world.invoke()) == 1
            assert model.calls == 0
            world.run()
        assert world.provider.texts == ["a"]

    def test_limited_messages_do_not_slow_down_the_next_answer(self) -> None:
        with ScriptedModel(["a", "b"]) as model:
            world = World(model, profiles=one(limits=Limits(turns=1)))
            for place in range(5):
                world.say(f"evt_{place}", "hi")
                world.run()
                world.wait(minutes=1)
            world.wait(hours=1)
            # The commit covers what waits at the first try: nothing is looked up one by one.
            world.tables.fail_next("turns_of", StoreUnavailable("not to be asked"))
            world.say("evt_9", "hi")
            world.run()
        assert states(world, "evt_9") == ["sent"]


class TestHandoff:
    def test_the_owners_answer_is_remembered_as_theirs_and_pauses_the_agent(self) -> None:
        with ScriptedModel(["back"]) as model:
            world = World(model, profiles=one(pause=timedelta(hours=2)))
            world.arrive(owner())
            world.run()
            world.say("evt_1", "thank you Ana")
            world.run()
            assert said(world) == [("owner", "This is Ana, I take over"), ("user", "thank you Ana")]
            assert world.provider.texts == []
            world.wait(hours=2)
            world.say("evt_2", "and you, bot?")
            world.run()
        assert world.provider.texts == ["back"]

    def test_an_echo_delivered_twice_is_remembered_once(self) -> None:
        world = World(ScriptedModel())
        for _ in range(2):
            world.arrive(owner())
            world.run()
            world.wait(minutes=6)
        assert len(said(world)) == 1

    def test_an_old_echo_pauses_nobody_and_a_longer_pause_stays(self) -> None:
        world = World(ScriptedModel(), profiles=one(pause=timedelta(hours=2)))
        world.arrive(owner("echo_0", sent_at=NOW - timedelta(hours=3)))
        world.run()
        assert world.conversations.summary(CONVERSATION).paused_until is None
        world.conversations.set_state(CONVERSATION, opted_out_at=None, paused_until=NOW + timedelta(days=9))
        world.arrive(owner())
        world.run()
        assert world.conversations.summary(CONVERSATION).paused_until == NOW + timedelta(days=9)

    def test_the_owners_edit_corrects_the_owners_words(self) -> None:
        world = World(ScriptedModel())
        world.arrive(owner(), owner("echo_2", "I am here", kind="edited", target_id="wamid.echo_1"))
        world.run()
        assert said(world) == [("owner", "I am here")]

    @pytest.mark.parametrize("state", ["paused_until", "opted_out_at"])
    def test_a_flag_set_while_the_model_is_asked_holds_the_reply_back(self, state: str) -> None:
        def answer(_prompt: object) -> str:
            flags = {"opted_out_at": None, "paused_until": None, state: NOW + timedelta(hours=1)}
            world.conversations.set_state(CONVERSATION, **flags)
            return "talking over a human"

        with ScriptedModel([answer]) as model:
            world = World(model)
            world.say("evt_1", "hi")
            world.run()
        assert world.provider.texts == []
        assert states(world, "evt_1") == ["suppressed"]
        assert said(world) == [("user", "hi"), ("assistant", "")], "nobody heard it, so it was not said"

    def test_a_flag_that_cannot_be_read_delays_the_reply_and_pays_no_model_twice(self) -> None:
        def answer(_prompt: object) -> str:
            world.tables.fail_next("summary", StoreUnavailable("away"))
            return "hello"

        with ScriptedModel([answer]) as model:
            world = World(model)
            world.say("evt_1", "hi")
            world.run()
        assert world.provider.texts == ["hello"]

    def test_a_pause_between_two_attempts_to_send_holds_the_reply_back(self) -> None:
        with ScriptedModel(["hello"]) as model:
            world = World(model)
            world.provider.fail(ProviderUnavailable("down"))
            world.say("evt_1", "hi")
            world.invoke()
            world.conversations.set_state(
                CONVERSATION, opted_out_at=None, paused_until=NOW + timedelta(hours=1)
            )
            world.run()
        assert world.provider.texts == []
        assert states(world, "evt_1") == ["suppressed"]

    def test_stop_is_heard_while_the_agent_is_paused(self) -> None:
        with ScriptedModel() as model:
            world = World(model)
            world.conversations.set_state(
                CONVERSATION, opted_out_at=None, paused_until=NOW + timedelta(hours=1)
            )
            world.say("evt_1", "STOP")
            world.run()
        summary = world.conversations.summary(CONVERSATION)
        assert summary.opted_out_at is not None
        assert summary.paused_until is not None


class TestWindow:
    def test_an_answer_that_comes_too_late_is_neither_paid_for_nor_sent(self) -> None:
        with ScriptedModel(["both"]) as model:
            world = World(model, provider_window=DAY)
            world.wait(hours=24, minutes=1)
            world.arrive(inbound("evt_1", "hi", sent_at=NOW))
            world.run()
            assert states(world, "evt_1") == ["undelivered"]
            assert world.ledger.turn(CONVERSATION, "evt_1").reason == "window_closed"  # type: ignore[union-attr]
            world.say("evt_2", "hello?")
            world.run()
        assert new(model.replies_asked[0]) == ["hi", "hello?"]
        assert world.provider.texts == ["both"]

    def test_the_window_is_judged_at_each_part_and_not_when_the_batch_began(self) -> None:
        with ScriptedModel(["a" * 4000 + "\n\n" + "b" * 4000]) as model:
            world = World(model, provider_window=DAY)
            world.provider.fail(None, ProviderUnavailable("down"))
            world.say("evt_1", "hi")
            world.invoke()
            world.wait(hours=24)
            world.run()
        assert [text[0] for text in world.provider.texts] == ["a"]
        assert states(world, "evt_1") == ["undelivered"]
        assert world.telemetry.counted("ProviderRefused") == 1

    def test_a_later_message_opens_the_window_for_an_older_reply(self) -> None:
        with ScriptedModel(["one", "two"]) as model:
            world = World(model, provider_window=DAY)
            world.provider.fail(ProviderUnavailable("down"))
            world.say("evt_1", "hi")
            world.invoke()
            world.wait(hours=25)
            world.say("evt_2", "are you there?")
            world.run()
        assert world.provider.texts == ["one", "two"]

    def test_a_provider_without_a_window_delivers_late(self) -> None:
        with ScriptedModel(["late"]) as model:
            world = World(model)
            world.wait(days=3)
            world.arrive(inbound("evt_1", "hi", sent_at=NOW))
            world.run()
        assert world.provider.texts == ["late"]


class TestFarewell:
    @pytest.mark.parametrize("text", ["forget me", "Forget me!", " ＦＯＲＧＥＴ ME \u200f"])
    def test_an_erase_word_erases_first_and_confirms_then(self, text: str) -> None:
        with ScriptedModel(["one"]) as model:
            world = World(model, profiles=one(erase_words=("forget me",)))
            world.say("evt_1", "my secret is 42")
            world.run()
            world.wait(minutes=1)
            world.say("evt_2", text)
            world.run()
        assert world.provider.texts == ["one", profile().phrases.erased]
        assert said(world) == []
        assert states(world, "evt_1", "evt_2") == ["absent", "absent"]

    def test_the_word_within_a_sentence_erases_nothing(self) -> None:
        with ScriptedModel(["I won't"]) as model:
            world = World(model, profiles=one(erase_words=("forget me",)))
            world.say("evt_1", "do not forget me")
            world.run()
        assert len(said(world)) == 2

    def test_what_is_written_right_after_it_is_a_new_conversation(self) -> None:
        with ScriptedModel(["one", "nice to meet you"]) as model:
            world = World(model, profiles=one(erase_words=("forget me",)))
            world.say("evt_1", "my secret is 42")
            world.run()
            world.wait(minutes=1)
            world.say("evt_2", "before")
            world.say("evt_3", "forget me")
            world.say("evt_4", "hello, I am new")
            world.run()
        assert "42" not in repr(model.replies_asked[1])
        assert said(world) == [("user", "hello, I am new"), ("assistant", "nice to meet you")]
        assert world.provider.texts[1:] == [profile().phrases.erased, "nice to meet you"]

    @pytest.mark.parametrize(
        "break_off",
        [
            lambda world: world.tables.fail_next("erase", StoreUnavailable("died")),
            lambda world: world.tables.fail_next("record_erasure", StoreUnavailable("died"), after=True),
            lambda world: world.provider.fail(ProviderUnavailable("down")),
        ],
    )
    def test_one_that_breaks_off_is_finished_and_confirmed_once(
        self, break_off: Callable[[World], None]
    ) -> None:
        with ScriptedModel(["one"]) as model:
            world = World(model, profiles=one(erase_words=("forget me",)))
            world.say("evt_1", "my secret is 42")
            world.run()
            world.wait(minutes=1)
            break_off(world)
            world.say("evt_2", "forget me")
            world.run()
        assert said(world) == []
        assert world.provider.texts == ["one", profile().phrases.erased]

    def test_it_works_while_paused_and_beyond_limits(self) -> None:
        with ScriptedModel() as model:
            world = World(model, profiles=one(erase_words=("forget me",), limits=Limits(characters=1)))
            world.conversations.set_state(
                CONVERSATION, opted_out_at=None, paused_until=NOW + timedelta(hours=1)
            )
            world.say("evt_1", "forget me")
            world.run()
        assert world.provider.texts == [profile().phrases.erased]


class TestAgentsAndPeople:
    def agents(self) -> dict[str, AgentProfile]:
        return {
            "sales": profile(),
            "care": profile(agent_id="care", numbers=("+15550999", "+106540352242922"), labels=("support",)),
        }

    @pytest.mark.parametrize(
        ("number", "label", "agent"),
        [
            ("+15550999", "", "care"),
            ("+1 (555) 0999", "", "care"),
            ("106540352242922", "15550783881", "care"),
            ("999999999999999", "+1 555 0999", "care"),
            ("+15550111", "support", "care"),
            ("+15550111", "other", "sales"),
            ("", "", "sales"),
            ("not a number", "", "sales"),
        ],
    )
    def test_a_number_or_a_label_leads_to_its_agent(self, number: str, label: str, agent: str) -> None:
        with ScriptedModel(["hi"]) as model:
            world = World(model, profiles=self.agents())
            world.say("evt_1", "hello", number=number, label=label)
            world.run()
        assert len(said(world, f"{agent}#{PERSON}")) == 2

    def test_a_new_number_inherits_the_agent_that_a_file_gave_to_the_old_one(self) -> None:
        with ScriptedModel(["hi"]) as model:
            world = World(model, profiles=self.agents())
            world.arrive(NumberReplaced("evt_1", "+15550999", "+15550123", NOW))
            world.run()
            world.say("evt_2", "hello", number="+15550123")
            world.run()
        assert len(said(world, f"care#{PERSON}")) == 2

    def test_a_user_id_and_a_phone_seen_together_are_one_person(self) -> None:
        with ScriptedModel(["one", "two"]) as model:
            world = World(model)
            world.say("evt_1", "I am Maya", alias=USER_ID)
            world.run()
            world.say("evt_2", "me again", person=USER_ID, address=USER_ID)
            world.run()
        assert [text for _, text in said(world)] == ["I am Maya", "one", "me again", "two"]
        assert world.provider.sent[-1].address == USER_ID

    def test_a_memory_that_began_under_the_user_id_stays_where_it_is(self) -> None:
        with ScriptedModel(["one", "two", "three"]) as model:
            world = World(model)
            world.say("evt_1", "I am Maya", person=USER_ID, address=USER_ID)
            world.run()
            world.say("evt_2", "now with my number", alias=USER_ID)
            world.run()
            world.say("evt_3", "and without the id")
            world.run()
        assert len(said(world, f"sales#{USER_ID}")) == 6
        assert said(world) == []

    def test_two_memories_are_not_mixed_when_both_keys_are_seen(self) -> None:
        with ScriptedModel(["one", "two", "three"]) as model:
            world = World(model)
            world.say("evt_1", "by phone")
            world.say("evt_2", "by id", person=USER_ID, address=USER_ID)
            world.run()
            world.say("evt_3", "both", alias=USER_ID)
            world.run()
        assert [text for _, text in said(world)] == ["by phone", "one", "both", "three"]

    def test_one_persons_words_never_reach_another_in_a_warm_process(self) -> None:
        other = "+34600999888"
        with ScriptedModel(["noted", "I do not know"]) as model:
            world = World(model)
            world.say("evt_1", "the secret word is xylophone")
            world.run()
            world.say("evt_2", "what is the secret word?", person=other, address=other)
            world.run()
        assert "xylophone" not in repr(model.replies_asked[1])

    def test_the_joined_pair_is_looked_up_once_per_process(self) -> None:
        with ScriptedModel(["a", "b"]) as model:
            world = World(model)
            world.say("evt_1", "hi", alias=USER_ID)
            world.run()
            world.tables.fail_next("alias_person", StoreUnavailable("not to be asked again"))
            world.say("evt_2", "hi", alias=USER_ID)
            world.run()
        assert world.provider.texts == ["a", "b"]


def test_a_message_that_fails_to_be_answered_keeps_its_account() -> None:
    with ScriptedModel([ModelUnavailable("x"), "a"]) as model:
        world = World(model, profiles=one(limits=Limits(turns=1)))
        world.say("evt_1", "hi")
        world.run()
    assert world.provider.texts == ["a"]
