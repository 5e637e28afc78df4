"""A batch of the queue as Lambda hands it over, also where it has another shape than it should."""

import pytest

from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.events import decode
from whatsapp_agent.queues.compaction import decode_job
from whatsapp_agent.queues.lambda_event import failed, records

GOOD = {
    "messageId": "one",
    "receiptHandle": "handle",
    "body": "{}",
    "attributes": {"ApproximateReceiveCount": "2", "MessageGroupId": "group"},
}


def test_a_record_is_read_and_knows_its_last_attempt():
    (record,) = records({"Records": [GOOD]}, 2)
    assert (record.message_id, record.receipt_handle, record.group, record.body) == (
        "one",
        "handle",
        "group",
        "{}",
    )
    assert (record.receive_count, record.last_attempt) == (2, True)
    assert not records({"Records": [GOOD]}, 3)[0].last_attempt


@pytest.mark.parametrize(
    "changed",
    [
        {"body": None},
        {"body": {"v": 1}},
        {"body": 7, "attributes": None},
        {"body": b"bytes", "attributes": {"ApproximateReceiveCount": "many", "MessageGroupId": 3}},
        {"body": None, "receiptHandle": None, "attributes": ["?"]},
        {"body": None, "attributes": {"ApproximateReceiveCount": "9" * 5000}},
    ],
)
def test_a_misshapen_record_can_be_named_and_not_be_read_and_the_others_are_as_they_are(changed):
    bad, good = records({"Records": [{**GOOD, "messageId": "bad", **changed}, GOOD]})
    assert good == records({"Records": [GOOD]})[0]
    assert failed([bad.message_id]) == {"batchItemFailures": [{"itemIdentifier": "bad"}]}
    for read in (decode, decode_job):
        with pytest.raises(InvalidPayload):
            read(bad.body)


def test_a_record_without_a_body_can_be_named_too():
    (record,) = records({"Records": [{"messageId": "bad"}]})
    assert (record.message_id, record.body, record.receive_count) == ("bad", "", 1)


@pytest.mark.parametrize("record", [None, "text", [], {}, {**GOOD, "messageId": ""}, {**GOOD, "messageId": 1}])
def test_a_record_that_nothing_could_keep_in_the_queue_keeps_the_whole_batch_there(record):
    with pytest.raises(ValueError, match="has no id"):
        records({"Records": [GOOD, record]})
