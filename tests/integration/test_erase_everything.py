"""Erase a person with a long history, while a compaction is in flight: nothing of theirs anywhere, and another
person's data byte for byte as it was.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import boto3
import pytest

from tests.builders import NUMBER, PERSON, fact, inbound, message, turn
from tests.integration.deployed import BUCKET, SECRETS, Deployed, deployed
from whatsapp_agent.clock import utc_now
from whatsapp_agent.events import PersonChangedNumber, encode
from whatsapp_agent.memory.passages import Passage
from whatsapp_agent.memory.records import CompactionJob, Message, PastFact, conversation_key
from whatsapp_agent.queues.compaction import encode_job
from whatsapp_agent.store.archive import S3Archive
from whatsapp_agent.store.fact_items import fact_item, past_item
from whatsapp_agent.store.items import message_item, turn_item
from whatsapp_agent.store.recall import DynamoRecallStore
from whatsapp_agent.store.wire import to_wire

pytestmark = pytest.mark.filterwarnings(
    # The handlers keep their connections, as they do on Lambda; here they end with the test.
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

OTHER = "+34600999888"
ALIAS = "+34699000000"
CONVERSATION, OTHERS = conversation_key("sales", PERSON), conversation_key("sales", OTHER)


def put_all(deployed: Deployed, table: str, items: Iterable[dict[str, Any]]) -> None:
    waiting = list(items)
    for start in range(0, len(waiting), 25):
        requests = [{"PutRequest": {"Item": to_wire(item)}} for item in waiting[start : start + 25]]
        deployed.dynamodb.batch_write_item(RequestItems={deployed.physical[table]: requests})


def remember(deployed: Deployed, person: str, *, messages: int, facts: int, archived: int) -> None:
    """A conversation with so many messages, turns, facts (half of them former), objects, and 50 episodes."""
    conversation, now = conversation_key("sales", person), utc_now()
    said = [
        message(seq, f"said {seq} by {person}", conversation=conversation) for seq in range(1, messages + 1)
    ]
    put_all(deployed, "MessagesTable", (message_item(each, None) for each in said))
    put_all(
        deployed,
        "TurnsTable",
        (
            turn_item(
                turn(f"evt_{person}_{n}", "sent", n, conversation=conversation, address=person, created_at=now)
            )
            for n in range(messages // 10)
        ),
    )
    known = [
        fact("interests", f"{n} of {person}", item=f"{n}", conversation=conversation) for n in range(facts)
    ]
    put_all(deployed, "FactsTable", (fact_item(each, None) for each in known[: facts // 2]))
    put_all(
        deployed,
        "FactsTable",
        (past_item(PastFact(each, now, "changed", 1), None) for each in known[facts // 2 :]),
    )
    hash_key = SECRETS["HashKeyStore"]["hash_key"].encode()
    archive = S3Archive(boto3.client("s3"), bucket=BUCKET, hash_key=hash_key)
    for n in range(archived):
        archive.keep(conversation, [replace(said[n], received_at=now - timedelta(days=1, seconds=-n))])
    recall = DynamoRecallStore(deployed.dynamodb, recall=deployed.physical["RecallTable"], now=utc_now)
    recall.put([Passage(conversation, 100 * n, f"episode {n} of {person}") for n in range(50)])


def give_up(deployed: Deployed, person: str) -> None:
    """A message and a compaction job of theirs in the dead-letter queues."""
    given_up = inbound(
        f"dead_{person}", person=person, address=person, received_at=utc_now() - timedelta(hours=1)
    )
    conversation = conversation_key("sales", person)
    for queue, group, body in (
        ("InboundDeadLetterQueue", person, encode(given_up)),
        ("CompactionDeadLetterQueue", conversation, encode_job(CompactionJob(conversation, 1))),
    ):
        deployed.sqs.send_message(
            QueueUrl=deployed.physical[queue],
            MessageBody=body,
            MessageGroupId=group,
            MessageDeduplicationId=f"{queue}-{person}",
        )


def everything_of(deployed: Deployed, *marks: str) -> list[str]:
    """Everything, anywhere, in which one of the marks stands."""
    texts = [repr(item) for items in deployed.items().values() for item in items]
    texts += [body.decode("latin-1") for body in _unpacked(deployed)]
    queues = ("InboundQueue", "InboundDeadLetterQueue", "CompactionQueue", "CompactionDeadLetterQueue")
    texts += [repr(letter["Body"]) for queue in queues for letter in deployed.queued(queue)]
    return [text for text in texts if any(mark in text for mark in marks)]


def _unpacked(deployed: Deployed) -> Iterable[bytes]:
    import gzip

    return (gzip.decompress(body) for body in deployed.objects().values())


@pytest.mark.parametrize("in_flight", [True, False], ids=["beside a compaction", "alone"])
def test_nothing_of_an_erased_person_is_left_anywhere(
    in_flight: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    parameters = {"ArchiveDays": "30", "EpisodeDays": "30"}
    with deployed(monkeypatch, tmp_path, **parameters) as made:
        remember(made, PERSON, messages=5_000, facts=1_500, archived=30)
        remember(made, OTHER, messages=60, facts=20, archived=3)
        made.send(PersonChangedNumber("moved", PERSON, ALIAS, NUMBER, utc_now()))
        made.work()
        give_up(made, PERSON)
        give_up(made, OTHER)
        # Of the other one, and never handled: it must stay.
        others = everything_of(made, OTHER.lstrip("+"))
        late = inbound("evt_queued", "queued", received_at=utc_now() - timedelta(minutes=5))

        def erase() -> None:
            assert made.invoke("erase", {"person": ALIAS, "agent": "sales"})["queued"]
            made.work()

        if in_flight:
            # The compaction has asked the model and is about to write; the erasure comes and goes meanwhile.
            asked = _while_the_model_is_asked(made, erase)
            _compact(made)
            assert asked
        else:
            erase()
        made.send(late)
        made.work()
        made.work("CompactionQueue")

        assert everything_of(made, PERSON.lstrip("+"), ALIAS.lstrip("+")) == []
        assert everything_of(made, OTHER.lstrip("+")) == others


def _compact(deployed: Deployed) -> None:
    """A compaction job, handed over outside of the queue: it was taken before the erasure came."""
    record = {
        "messageId": "in-flight",
        "receiptHandle": "r",
        "body": encode_job(CompactionJob(CONVERSATION, 0)),
        "attributes": {"ApproximateReceiveCount": "1", "MessageGroupId": CONVERSATION},
    }
    deployed.invoke("compact", {"Records": [record]})


def _while_the_model_is_asked(deployed: Deployed, act: Any) -> list[bool]:
    """Lets something happen once, just before the compaction's first object goes to the archive: after it has
    read everything, before it commits.
    """
    happened: list[bool] = []
    keep = S3Archive.keep

    def keep_later(self: S3Archive, conversation: str, messages: Sequence[Message]) -> None:
        if not happened:
            happened.append(True)
            running, deployed.running = deployed.running, ""
            act()
            deployed.running = running
        keep(self, conversation, messages)

    deployed.monkeypatch.setattr(S3Archive, "keep", keep_later)
    return happened
