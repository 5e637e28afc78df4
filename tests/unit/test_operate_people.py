"""`operate` about one person: looking, correcting, pausing, exporting."""

import json
import stat
from pathlib import Path

import jsonschema
import pytest

from tests.builders import CONVERSATION, PERSON
from tests.fakes.model import ScriptedModel
from tests.unit.operating import know, operator, talk
from tools.local.state import ROOT
from whatsapp_agent.memory.exchange import CompactionAnswer
from whatsapp_agent.memory.records import CompactionJob, FactChange

SCHEMA = json.loads((ROOT / "docs" / "export.schema.json").read_text("utf-8"))
ESCAPE = "\x1b]0;owned\x07\x1b[31mred\u202egnp.exe"


def test_inspect_shows_a_person_in_any_spelling(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model)
        talk(asked.world, model, "I am Maya")
        know(asked.world, CONVERSATION, ("name", "Maya"))
        found = asked.say("inspect", "0034 600-111.222", "--json").json
    assert (found["person"], found["agent"], found["messages"], found["facts"]) == (PERSON, "sales", 2, 1)
    assert found["waiting_turns"] == []
    table = asked.say("inspect", PERSON)
    assert (table.status, "messages" in table.out, PERSON in table.out) == (0, True, True)


def test_a_person_is_found_under_another_address(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model)
        talk(asked.world, model, "hi")
        asked.world.directory.alias_person("+34699000000", PERSON)
        found = asked.say("inspect", "+34699000000", "--json").json
    assert (found["person"], found["addresses"]) == (PERSON, ["+34699000000"])


@pytest.mark.parametrize("command", ["inspect", "history", "transcript", "export"])
def test_a_stranger_ends_with_a_status_of_their_own(capsys: pytest.CaptureFixture[str], command: str) -> None:
    ran = operator(capsys).say(command, "+34600999888")
    assert (ran.status, ran.out) == (3, "")
    assert "nothing is remembered" in ran.err


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "not a phone"),
        ("inspect", PERSON, "--agent", "nobody"),
        ("facts", "set", PERSON, "shoe_size", "39"),
        ("facts", "set", PERSON, "name", "4111 1111 1111 1111"),
        ("pause", PERSON, "--for", "a while"),
        ("inspect",),
        ("no-such-command",),
    ],
)
def test_wrong_usage_is_told_and_has_a_status_of_its_own(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    ran = operator(capsys).say(*words)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err


def test_errors_are_json_too_where_json_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    ran = operator(capsys).say("inspect", "+34600999888", "--json")
    assert "nothing is remembered" in json.loads(ran.err)["error"]


def test_what_a_person_wrote_cannot_repaint_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model)
        talk(asked.world, model, f"{ESCAPE} [bold]not markup[/bold]")
        for command in ("history", "transcript"):
            out = asked.say(command, PERSON).out
            assert "\x1b" not in out
            assert "\u202e" not in out
            assert "[bold]not markup[/bold]" in out


def test_an_operator_sets_a_fact_and_the_old_value_is_in_its_history(
    capsys: pytest.CaptureFixture[str],
) -> None:
    asked = operator(capsys)
    know(asked.world, CONVERSATION, ("city", "Lisbon"))
    assert asked.say("facts", "set", PERSON, "city", "Berlin").out == "city: Berlin\n"
    (now,) = asked.say("facts", "list", PERSON, "--json").json
    assert (now["value"], now["source"], now["confidence"]) == ("Berlin", "operator", 1.0)
    (past,) = asked.say("facts", "history", PERSON, "city", "--json").json
    assert (past["value"], past["reason"]) == ("Lisbon", "operator")
    assert "Lisbon" in asked.say("facts", "history", PERSON).out


def test_removing_a_fact_asks_first(capsys: pytest.CaptureFixture[str]) -> None:
    asked = operator(capsys)
    know(asked.world, CONVERSATION, ("city", "Lisbon"))
    assert asked.say("facts", "remove", PERSON, "city").status == 4
    assert len(asked.world.facts.facts(CONVERSATION)) == 1
    assert asked.say("facts", "remove", PERSON, "city", "--yes").status == 0
    assert asked.world.facts.facts(CONVERSATION) == []
    assert asked.say("facts", "remove", PERSON, "city", "--yes").status == 3


def test_a_paused_person_is_not_answered_until_the_pause_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model)
        talk(asked.world, model, "hi")
        assert asked.say("pause", PERSON, "--for", "2h").status == 0
        asked.world.say("evt_quiet", "anybody there?")
        asked.world.run()
        assert len(asked.world.provider.sent) == 1
        assert asked.say("resume", PERSON).status == 0
        talk(asked.world, model, "and now?", prefix="after")
    assert len(asked.world.provider.sent) == 2


def test_a_transcript_joins_archive_and_database(capsys: pytest.CaptureFixture[str]) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model, compact_at=1000, keep_messages=4)
        talk(asked.world, model, *(f"message {place}" for place in range(6)))
        model.will_compact(CompactionAnswer("They talked.", (FactChange("set", "name", "Maya"),)))
        assert asked.world.compactor.compact(CompactionJob(CONVERSATION, 0), seconds=60)
        lines = asked.say("transcript", PERSON, "--json").json
    assert [line["seq"] for line in lines] == list(range(1, 13))
    assert [line["place"] for line in lines] == ["archive"] * 8 + ["database"] * 4


def test_an_export_holds_everything_and_keeps_to_its_schema(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    with ScriptedModel() as model:
        asked = operator(capsys, model, compact_at=1000, keep_messages=4)
        talk(asked.world, model, *(f"message {place}" for place in range(6)))
        model.will_compact(CompactionAnswer("They talked.", ()))
        asked.world.compactor.compact(CompactionJob(CONVERSATION, 0), seconds=60)
        know(asked.world, CONVERSATION, ("name", "Maya"))
        asked.say("facts", "set", PERSON, "name", "Maia")
        asked.world.directory.alias_person("+34699000000", PERSON)
        file = tmp_path / "maya.json"
        assert asked.say("export", PERSON, "--file", str(file)).status == 0
    document = json.loads(file.read_text("utf-8"))
    jsonschema.validate(document, SCHEMA)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert len(document["messages"]) == 12
    assert len(document["turns"]) == 6
    assert document["summary"]["text"] == "They talked."
    assert [one["value"] for one in document["facts"]] == ["Maia"]
    assert [one["value"] for one in document["former_facts"]] == ["Maya"]
    assert document["person"]["addresses"] == ["+34699000000"]
    assert json.loads(json.dumps(asked.say("export", PERSON).json)) == document
