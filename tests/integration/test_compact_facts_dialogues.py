"""Whole talks through the deployed compact function: which facts, which history, what is refused.

The memory model is a script that answers over HTTP, so that what is tested is everything around it; the talks
are in `dialogues.toml`, in four languages.
"""

import json
import tomllib
import zlib
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from moto import mock_aws

from tests.contracts.scripted_http import scripted_server
from tests.integration.compact_function import JSON, CompactFunction
from whatsapp_agent.memory.facts import UNCONFIRMED_BELOW
from whatsapp_agent.memory.likeness import item_id
from whatsapp_agent.memory.records import Fact, Message

LANGUAGES = ("es", "en", "it", "ar")
ROLES = {"u": "user", "a": "assistant", "o": "owner"}
FIRST = 101
"""Place of the first message of a talk; what was on record before comes from earlier ones."""

DIALOGUES = [
    pytest.param(dialogue, id=f"{dialogue['agent']}: {name}")
    for name, dialogues in tomllib.loads(Path(__file__).with_name("dialogues.toml").read_text("utf-8")).items()
    for dialogue in dialogues
]


@pytest.fixture(scope="module")
def function(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CompactFunction]:
    """One deployment for all the talks: each is somebody else's."""
    with pytest.MonkeyPatch.context() as monkeypatch, mock_aws(), scripted_server() as model:
        for name, value in {
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "eu-west-1",
            "POWERTOOLS_SERVICE_NAME": "stack-1",
        }.items():
            monkeypatch.setenv(name, value)
        yield CompactFunction(monkeypatch, tmp_path_factory.mktemp("agents"), model, LANGUAGES)


def conversation(dialogue: dict[str, Any]) -> str:
    # Another talk is another person's.
    number = zlib.crc32(repr(dialogue).encode())
    return f"{dialogue['agent']}#+34{number}"


def talk(dialogue: dict[str, Any]) -> list[Message]:
    began = datetime.now(UTC) - timedelta(days=dialogue.get("days", 0), hours=1)
    messages = []
    for place, line in enumerate(dialogue["said"]):
        at = began + timedelta(minutes=place)
        role, text = ROLES[line[0]], line[2:]
        messages.append(
            Message(conversation(dialogue), FIRST + place, role, text, "text", at, at, f"evt_{place}")  # type: ignore[arg-type]
        )
    return messages


def before(dialogue: dict[str, Any]) -> list[Fact]:
    known = []
    long_ago, now = datetime.now(UTC) - timedelta(days=40), datetime.now(UTC)
    for name, values in dialogue.get("before", {}).items():
        *source, key = name.split()
        at = now if source == ["operator"] else long_ago
        for value in values if isinstance(values, list) else [values]:
            known += [
                Fact(
                    conversation=conversation(dialogue),
                    key=key,
                    item=item_id(value) if isinstance(values, list) else "",
                    value=value,
                    confidence=0.6 if source == ["inferred"] else 1.0,
                    source=source[0] if source else "stated",  # type: ignore[arg-type]
                    evidence_seq=0 if source == ["operator"] else 7,
                    created_at=at,
                    updated_at=at,
                    version=1,
                )
            ]
    return known


def change(proposal: str) -> dict[str, Any]:
    action, _, rest = proposal.partition(" ")
    key, _, rest = rest.partition(" = ")
    value, _, place = rest.rpartition(" @")
    return {
        "action": "obsolete" if action == "obsolete" else "set",
        "key": key,
        "value": value,
        "stated": action != "infer",
        "confidence": 0.6 if action == "infer" else 1,
        "evidence": FIRST - 1 + int(place),
    }


def refusals(written: str) -> dict[str, int]:
    """What the function counted as refused, by reason, in the metrics that it wrote."""
    lines = [json.loads(line) for line in written.splitlines() if line.startswith("{")]
    counted = [line for line in lines if "FactRefused" in line and "reason" in line]
    return {str(line["reason"]): int(sum(line["FactRefused"])) for line in counted}


def grouped(facts: list[Fact]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for fact in facts:
        if fact.item:
            found.setdefault(fact.key, []).append(fact.value)
        else:
            found[fact.key] = fact.value
    return {key: sorted(value) if isinstance(value, list) else value for key, value in found.items()}


@pytest.mark.parametrize("dialogue", DIALOGUES)
def test_a_talk_leaves_these_facts_this_history_and_these_refusals(
    function: CompactFunction, dialogue: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    messages = talk(dialogue)
    function.put(messages, before(dialogue))
    function.will_answer(dialogue.get("summary", "They talked."), [change(each) for each in dialogue["answer"]])

    assert function.compact(conversation(dialogue)) == {"batchItemFailures": []}

    facts = function.facts.facts(conversation(dialogue))
    expected = {key: sorted(v) if isinstance(v, list) else v for key, v in dialogue["facts"].items()}
    assert grouped(facts) == expected
    history = [
        f"{past.fact.key}, {past.fact.value}, {past.reason}, {past.evidence_seq - FIRST + 1}"
        for past in function.facts.history(conversation(dialogue))
    ]
    assert history == dialogue.get("history", [])
    written = capsys.readouterr().out
    assert refusals(written) == dialogue.get("refused", {})
    unconfirmed = [fact.key for fact in facts if fact.confidence < UNCONFIRMED_BELOW]
    assert unconfirmed == dialogue.get("unconfirmed", [])
    sent = {message.seq: message.sent_at for message in messages}
    new = [fact for fact in facts if fact.evidence_seq in sent and fact.version == 1]
    assert all(abs(fact.created_at - sent[fact.evidence_seq]) < timedelta(seconds=1) for fact in new)
    for key, days in dialogue.get("expires_after_days", {}).items():
        [fact] = [fact for fact in facts if fact.key == key]
        assert fact.expires_at == fact.updated_at + timedelta(days=days)
    assert function.summary(conversation(dialogue)) == dialogue.get(
        "kept", dialogue.get("summary", "They talked.")
    )


def test_the_memory_model_sees_what_is_on_record_and_on_which_day_each_word_fell(
    function: CompactFunction,
) -> None:
    dialogue = {
        "agent": "es",
        "days": 3,
        "before": {"city": "Lisboa"},
        "said": ["u Ayer me mudé a Berlín", "a ¡Qué cambio!"],
    }
    messages = talk(dialogue)
    function.put(messages, before(dialogue))
    function.will_answer("Se mudó.", [])
    function.compact(conversation(dialogue))

    asked = function.model.asked[-1]
    body = asked.json()
    known, transcript = (
        item["content"] if isinstance(item["content"], str) else item["content"][0]["text"]
        for item in (body["input"][0], body["input"][-1])
    )
    assert '- city: "Lisboa"' in known
    day = messages[0].sent_at.astimezone(ZoneInfo("Europe/Madrid")).date()
    assert transcript.splitlines()[0].startswith(f"[{FIRST}] {day} ")
    keys = body["text"]["format"]["schema"]["properties"]["changes"]["items"]["properties"]["key"]["enum"]
    assert {"name", "city", "mood", "note"} <= set(keys)
    assert body["store"] is False


@pytest.mark.parametrize(
    "broken",
    [
        b"<html>a page of a proxy</html>",
        b"{}",
        json.dumps({"status": "completed", "output": []}).encode(),
        json.dumps(
            {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []}
        ).encode(),
    ],
    ids=["no JSON", "no response", "empty", "filtered"],
)
def test_an_answer_that_cannot_be_used_changes_nothing(function: CompactFunction, broken: bytes) -> None:
    said = ["u Ciao, abito a Berlino", f"a Bello, {len(broken)}"]
    dialogue = {"agent": "it", "before": {"city": "Lisbona"}, "said": said}
    function.put(talk(dialogue), before(dialogue))
    function.model.answers.append((200, JSON, broken))

    assert function.compact(conversation(dialogue)) == {"batchItemFailures": [{"itemIdentifier": "m1"}]}
    assert grouped(function.facts.facts(conversation(dialogue))) == {"city": "Lisbona"}

    function.will_answer("Si è trasferita.", [change("set city = Berlino @1")])
    assert function.compact(conversation(dialogue)) == {"batchItemFailures": []}
    assert grouped(function.facts.facts(conversation(dialogue))) == {"city": "Berlino"}
