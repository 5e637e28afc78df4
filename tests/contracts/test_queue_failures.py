"""What the SQS adapters do when SQS refuses, and how they form a request. botocore's own stub plays SQS."""

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from botocore.stub import ANY, Stubber

from tests.builders import PERSON, inbound
from whatsapp_agent.errors import ConfigurationError, InvalidPayload, QueueUnavailable
from whatsapp_agent.events import Erase, Media, decode
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.queues.compaction import SqsCompactionQueue
from whatsapp_agent.queues.errors import translated
from whatsapp_agent.queues.inbound import BODY_BYTES, CUT_MARK, SqsTurnQueue
from whatsapp_agent.queues.message import legal_body, size_of

URL = "https://sqs.eu-west-1.amazonaws.com/123456789012/turns.fifo"


@pytest.fixture
def sqs():
    client = boto3.client(
        "sqs", region_name="eu-west-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    with Stubber(client) as stubber:
        yield client, stubber
        stubber.assert_no_pending_responses()


class _Recorder:
    """Keeps what a client is asked for and answers that everything was taken."""

    def __init__(self) -> None:
        self.singles: list[dict[str, Any]] = []
        self.batches: list[list[dict[str, Any]]] = []

    def send_message(self, **request: Any) -> dict[str, Any]:
        self.singles.append(request)
        return {}

    def send_message_batch(self, **request: Any) -> dict[str, Any]:
        self.batches.append(request["Entries"])
        return {"Successful": [{"Id": entry["Id"]} for entry in request["Entries"]]}


def _taken(*ids: int) -> list[dict[str, str]]:
    return [{"Id": str(n), "MessageId": f"m{n}", "MD5OfMessageBody": "x"} for n in ids]


def _refused(*ids: int, code: str = "InternalError") -> list[dict[str, Any]]:
    return [{"Id": str(n), "SenderFault": False, "Code": code} for n in ids]


def _entries(*events: Any) -> dict[str, Any]:
    entries = [
        {
            "Id": str(index),
            "MessageBody": ANY,
            "MessageGroupId": event.person,
            "MessageDeduplicationId": event.event_id,
        }
        for index, event in enumerate(events)
    ]
    return {"QueueUrl": URL, "Entries": entries}


def test_refused_messages_of_a_batch_are_sent_once_more_in_their_order(sqs):
    client, stubber = sqs
    events = [inbound(f"evt_{n}") for n in range(12)]
    stubber.add_response(
        "send_message_batch",
        {"Successful": _taken(0, 1, 2, 4, 5, 6, 7, 9), "Failed": _refused(3, 8)},
        _entries(*events[:10]),
    )
    # The second try comes before the next batch, so that nothing more overtakes.
    stubber.add_response(
        "send_message_batch", {"Successful": _taken(0, 1), "Failed": []}, _entries(events[3], events[8])
    )
    stubber.add_response(
        "send_message_batch", {"Successful": _taken(0, 1), "Failed": []}, _entries(*events[10:])
    )
    SqsTurnQueue(client, URL).send(events)


def test_a_message_refused_twice_is_an_error_and_nothing_later_is_sent(sqs):
    client, stubber = sqs
    events = [inbound(f"evt_{n}") for n in range(12)]
    stubber.add_response(
        "send_message_batch", {"Successful": _taken(*range(9)), "Failed": _refused(9)}, _entries(*events[:10])
    )
    stubber.add_response("send_message_batch", {"Successful": [], "Failed": _refused(0)}, _entries(events[9]))
    with pytest.raises(QueueUnavailable, match="1 of 12"):
        SqsTurnQueue(client, URL).send(events)


def test_a_message_that_the_answer_does_not_name_counts_as_refused(sqs):
    client, stubber = sqs
    events = [inbound("evt_1"), inbound("evt_2")]
    stubber.add_response("send_message_batch", {"Successful": _taken(0), "Failed": []}, _entries(*events))
    stubber.add_response("send_message_batch", {"Successful": _taken(0), "Failed": []}, _entries(events[1]))
    SqsTurnQueue(client, URL).send(events)


def test_no_message_is_sent_with_a_delay_of_its_own():
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound("evt_1")])
    SqsTurnQueue(client, URL).send([inbound("evt_1"), inbound("evt_2")])
    sent = [*client.singles, *client.batches[0]]
    assert len(sent) == 3
    assert not any("DelaySeconds" in request for request in sent)


def test_batch_ids_are_indexes_whatever_the_event_ids_are():
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound(f"wamid.HBgL{n}=") for n in range(3)])
    assert [entry["Id"] for entry in client.batches[0]] == ["0", "1", "2"]
    assert client.batches[0][0]["MessageDeduplicationId"] == "wamid.HBgL0="


def test_batches_hold_at_most_ten_messages_and_stay_under_the_size_limit():
    client = _Recorder()
    large = [inbound(f"evt_l{n}", "x" * 60_000) for n in range(9)]
    webhook = [inbound(f"evt_{n}", "x" * 5_800, person=f"+3460011100{n % 5}") for n in range(500)]
    SqsTurnQueue(client, URL).send([*large, *webhook])
    assert all(len(batch) <= 10 for batch in client.batches)
    assert all(sum(size_of(e["MessageBody"]) for e in batch) <= BODY_BYTES for batch in client.batches)
    sent = [decode(entry["MessageBody"]) for batch in client.batches for entry in batch]
    assert sent == [*large, *webhook]


@pytest.mark.parametrize("char", ["x", "é", "😀", "\x01", '"'])
def test_a_text_too_large_for_the_queue_is_cut_with_a_mark_and_never_lost(char):
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound("evt_1", char * 300_000)])
    body = client.singles[0]["MessageBody"]
    received = decode(body)
    assert BODY_BYTES - 100 < size_of(body) <= BODY_BYTES
    assert received.text == char * (len(received.text) - len(CUT_MARK)) + CUT_MARK
    assert received.event_id == "evt_1"


def test_the_largest_text_that_the_webhook_lets_through_is_not_cut_in_plain_script():
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound("evt_1", "ж" * 60_000)])
    assert decode(client.singles[0]["MessageBody"]).text == "ж" * 60_000


def test_other_long_texts_of_an_event_are_cut_too():
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound("evt_1", "hi", contact_name="n" * 300_000)])
    received = decode(client.singles[0]["MessageBody"])
    assert received.contact_name.endswith(CUT_MARK)
    assert received.event_id == "evt_1"


@pytest.mark.parametrize(
    "event",
    [
        Erase("erase_1", "sales", "x" * 300_000, inbound().received_at),
        inbound("evt_1", media=Media("m" * 300_000)),
    ],
)
def test_an_event_whose_ids_alone_are_too_large_is_refused(event):
    client = _Recorder()
    with pytest.raises(InvalidPayload) as raised:
        SqsTurnQueue(client, URL).send([inbound("evt_0"), event])
    assert raised.value.code == "event_too_large"
    assert client.batches == []


def test_characters_that_sqs_refuses_are_escaped_and_come_back():
    body = legal_body('{"t":"a\uffffb\ufffec"}')
    assert body == '{"t":"a\\uffffb\\ufffec"}'
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound("evt_1", "a\uffffb\ufffe")])
    assert decode(client.singles[0]["MessageBody"]).text == "a\uffffb\ufffe"


def test_half_a_surrogate_pair_does_not_stop_a_message():
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound("evt_1", "cut \ud83d here")])
    body = client.singles[0]["MessageBody"]
    assert decode(body.encode("utf-8").decode("utf-8")).text == "cut \ufffd here"


def test_two_events_without_an_id_are_not_taken_for_one():
    client = _Recorder()
    SqsTurnQueue(client, URL).send([inbound("", "one"), inbound("", "two")])
    one, two = client.batches[0]
    assert one["MessageDeduplicationId"] != two["MessageDeduplicationId"]


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("RequestThrottled", 400),
        ("ThrottlingException", 400),
        ("InternalFailure", 500),
        ("ServiceUnavailable", 503),
        ("SomethingNew", 502),
        ("KmsThrottled", 400),
    ],
)
def test_trouble_at_sqs_is_worth_another_try(sqs, code, status):
    client, stubber = sqs
    stubber.add_client_error("send_message", code, "person +34600111222 said hello", http_status_code=status)
    with pytest.raises(QueueUnavailable) as raised:
        SqsTurnQueue(client, URL).send([inbound()])
    assert PERSON not in str(raised.value)
    assert isinstance(raised.value.__cause__, ClientError)


@pytest.mark.parametrize(
    "code", ["QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue", "AccessDenied"]
)
def test_a_wrong_setup_is_named_as_one(sqs, code):
    client, stubber = sqs
    stubber.add_client_error("send_message_batch", code, http_status_code=400)
    with pytest.raises(ConfigurationError):
        SqsTurnQueue(client, URL).send([inbound("evt_1"), inbound("evt_2")])


def test_an_error_of_sqs_that_is_not_known_passes_unchanged(sqs):
    client, stubber = sqs
    stubber.add_client_error("send_message", "InvalidMessageContents", http_status_code=400)
    with pytest.raises(ClientError):
        SqsCompactionQueue(client, URL).send(CompactionJob("sales#+34600111222", 1))


def test_an_unreachable_queue_is_worth_another_try():
    with pytest.raises(QueueUnavailable, match="EndpointConnectionError"), translated():
        raise EndpointConnectionError(endpoint_url=URL)


def test_putting_a_message_off_never_raises(sqs):
    client, stubber = sqs
    queue = SqsTurnQueue(client, URL)
    for code in ("AccessDenied", "RequestThrottled", "InvalidParameterValue"):
        stubber.add_client_error("change_message_visibility_batch", code, http_status_code=400)
        queue.retry_later(["handle"], 5)


@pytest.mark.parametrize(("asked", "given"), [(-5, 0), (7, 7), (43_200, 43_200), (10**9, 43_200)])
def test_the_time_to_put_a_message_off_is_kept_within_what_sqs_takes(sqs, asked, given):
    client, stubber = sqs
    stubber.add_response(
        "change_message_visibility_batch",
        {"Successful": [{"Id": "0"}], "Failed": []},
        {"QueueUrl": URL, "Entries": [{"Id": "0", "ReceiptHandle": "handle", "VisibilityTimeout": given}]},
    )
    SqsTurnQueue(client, URL).retry_later(["handle", "handle"], asked)
