"""`make load` sees what is lost, doubled, out of order or unanswered; and delivers as a provider does."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from tools.local.commands import main
from tools.local.load.looking import Left, Message, Part, Turn
from tools.local.load.plan import MOST_MESSAGES, SPACING, scripts
from tools.local.load.posting import ATTEMPTS, Courier, Delivered, body_of
from tools.local.load.rounds import Round, table
from tools.local.load.verdict import Figures, figures, violations
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
NEVER = float("inf")


def conversation_of(person):
    return f"companion#{person}"


def a_plan(people=1, messages=3, first=2):
    return scripts(first, people, messages, NOW, seed=1)


def taken_in_turn(plan):
    """Each webhook is answered before the next one is sent."""
    return {
        said.event_id: Delivered(started=2 * place, taken=2 * place + 1, posts=1)
        for script in plan
        for place, said in enumerate(script.said)
    }


def what_should_be_left(plan):
    """Everything of a person is answered by one reply with two parts."""
    turns, messages, parts = [], [], []
    for script in plan:
        conversation, lead = conversation_of(script.person), script.said[-1]
        for place, said in enumerate(script.said, start=1):
            messages.append(Message(conversation, place, "user", said.text, said.event_id))
            turns.append(Turn(conversation, said.event_id, "covered", seq=place, lead=lead.event_id))
        answer = ("Hola", f"Adiós {script.person}")
        at = len(script.said)
        turns[-1] = Turn(conversation, lead.event_id, "sent", seq=at, reply_seq=at + 1, parts=answer)
        messages.append(Message(conversation, at + 1, "assistant", "…", lead.event_id))
        parts += [Part(script.person, text, f"{lead.event_id}-{n}") for n, text in enumerate(answer)]
    return Left(tuple(turns), tuple(messages), tuple(parts))


def found(left, plan, delivered=None):
    return violations(plan, delivered or taken_in_turn(plan), left, conversation_of)


def with_turn(left, number, **changes):
    turns = list(left.turns)
    turns[number] = replace(turns[number], **changes)
    return replace(left, turns=tuple(turns))


# The verdict


def test_nothing_is_wrong_where_everything_is_there_once_and_in_order():
    plan = a_plan(people=3)
    left = what_should_be_left(plan)
    assert found(left, plan) == []
    assert figures(plan, left, conversation_of) == Figures(remembered=9, replies=3)


def test_a_message_without_a_turn_is_lost():
    plan = a_plan()
    left = what_should_be_left(plan)
    lost = replace(left, turns=left.turns[1:], messages=left.messages[1:])
    assert any("message 1 (evt_load_2_1) is LOST" in line for line in found(lost, plan))


def test_a_message_whose_place_is_empty_is_lost():
    plan = a_plan()
    left = what_should_be_left(plan)
    lost = replace(left, messages=(*left.messages[:1], *left.messages[2:]))
    lines = found(lost, plan)
    assert any("message 2 (evt_load_2_2) is LOST" in line for line in lines)
    assert any("places 1 and 3 follow one another" in line for line in lines)


def test_a_message_with_other_words_is_lost():
    plan = a_plan()
    left = what_should_be_left(plan)
    other = replace(left.messages[0], text="something else")
    assert any("LOST" in line for line in found(replace(left, messages=(other, *left.messages[1:])), plan))


def test_a_webhook_that_was_never_taken_is_named():
    plan = a_plan()
    delivered = taken_in_turn(plan)
    delivered["evt_load_2_2"] = Delivered(started=0, posts=5, refused=5)
    left = what_should_be_left(plan)
    assert found(left, plan, delivered) == [
        "+34600000002: message 2 (evt_load_2_2) was never taken by the webhook (5 attempts)"
    ]


def test_what_stands_behind_the_summary_is_not_lost():
    plan = a_plan()
    left = what_should_be_left(plan)
    summed_up = replace(left, messages=left.messages[2:], through=((conversation_of(plan[0].person), 2),))
    assert found(summed_up, plan) == []
    assert found(replace(summed_up, through=()), plan) != []


def test_a_message_that_is_remembered_twice_is_doubled():
    plan = a_plan()
    left = what_should_be_left(plan)
    again = replace(left.messages[0], seq=5)
    lines = found(replace(left, messages=(*left.messages, again)), plan)
    assert lines == ["+34600000002: message 1 (evt_load_2_1) is DOUBLED: remembered 2 times"]


def test_a_part_that_reached_the_person_twice_is_doubled():
    plan = a_plan()
    left = what_should_be_left(plan)
    lines = found(replace(left, parts=(*left.parts, left.parts[0])), plan)
    assert lines == [
        "+34600000002: a reply is DOUBLED: its part evt_load_2_3-0 reached the person 2 times",
    ]


def test_a_second_answer_under_another_key_is_seen():
    plan = a_plan()
    left = what_should_be_left(plan)
    second = replace(left.parts[0], key="another")
    assert found(replace(left, parts=(*left.parts, second)), plan) == [
        "+34600000002: 3 part(s) of replies reached the person, 2 stand(s) in the ledger as sent"
    ]


def test_two_remembered_replies_to_one_message_are_doubled():
    plan = a_plan()
    left = what_should_be_left(plan)
    second = replace(left.messages[-1], seq=5)
    assert any(
        "2 replies to it" in line for line in found(replace(left, messages=(*left.messages, second)), plan)
    )


def test_an_earlier_place_of_what_came_later_is_out_of_order():
    plan = a_plan()
    left = what_should_be_left(plan)
    one, two = left.messages[:2]
    swapped = replace(left, messages=(replace(two, seq=1), replace(one, seq=2), *left.messages[2:]))
    swapped = with_turn(with_turn(swapped, 0, seq=2), 1, seq=1)
    assert found(swapped, plan) == [
        "+34600000002: message 2 (evt_load_2_2) is OUT OF ORDER: it came after message 1 (evt_load_2_1) and "
        "stands before it"
    ]


def test_what_was_under_way_at_the_same_moment_may_come_in_either_order():
    plan = a_plan()
    left = what_should_be_left(plan)
    one, two = left.messages[:2]
    swapped = replace(left, messages=(replace(two, seq=1), replace(one, seq=2), *left.messages[2:]))
    swapped = with_turn(with_turn(swapped, 0, seq=2), 1, seq=1)
    delivered = taken_in_turn(plan)
    delivered["evt_load_2_2"].started = delivered["evt_load_2_1"].started
    assert found(swapped, plan, delivered) == []


def test_parts_in_another_order_are_seen():
    plan = a_plan()
    left = what_should_be_left(plan)
    assert found(replace(left, parts=left.parts[::-1]), plan) == [
        "+34600000002: replies reached the person OUT OF ORDER"
    ]


@pytest.mark.parametrize("state", ["claimed", "replied", "failed", "undelivered", "suppressed", "silent"])
def test_a_turn_that_ended_otherwise_is_not_answered(state):
    plan = a_plan()
    left = with_turn(what_should_be_left(plan), 0, state=state, lead="", reason="limit_burst")
    assert found(left, plan) == [
        f"+34600000002: message 1 (evt_load_2_1) is NOT ANSWERED: its turn is {state} (limit_burst)"
    ]


def test_what_is_covered_by_a_reply_that_was_not_sent_is_not_answered():
    plan = a_plan()
    left = with_turn(what_should_be_left(plan), 2, state="undelivered")
    assert sum("NOT ANSWERED" in line for line in found(replace(left, parts=()), plan)) == 3


def test_a_newest_message_behind_the_last_reply_is_not_answered():
    plan = a_plan()
    left = with_turn(what_should_be_left(plan), 0, seq=9)
    assert any("message 1 (evt_load_2_1) is NOT ANSWERED" in line for line in found(left, plan))


def test_dead_letters_and_memories_of_somebody_else_are_seen():
    plan = a_plan(people=2)
    left = what_should_be_left(plan)
    assert found(replace(left, dead_letters=(("Inbound", 2), ("Compaction", 0))), plan) == [
        "2 dead letter(s) in the queue Inbound"
    ]
    strayed = replace(left.turns[0], conversation=conversation_of(plan[1].person))
    assert any("somebody else" in line for line in found(replace(left, turns=(*left.turns, strayed)), plan))


# The plan


def test_a_plan_delivers_everything_some_twice_and_some_out_of_order():
    plan = scripts(1, 30, 10, NOW, seed=7)
    delivered = [[said.place for step in script.steps for said in step] for script in plan]
    assert all(set(places) == set(range(1, 11)) for places in delivered)
    assert sum(map(len, delivered)) > 400
    firsts = [list(dict.fromkeys(places)) for places in delivered]
    assert all(sorted(places) == list(range(1, 11)) for places in firsts)
    assert sum(places != sorted(places) for places in firsts) > 15
    assert any(len({said.place for said in step}) > 1 for script in plan for step in script.steps)
    assert any(script.afterwards for script in plan)
    assert plan == scripts(1, 30, 10, NOW, seed=7) != scripts(1, 30, 10, NOW, seed=8)


def test_messages_are_spaced_below_the_limit_of_an_agent():
    (script,) = scripts(1, 1, MOST_MESSAGES, NOW, seed=1)
    times = [said.sent_at for said in script.said]
    assert times[-1] == NOW
    assert {later - earlier for earlier, later in pairwise(times)} == {SPACING}
    assert timedelta(minutes=1) / SPACING < 10


def test_a_repeated_webhook_has_the_same_bytes():
    (script,) = a_plan()
    assert len({body_of(script.said[0], "+15550100") for _ in range(3)}) == 1


def test_a_webhook_holds_the_message_as_the_product_reads_it():
    said = a_plan()[0].said[0]
    (event,) = WhaspWebhook("secret").parse(body_of(said, "+15550100"), NOW).events
    assert (event.event_id, event.person, event.text, event.sent_at, event.number) == (
        said.event_id,
        said.person,
        said.text,
        said.sent_at,
        "+15550100",
    )


# Delivery


class Webhook:
    """Notes the order, and refuses the first so many requests."""

    def __init__(self, refuse=0):
        self.asked, self._refuse, self._lock = [], refuse, threading.Lock()

    def __call__(self, said):
        with self._lock:
            self.asked.append(said)
            return 503 if len(self.asked) <= self._refuse else 200


def test_the_steps_of_a_person_follow_one_another():
    plan, webhook = scripts(2, 7, 6, NOW, seed=3), Webhook()
    courier = Courier(webhook, at_once=4, deadline=NEVER)
    assert courier.deliver(plan)
    for script in plan:
        wanted = [sorted(said.place for said in step) for step in script.steps]
        places = iter(said.place for said in webhook.asked if said.person == script.person)
        assert [sorted(next(places) for _ in step) for step in wanted] == wanted
    assert sum(mark.posts for mark in courier.delivered.values()) == sum(
        len(step) for script in plan for step in script.steps
    )


def test_a_webhook_that_is_refused_is_sent_again():
    plan, webhook = a_plan(messages=1), Webhook(refuse=1)
    courier = Courier(webhook, at_once=1, deadline=NEVER)
    assert courier.deliver(plan)
    (mark,) = courier.delivered.values()
    assert mark.taken is not None
    assert (mark.refused, mark.posts) == (1, len(webhook.asked))
    assert len(webhook.asked) <= ATTEMPTS


def test_a_round_ends_when_its_time_is_over():
    plan, webhook = a_plan(people=5), Webhook()
    assert not Courier(webhook, at_once=2, deadline=0, clock=lambda: 1).deliver(plan)
    assert webhook.asked == []


# What is said about it


def test_the_table_compares_each_round_with_the_first():
    one = Round(10, 100, 170, 0, 100, 50, seconds=2.0, broken=())
    lines = table([one, replace(one, people=100, messages=1000, seconds=30.0)]).splitlines()
    assert lines[1].split() == ["10", "100", "170", "0", "100", "50", "20", "1.00"]
    assert lines[2].split()[-2:] == ["30", "1.50"]


@pytest.mark.parametrize("wrong", ["0", "61", "-1", "ten", "²"])
def test_more_messages_than_an_agent_answers_within_an_hour_are_no_load(wrong, capsys):
    with pytest.raises(SystemExit):
        main(["load", f"--messages={wrong}"])
    assert "is not a whole number from 1 to 60" in capsys.readouterr().err
