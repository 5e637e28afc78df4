"""The operator's command line against the deployed local stack."""

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from tools.local.clients import client
from tools.local.state import ROOT
from tools.local.talk import Talk, poll


@dataclass
class Operate:
    """Runs `operate` as a program of its own."""

    state: str

    def say(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "tools.operate", *words, "--state", self.state]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, input="")

    def json(self, *words: str) -> Any:
        ran = self.say(*words, "--json")
        assert ran.returncode == 0, ran.stderr
        return json.loads(ran.stdout)


@pytest.fixture
def operate(talk: Talk) -> Operate:
    return Operate(str(ROOT / ".local" / "e2e"))


def write(talk: Talk, person: str, *texts: str) -> None:
    deliveries = talk.write(person, *texts)
    assert talk.wait_until_answered(person, [delivery["event_id"] for delivery in deliveries])


def test_an_operator_looks_up_corrects_exports_and_erases(talk, person, operate):
    write(talk, person, "Hola, me llamo Maya y vivo en Lisboa.")
    assert operate.json("inspect", person)["messages"] >= 2
    assert operate.json("facts", "set", person, "city", "Berlín")[0]["value"] == "Berlín"
    assert operate.json("facts", "set", person, "city", "Roma")[0]["source"] == "operator"
    assert "Berlín" in [past["value"] for past in operate.json("facts", "history", person, "city")]
    document = operate.json("export", person)
    assert any("Maya" in message["text"] for message in document["messages"])
    assert [turn["state"] for turn in document["turns"]] == ["sent"]
    assert operate.say("erase", person).returncode == 4
    erased = operate.say("erase", person, "--yes")
    assert erased.returncode == 0, erased.stderr
    assert talk.remembered(person).empty
    assert operate.json("inspect", person)["erased_at"]


def test_a_paused_person_hears_nothing_until_the_pause_is_lifted(talk, person, operate):
    write(talk, person, "Hola")
    heard = len(talk.received(person))
    assert operate.say("pause", person, "--for", "1h").returncode == 0
    write(talk, person, "¿Hola?")
    assert len(talk.received(person)) == heard
    assert operate.say("resume", person).returncode == 0
    write(talk, person, "¿Y ahora?")
    assert len(talk.received(person)) > heard


def test_a_redriven_message_is_answered(talk, person, operate):
    write(talk, person, "Hola")
    sqs = client("sqs", talk.info.endpoint)
    body = json.dumps(
        {
            "v": 1,
            "event": "message",
            "event_id": f"evt_late_{person}",
            "person": person,
            "address": person,
            "number": talk.info.number,
            "message_id": f"msg_late_{person}",
            "kind": "text",
            "text": "¿Sigues ahí?",
            "sent_at": "2026-11-29T10:00:00.000Z",
            "received_at": "2026-11-29T10:00:00.000Z",
        }
    )
    sqs.send_message(
        QueueUrl=talk.info.outputs["InboundDeadLetterQueueUrl"],
        MessageBody=body,
        MessageGroupId=person,
        MessageDeduplicationId=f"evt_late_{person}",
    )
    look = operate.json("redrive", "--queue", "inbound", "--dry-run")["inbound"]
    assert look["message"] >= 1
    assert operate.json("redrive", "--queue", "inbound", "--yes")["inbound"]["sent back"] >= 1
    assert talk.wait_until_answered(person, [f"evt_late_{person}"])
    assert poll(lambda: operate.json("stats")["dead_letters"]["inbound"] == 0, 20)


def test_stats_and_costs_count_what_happened(talk, person, operate):
    write(talk, person, "Hola")
    found = operate.json("stats", "--days", "1")
    assert found["turns"] >= 1
    assert found["input_tokens"] > 0
    costs = operate.json("costs", "--days", "1")
    assert costs["total_dollars"] > 0
    assert costs["prices_as_of"]


def test_the_launcher_at_the_root_says_what_is_missing_or_helps(talk):
    environment = {"PATH": "/usr/bin:/bin", "OPERATE_PYTHON": sys.executable, "HOME": "/tmp"}
    helped = subprocess.run(
        [ROOT / "operate", "--help"], env=environment, capture_output=True, text=True, check=False
    )
    assert helped.returncode == 0
    assert "erase" in helped.stdout
    environment["OPERATE_PYTHON"] = "/nowhere/python"
    missing = subprocess.run(
        [ROOT / "operate", "--help"], env=environment, capture_output=True, text=True, check=False
    )
    assert missing.returncode == 1
    assert "make" in missing.stderr
