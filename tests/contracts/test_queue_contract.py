"""One suite for the fake queues and for SQS, as moto and ministack play it."""

import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import boto3
import pytest
from botocore.config import Config
from moto import mock_aws

from tests.builders import NOW, PERSON, inbound
from tests.fakes.queues import FakeCompactionQueue, FakeFifo, FakeTurnQueue
from whatsapp_agent.events import Erase, NumberReplaced, decode
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.ports.queues import CompactionQueue, QueueRecord, TurnQueue
from whatsapp_agent.queues.compaction import SqsCompactionQueue, decode_job
from whatsapp_agent.queues.inbound import SqsTurnQueue

LEGAL_GROUP = re.compile(r"[!-~]{1,128}")
DEADLINE_SECONDS = 20.0


@dataclass
class Bench:
    """A queue under test and the other end of it."""

    turns: TurnQueue
    compactions: CompactionQueue
    receive_turns: Callable[[], list[QueueRecord]]
    receive_jobs: Callable[[], list[tuple[str, CompactionJob]]]
    delete_turn: Callable[[QueueRecord], None]

    def drain(self, expected: int) -> list[QueueRecord]:
        """Receives and deletes until `expected` messages came and none is left."""
        found: list[QueueRecord] = []
        deadline = time.monotonic() + DEADLINE_SECONDS
        while time.monotonic() < deadline:
            records = self.receive_turns()
            for record in records:
                self.delete_turn(record)
            found += records
            if len(found) >= expected and not records:
                break
        return found


def _fake() -> Bench:
    turns, compactions = FakeTurnQueue(), FakeCompactionQueue()

    def jobs() -> list[tuple[str, CompactionJob]]:
        by_body = dict(zip(compactions.fifo.bodies, compactions.jobs, strict=True))
        return [(record.group, by_body[record.body]) for record in compactions.fifo.receive()]

    fifo: FakeFifo = turns.fifo
    return Bench(turns, compactions, fifo.receive, jobs, lambda record: fifo.delete(record.receipt_handle))


def _sqs(endpoint: str | None, name: str) -> Bench:
    client = boto3.client(
        "sqs",
        region_name="eu-west-1",
        endpoint_url=endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    attributes = {
        "FifoQueue": "true",
        "DeduplicationScope": "messageGroup",
        "FifoThroughputLimit": "perMessageGroupId",
        "VisibilityTimeout": "60",
    }
    turns_url = client.create_queue(QueueName=f"turns-{name}.fifo", Attributes=attributes)["QueueUrl"]
    jobs_url = client.create_queue(QueueName=f"jobs-{name}.fifo", Attributes=attributes)["QueueUrl"]

    def receive(url: str) -> list[QueueRecord]:
        answer = client.receive_message(
            QueueUrl=url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"], WaitTimeSeconds=0
        )
        return [
            QueueRecord(
                message_id=message["MessageId"],
                receipt_handle=message["ReceiptHandle"],
                group=message["Attributes"]["MessageGroupId"],
                body=message["Body"],
                receive_count=int(message["Attributes"]["ApproximateReceiveCount"]),
                last_attempt=False,
            )
            for message in answer.get("Messages", [])
        ]

    return Bench(
        SqsTurnQueue(client, turns_url),
        SqsCompactionQueue(client, jobs_url),
        lambda: receive(turns_url),
        lambda: [(record.group, decode_job(record.body)) for record in receive(jobs_url)],
        lambda record: client.delete_message(QueueUrl=turns_url, ReceiptHandle=record.receipt_handle),
    )


MINISTACK = pytest.param("ministack", marks=pytest.mark.emulator)


@pytest.fixture(params=["fake", "moto", MINISTACK])
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    if request.param == "fake":
        yield _fake()
    elif request.param == "moto":
        with mock_aws():
            yield _sqs(None, "contract")
    else:
        name = re.sub(r"[^A-Za-z0-9]", "-", request.node.name)[:50]
        yield _sqs(request.getfixturevalue("emulator"), f"{name}-{time.monotonic_ns()}"[-70:])


def _texts(records: Sequence[QueueRecord]) -> list[str]:
    return [decode(record.body).text for record in records]


def test_an_event_arrives_as_it_was_sent_in_the_persons_own_group(bench):
    event = inbound("evt_1", 'say "hi"\n\tto 🙂 \u2028 and ﷽')
    bench.turns.send([event])
    [record] = bench.drain(1)
    assert decode(record.body) == event
    assert record.group == PERSON


def test_many_events_of_one_person_arrive_in_the_order_of_sending(bench):
    bench.turns.send([inbound(f"evt_{n}", f"text {n}") for n in range(25)])
    assert _texts(bench.drain(25)) == [f"text {n}" for n in range(25)]


def test_no_events_are_no_request_and_no_error(bench):
    bench.turns.send([])
    assert bench.drain(0) == []


def test_other_kinds_of_events_arrive_too(bench):
    replaced = NumberReplaced("evt_1", "+15550100", "+15550123", NOW)
    erase = Erase("erase_1", "sales", PERSON, NOW)
    bench.turns.send([replaced, erase])
    records = bench.drain(2)
    assert {record.group: decode(record.body) for record in records} == {"+15550100": replaced, PERSON: erase}


def test_a_redelivered_event_is_queued_once(bench):
    event = inbound("evt_1")
    bench.turns.send([event])
    bench.turns.send([event])
    bench.turns.send([event, inbound("evt_2", "next")])
    assert _texts(bench.receive_turns()) == ["hello", "next"]


def test_the_same_words_of_two_people_or_twice_are_all_queued(bench):
    ana, ben = "+34600111001", "+34600111002"
    bench.turns.send(
        [
            inbound("evt_1", "ok", person=ana),
            inbound("evt_2", "ok", person=ben),
            inbound("evt_3", "ok", person=ana),
        ]
    )
    assert sorted(record.group for record in bench.drain(3)) == [ana, ana, ben]


def test_a_locked_person_does_not_hold_up_another(bench):
    ana, ben = "+34600111001", "+34600111002"
    bench.turns.send([inbound("evt_1", "ana 1", person=ana)])
    assert _texts(bench.receive_turns()) == ["ana 1"]
    bench.turns.send([inbound("evt_2", "ana 2", person=ana), inbound("evt_3", "ben", person=ben)])
    assert _texts(bench.receive_turns()) == ["ben"]


def test_a_webhook_of_many_large_messages_arrives_whole_and_in_order_per_person(bench):
    people = [f"+3460011100{n}" for n in range(3)]
    events = [inbound(f"evt_{n}", f"{n} " + "x" * 30_000, person=people[n % 3]) for n in range(45)]
    bench.turns.send(events)
    records = bench.drain(45)
    assert len(records) == 45
    for person in people:
        order = [text for record, text in zip(records, _texts(records), strict=True) if record.group == person]
        assert order == [event.text for event in events if event.person == person]


@pytest.mark.parametrize("person", ["x" * 129, "two words", "👩", "ürün", "line\nbreak"])
def test_a_group_that_sqs_would_refuse_is_queued_under_a_legal_one(bench, person):
    bench.turns.send([inbound("evt_1", person=person), inbound("evt_2", person=person)])
    records = bench.drain(2)
    assert [decode(record.body).person for record in records] == [person, person]
    assert len({record.group for record in records}) == 1
    if not isinstance(bench.turns, FakeTurnQueue):
        assert all(LEGAL_GROUP.fullmatch(record.group) for record in records)


@pytest.mark.parametrize("event_id", ["x" * 129, "two words", "👩", "wamid.HBgL=="])
def test_an_event_id_of_any_form_is_queued_once(bench, event_id):
    bench.turns.send([inbound(event_id), inbound(event_id)])
    assert len(bench.receive_turns()) == 1


def test_a_message_sent_back_with_zero_seconds_is_there_again(bench):
    bench.turns.send([inbound("evt_1")])
    [first] = bench.receive_turns()
    bench.turns.retry_later([first.receipt_handle], 0)
    [second] = bench.drain(1)
    assert second.message_id == first.message_id
    assert second.receive_count == 2


def test_a_postponed_message_stays_away_and_keeps_its_group_locked(bench):
    bench.turns.send([inbound("evt_1"), inbound("evt_2")])
    first = bench.receive_turns()
    bench.turns.retry_later([record.receipt_handle for record in first], 600)
    assert bench.receive_turns() == []


# moto hands out only the last message of a group again.
@pytest.mark.parametrize("bench", ["fake", MINISTACK], indirect=True)
def test_the_messages_of_a_person_come_back_together_in_their_order(bench):
    bench.turns.send([inbound(f"evt_{n}", f"text {n}") for n in range(3)])
    first = bench.receive_turns()
    bench.turns.retry_later([record.receipt_handle for record in first], 0)
    assert _texts(bench.drain(3)) == ["text 0", "text 1", "text 2"]


# moto forgets the deduplication id of a deleted message.
@pytest.mark.parametrize("bench", ["fake", MINISTACK], indirect=True)
def test_an_event_that_was_handled_is_not_queued_again_within_minutes(bench):
    bench.turns.send([inbound("evt_1")])
    assert len(bench.drain(1)) == 1
    bench.turns.send([inbound("evt_1")])
    assert bench.receive_turns() == []


def test_handles_that_are_no_longer_valid_are_passed_over(bench):
    bench.turns.send([inbound("evt_1")])
    [record] = bench.receive_turns()
    handles = ["gone-1", *[f"gone-{n}" for n in range(2, 14)], record.receipt_handle, record.receipt_handle]
    bench.turns.retry_later(handles, 0)
    assert len(bench.drain(1)) == 1
    bench.turns.retry_later([], 5)
    bench.turns.retry_later([record.receipt_handle], 5)


def test_a_compaction_job_arrives_in_the_conversations_own_group(bench):
    job = CompactionJob("sales#+34600111222", 40)
    bench.compactions.send(job)
    assert bench.receive_jobs() == [("sales#+34600111222", job)]


def test_the_same_compaction_asked_for_twice_is_one_job(bench):
    first, second = CompactionJob("sales#+34600111222", 0), CompactionJob("sales#+34600111222", 40)
    for job in (first, first, second, first):
        bench.compactions.send(job)
    assert [job for _, job in bench.receive_jobs()] == [first, second]


def test_compactions_of_two_conversations_do_not_wait_for_each_other(bench):
    one, other = CompactionJob("sales#+34600111001", 0), CompactionJob("sales#+34600111002", 0)
    bench.compactions.send(one)
    assert [job for _, job in bench.receive_jobs()] == [one]
    bench.compactions.send(other)
    assert [job for _, job in bench.receive_jobs()] == [other]


def test_a_conversation_of_any_form_can_be_compacted(bench):
    job = CompactionJob("ventas ñ#" + "US." + "9" * 140, 7)
    bench.compactions.send(job)
    [(group, received)] = bench.receive_jobs()
    assert received == job
    if not isinstance(bench.compactions, FakeCompactionQueue):
        assert LEGAL_GROUP.fullmatch(group)
