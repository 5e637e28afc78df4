"""Dead letters on SQS as moto and ministack play it: looked at, sent back, dropped."""

import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from tests.builders import CONVERSATION, NOW, PERSON, inbound
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.events import decode, encode
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.queues.compaction import encode_job
from whatsapp_agent.queues.dead_letters import DeadLetterQueue, SqsDeadLetters

OTHER = "+34600999888"


@dataclass
class Queues:
    client: Any
    source: str
    dead: str
    dead_jobs: str

    @property
    def letters(self) -> DeadLetterQueue:
        return DeadLetterQueue(self.client, self.dead, self.source)

    def put(self, url: str, group: str, dedup: str, body: str) -> None:
        self.client.send_message(
            QueueUrl=url, MessageBody=body, MessageGroupId=group, MessageDeduplicationId=dedup
        )

    def give_up(self, event_id: str, person: str = PERSON, **changes: Any) -> None:
        event = inbound(event_id, person=person, **changes)
        self.put(self.dead, person, event_id, encode(event))

    def receive(self, url: str, expected: int) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        deadline = time.monotonic() + 10
        while len(found) < expected and time.monotonic() < deadline:
            answer = self.client.receive_message(
                QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
            )
            for each in answer.get("Messages", ()):
                self.client.delete_message(QueueUrl=url, ReceiptHandle=each["ReceiptHandle"])
                found.append(each)
        return found

    def ids(self, url: str, expected: int) -> list[str]:
        return [decode(each["Body"]).event_id for each in self.receive(url, expected)]


@pytest.fixture(params=["moto", pytest.param("ministack", marks=pytest.mark.emulator)])
def queues(request: pytest.FixtureRequest) -> Iterator[Queues]:
    emulated = request.param == "ministack"
    endpoint = request.getfixturevalue("emulator") if emulated else None
    with mock_aws() if not emulated else closing(_Nothing()):
        client = boto3.client(
            "sqs",
            region_name="eu-west-1",
            endpoint_url=endpoint,
            aws_access_key_id="test",
            aws_secret_access_key="test",
            config=Config(retries={"total_max_attempts": 1}),
        )
        urls = [
            client.create_queue(
                QueueName=f"{name}-{uuid4().hex[:8]}.fifo",
                Attributes={
                    "FifoQueue": "true",
                    "DeduplicationScope": "messageGroup",
                    "FifoThroughputLimit": "perMessageGroupId",
                },
            )["QueueUrl"]
            for name in ("source", "dead", "jobs")
        ]
        yield Queues(client, *urls)


class _Nothing:
    def close(self) -> None:
        pass


def test_what_is_sent_back_is_not_swallowed_as_a_duplicate(queues: Queues) -> None:
    queues.put(queues.source, PERSON, "evt_1", encode(inbound("evt_1")))
    assert queues.ids(queues.source, 1) == ["evt_1"]
    queues.give_up("evt_1")
    with closing(queues.letters.take()) as letters:
        for letter in letters:
            queues.letters.send_back(letter)
    (back,) = queues.receive(queues.source, 1)
    assert back["Attributes"]["MessageGroupId"] == PERSON
    assert decode(back["Body"]).event_id == "evt_1"
    assert queues.letters.count() == 0


def test_a_redrive_that_broke_off_before_the_deletion_doubles_nothing(queues: Queues) -> None:
    queues.give_up("evt_1")
    with closing(queues.letters.take()) as letters:
        letter = next(letters)
        removing = queues.letters.remove
        queues.letters.send_back(letter)
        del removing
    queues.put(queues.dead, PERSON, "again", letter.body)
    assert queues.ids(queues.source, 1) == ["evt_1"]


def test_order_within_a_person_survives(queues: Queues) -> None:
    for place in range(25):
        queues.give_up(f"evt_{place}")
    letters = queues.letters
    for letter in letters.take():
        letters.send_back(letter)
    assert queues.ids(queues.source, 25) == [f"evt_{place}" for place in range(25)]


def test_looking_changes_nothing_and_shows_each_once(queues: Queues) -> None:
    for place, person in enumerate((PERSON, OTHER)):
        queues.give_up(f"evt_{place}", person)
    seen = [letter.group for letter in queues.letters.take()]
    assert sorted(seen) == sorted([PERSON, OTHER])
    assert queues.letters.count() == 2
    assert sorted(queues.ids(queues.dead, 2)) == ["evt_0", "evt_1"]


def test_an_erasure_drops_what_one_person_said_before_it_and_nothing_else(queues: Queues) -> None:
    for place in range(12):
        queues.give_up(f"old_{place}", received_at=NOW - timedelta(minutes=1))
    queues.give_up("new", received_at=NOW + timedelta(minutes=1))
    queues.give_up("other", OTHER, received_at=NOW - timedelta(minutes=1))
    queues.put(queues.dead_jobs, CONVERSATION, "1", encode_job(CompactionJob(CONVERSATION, 1)))
    queues.put(queues.dead_jobs, f"sales#{OTHER}", "2", encode_job(CompactionJob(f"sales#{OTHER}", 1)))
    dead = SqsDeadLetters(queues.client, inbound_url=queues.dead, compaction_url=queues.dead_jobs)
    assert dead.drop(PERSON, CONVERSATION, NOW) == 13
    assert sorted(queues.ids(queues.dead, 2)) == ["new", "other"]
    (job,) = queues.receive(queues.dead_jobs, 1)
    assert OTHER in job["Body"]


def test_what_cannot_be_read_goes_with_its_person(queues: Queues) -> None:
    queues.put(queues.dead, PERSON, "1", "no event")
    queues.put(queues.dead, OTHER, "2", "no event")
    dead = SqsDeadLetters(queues.client, inbound_url=queues.dead, compaction_url=queues.dead_jobs)
    assert dead.drop(PERSON, CONVERSATION, NOW) == 1
    assert queues.letters.count() == 1


def test_empty_queues_have_nothing_to_drop(queues: Queues) -> None:
    dead = SqsDeadLetters(queues.client, inbound_url=queues.dead, compaction_url=queues.dead_jobs)
    assert dead.drop(PERSON, CONVERSATION, NOW) == 0


def test_a_queue_that_is_not_there_is_a_matter_of_configuration(queues: Queues) -> None:
    with pytest.raises(ConfigurationError):
        DeadLetterQueue(queues.client, f"{queues.dead}-missing").count()
