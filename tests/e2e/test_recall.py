"""Documents and older talk are recalled on the deployed stack, and are gone when they are removed or erased."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.places import STATE, clean_env
from tests.e2e.watching import content_of, idle, reply_inputs
from tests.unit.pdf_files import pdf
from tools.local import state
from tools.local.clients import client
from tools.local.processes import Children
from tools.local.state import ROOT
from tools.local.talk import Talk, poll
from whatsapp_agent.agents import load_agent

START_SECONDS = 900
SETTINGS = ("BurstSeconds=1", "EpisodeDays=30", "CompactAt=30", "KeepMessages=6")
AGENT = "sales"
HERE = STATE.with_name(f"{STATE.name}-recall")


@pytest.fixture(scope="module")
def talk() -> Iterator[Talk]:
    """A stack of its own: episodes are kept on it."""
    settings = [word for setting in SETTINGS for word in ("--set", setting)]
    command = [sys.executable, "-m", "tools.local", "run", "--state", HERE, "--agent", AGENT, *settings]
    with Children(ROOT) as children:
        stack = children.start("the local stack", command, clean_env(), HERE / "logs" / "run.log")
        stack.wait_until(lambda: state.running(HERE) is not None, START_SECONDS)
        yield Talk(state.require_running(HERE))


def answer_to(talk: Talk, person: str, *texts: str) -> str:
    deliveries = talk.write(person, *texts)
    assert talk.wait_until_answered(person, [delivery["event_id"] for delivery in deliveries])
    return talk.received(person)[-1]["text"]


def operate(*words: str) -> str:
    """Says a command about the running stack; returns what it prints."""
    command = [sys.executable, "-m", "tools.operate", "--state", str(HERE), *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def recall_blocks(talk: Talk, text: str) -> list[str]:
    label = load_agent(ROOT / "layers" / "agents", AGENT).phrases.recall_label
    prompts = reply_inputs(talk, text)
    return [content_of(item) for items in prompts for item in items if content_of(item).startswith(label)]


def test_an_answer_that_only_the_pdf_holds_is_found_named_and_gone_when_it_is_removed(
    talk: Talk, person: str, tmp_path: Path
):
    folder = tmp_path / "shop"
    folder.mkdir()
    (folder / "manual.md").write_text("# Shop\n\n## Returns\n\nYou have 45 days to send a thing back.\n")
    (folder / "hours.html").write_text("<h1>Hours</h1><p>The showroom opens at ten.</p>")
    (folder / "prices.pdf").write_bytes(pdf("The Zephyr lamp costs 4217 euros in brass."))
    question = "How much does the Zephyr lamp cost?"

    operate("knowledge", "add", str(folder), "--agent", AGENT)
    found = poll(lambda: "4217" in answer_to(talk, person, question), 90)
    assert found
    (*_, block) = recall_blocks(talk, question)
    assert '"shop/prices.pdf › prices › p. 1": "The Zephyr lamp costs 4217 euros in brass."' in block
    assert "4217" in operate("knowledge", "search", question)

    operate("knowledge", "remove", "shop/prices.pdf", "--yes")
    stranger = f"{person[:-1]}{(int(person[-1]) + 1) % 10}"
    gone = poll(lambda: "4217" not in answer_to(talk, stranger, question), 90)
    assert gone


def test_a_detail_of_the_fifth_of_many_messages_is_recalled_and_erased(talk: Talk, person: str):
    detail = "My bicycle has the frame number WX-8841-Q."
    texts = [f"Small talk number {number}, nothing more." for number in range(180)]
    texts[4] = detail
    for start in range(0, len(texts), 20):
        answer_to(talk, person, *texts[start : start + 20])
    assert idle(talk)
    kept = talk.remembered(person)
    assert all(detail not in message.text for message in kept.messages)

    # A busy machine may take longer than a reply waits for its recall: then the person asks again.
    question = "What was the frame number of my bicycle?"
    block = poll(lambda: answer_to(talk, person, question) and recall_blocks(talk, question)[-1:], 60)
    assert block
    assert "frame number WX-8841-Q" in block[0]

    dynamodb, table = client("dynamodb", talk.info.endpoint), talk.info.outputs["RecallTable"]
    assert any(person in item["owner"]["S"] for item in items_of(dynamodb, table))
    talk.erase(person)
    assert poll(lambda: talk.remembered(person).empty, 60)
    assert idle(talk)
    assert not any(person in item["owner"]["S"] for item in items_of(dynamodb, table))
    index = dynamodb.search_vectors(
        TableName=table,
        IndexName="by_embedding",
        SearchVector=[{"N": "1"}] + [{"N": "0"}] * 511,
        TopK=10,
        SearchConditionExpression="#owner = :owner",
        ExpressionAttributeNames={"#owner": "owner"},
        ExpressionAttributeValues={":owner": {"S": f"{AGENT}#{person}"}},
    )
    assert index["SearchResults"] == []


def items_of(dynamodb, table: str) -> list[dict]:
    pages = dynamodb.get_paginator("scan").paginate(TableName=table)
    return [item for page in pages for item in page["Items"]]
