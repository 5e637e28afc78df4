"""`operate` about a deployment: erasing, redriving, counting; and how the command line behaves."""

from datetime import timedelta
from pathlib import Path

import pytest

from tests.builders import CONVERSATION, NOW, PERSON, inbound, message, turn
from tests.fakes.model import ScriptedModel
from tests.fakes.operating import FakeFigures
from tests.fakes.store_tables import Kept
from tests.unit.operating import know, operator, talk
from tools.operate.app import hoisted, main
from tools.operate.target import Options
from whatsapp_agent.errors import QueueUnavailable
from whatsapp_agent.events import encode
from whatsapp_agent.memory.records import Usage

OTHER = "+34600999888"
OTHERS = f"sales#{OTHER}"


def test_erasing_asks_first_and_then_leaves_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model)
        talk(asked.world, model, "I am Maya")
        talk(asked.world, model, "I am Tom", prefix="tom", person=OTHER)
        know(asked.world, CONVERSATION, ("name", "Maya"))
        before = asked.world.messages(OTHERS), asked.world.ledger.turns(OTHERS)
        assert asked.say("erase", PERSON).status == 4
        assert len(asked.world.messages(CONVERSATION)) == 2
        assert asked.say("erase", PERSON, answer="n\n").status == 4
        ran = asked.say("erase", PERSON, answer="y\n")
    assert (ran.status, ran.out) == (0, f"{PERSON} is forgotten\n")
    assert asked.say("inspect", PERSON, "--json").json["messages"] == 0
    assert asked.deployment.census.conversations() == [OTHERS]
    assert (asked.world.messages(OTHERS), asked.world.ledger.turns(OTHERS)) == before


def test_an_erasure_that_takes_longer_than_one_waits_has_its_own_status(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model, works_at_once=False)
        talk(asked.world, model, "I am Maya")
        ran = asked.say("erase", PERSON, "--yes", "--wait", "1", "--json")
        assert (ran.status, ran.json["finished"]) == (5, False)
        assert asked.say("erase", PERSON, "--yes", "--wait", "0").status == 0


def test_reapplying_erases_again_only_what_a_restore_brought_back(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model)
        for person, prefix in ((PERSON, "maya"), (OTHER, "tom")):
            talk(asked.world, model, "hello", prefix=prefix, person=person)
        asked.say("erase", PERSON, "--yes")
        asked.world.wait(hours=1)
        talk(asked.world, model, "I am new here", prefix="again")
        fresh = asked.world.messages(CONVERSATION)
        assert asked.say("erasures", "reapply", "--yes", "--json").json == {"undone": 0, "queued": 0}
        assert asked.world.messages(CONVERSATION) == fresh

        asked.world.tables.messages[CONVERSATION] = {1: Kept(message(1, received_at=NOW - timedelta(days=1)))}
        assert asked.say("erasures", "reapply", "--dry-run", "--json").json == {"undone": 1, "queued": 0}
        assert asked.say("erasures", "reapply").status == 4
        assert asked.say("erasures", "reapply", "--yes").status == 0
    assert asked.world.messages(CONVERSATION) == []
    assert len(asked.world.messages(OTHERS)) == 2


def test_a_redrive_sends_everything_back_and_it_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel(["late, but here"]) as model:
        asked = operator(capsys, model)
        asked.world.queue.fifo.dead[:] = [encode(inbound("evt_late", "hello?", received_at=asked.world.clock))]
        look = asked.say("redrive", "--dry-run", "--json").json
        assert look["inbound"]["message"] == 1
        assert len(asked.world.queue.fifo.dead) == 1
        assert asked.say("redrive").status == 4
        done = asked.say("redrive", "--yes", "--json")
        assert (done.status, done.json["inbound"]["sent back"]) == (0, 1)
        asked.world.run()
    assert asked.world.provider.texts == ["late, but here"]
    assert asked.world.queue.fifo.dead == []


def test_a_redrive_drops_what_is_older_than_its_persons_erasure(capsys: pytest.CaptureFixture[str]) -> None:
    asked = operator(capsys)
    asked.say("erase", PERSON, "--yes", "--wait", "0")
    dead = asked.world.queue.fifo.dead
    dead += [
        encode(inbound("evt_old", received_at=NOW - timedelta(hours=1))),
        encode(inbound("evt_new", received_at=NOW + timedelta(hours=1))),
    ]
    result = asked.say("redrive", "--queue", "inbound", "--yes", "--json").json["inbound"]
    assert (result["dropped, the person was erased"], result["sent back"]) == (1, 1)
    assert [event.event_id for event in asked.world.queue.events] == ["evt_new"]


def test_a_redrive_takes_as_many_as_it_is_told_and_leaves_what_it_cannot_read(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = operator(capsys)
    dead = asked.world.queue.fifo.dead
    dead += ["{not json", encode(inbound("evt_1")), encode(inbound("evt_2"))]
    first = asked.say("redrive", "--queue", "inbound", "--count", "2", "--yes", "--json").json["inbound"]
    assert (first["unreadable, left there"], first["sent back"]) == (1, 1)
    assert len(dead) == 2


@pytest.mark.parametrize("option", [[], ["--dry-run"], ["--queue", "inbound"]])
def test_a_redrive_of_nothing_says_so_and_asks_nothing(
    option: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    done = operator(capsys).say("redrive", *option)
    assert (done.status, done.out.strip()) == (0, "nothing to send back")


def test_a_redrive_that_could_not_send_all_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    asked = operator(capsys)
    asked.world.queue.fifo.dead[:] = [encode(inbound("evt_1"))]

    def refuse(_letter: object) -> None:
        raise QueueUnavailable("SQS is away")

    asked.deployment.dead_letters["inbound"]._back = refuse  # type: ignore[attr-defined]
    assert asked.say("redrive", "--yes").status == 5
    assert len(asked.world.queue.fifo.dead) == 1


def test_stats_count_turns_people_tokens_and_queues(capsys: pytest.CaptureFixture[str]) -> None:
    asked = operator(capsys)
    for place, age in enumerate((0, 1, 20)):
        kept = turn(f"evt_{place}", "sent", created_at=NOW - timedelta(days=age), usage=Usage(100, 50, 10))
        asked.world.tables.turns[CONVERSATION][kept.event_id] = Kept(kept)
    asked.world.queue.fifo.dead[:] = [encode(inbound())]
    found = asked.say("stats", "--days", "7", "--json").json
    assert (found["turns"], found["people"], found["turns_by_state"]) == (2, 1, {"sent": 2})
    assert (found["input_tokens"], found["cached_share"]) == (200, 0.5)
    assert found["dead_letters"] == {"inbound": 1, "compaction": 0}
    assert "2 sent" in asked.say("stats").out


def test_costs_are_tokens_times_prices_and_say_what_they_do_not_know(
    capsys: pytest.CaptureFixture[str],
) -> None:
    figures = FakeFigures({"CompactionInputTokens": 1_000_000})
    asked = operator(capsys, figures=figures)
    kept = turn("evt_1", "sent", reply_seq=2, usage=Usage(2_000_000, 1_000_000, 1_000_000))
    asked.world.tables.turns[CONVERSATION]["evt_1"] = Kept(kept)
    lines = {line["what"]: line["dollars"] for line in asked.say("costs", "--json").json["lines"]}
    assert lines["reply model gpt-6-luna: input tokens"] == pytest.approx(0.10)
    assert lines["reply model gpt-6-luna: cached input tokens"] == pytest.approx(0.01)
    assert lines["reply model gpt-6-luna: output tokens"] == pytest.approx(0.50)
    assert lines["memory model gpt-6-luna: input tokens"] == pytest.approx(0.10)
    unknown = asked.with_(models={"reply": "my-own", "memory": "my-own"}).say("costs")
    assert "no price known" in unknown.out


def test_options_of_the_program_may_stand_behind_the_command() -> None:
    assert hoisted(["inspect", "+34", "--json", "--region", "eu-west-1", "--agent", "sales"]) == [
        "--json",
        "--region",
        "eu-west-1",
        "inspect",
        "+34",
        "--agent",
        "sales",
    ]
    assert hoisted(["facts", "set", "+34", "note", "--", "--json"]) == [
        "facts",
        "set",
        "+34",
        "note",
        "--",
        "--json",
    ]


def test_without_a_stack_it_says_what_to_do(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["stats", "--state", str(tmp_path)]) == 1
    assert "make run" in capsys.readouterr().err


def test_help_names_every_command_and_every_status(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for command in (
        "inspect",
        "facts",
        "history",
        "transcript",
        "export",
        "erase",
        "erasures",
        "pause",
        "resume",
    ):
        assert command in shown
    for command in ("redrive", "stats", "costs", "--install-completion", "4 not confirmed"):
        assert command in shown


def test_where_to_look_is_taken_from_the_command_line() -> None:
    asked: list[Options] = []

    def opening(options: Options) -> object:
        asked.append(options)
        raise QueueUnavailable("far enough")

    assert main(["stats", "--stack-name", "prod", "--region", "eu-west-1"], opening=opening) == 1  # type: ignore[arg-type]
    assert (asked[0].stack_name, asked[0].region) == ("prod", "eu-west-1")
