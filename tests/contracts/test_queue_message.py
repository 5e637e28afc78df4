"""The ids of queued messages, and the JSON form of a compaction job."""

import pytest

from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.queues.compaction import decode_job, encode_job
from whatsapp_agent.queues.message import legal_id


@pytest.mark.parametrize("text", ["", "x" * 129, "a b", "ñ", "\n", "\ud83d", "👩"])
def test_illegal_ids_become_a_hash_that_is_stable_and_distinct(text):
    assert len(legal_id(text)) == 64
    assert legal_id(text) == legal_id(text) != legal_id(text + "x" * 129)


@pytest.mark.parametrize(
    "text", ["+34600111222", "US.1349", "wamid.HBgL=", "x" * 128, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"]
)
def test_legal_ids_stay_as_they_are(text):
    assert legal_id(text) == text


def test_a_compaction_job_is_read_back_as_it_was_written():
    job = CompactionJob("ventas#+34600111222", 41)
    assert decode_job(encode_job(job)) == job
    assert encode_job(job) == '{"v":1,"conversation":"ventas#+34600111222","through_seq":41}'
    assert decode_job('{"v":1,"conversation":"a#b","through_seq":1,"new_field":[]}') == CompactionJob("a#b", 1)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "null",
        "[]",
        "{}",
        "nonsense",
        "[" * 100_000,
        '{"v":2,"conversation":"a#b","through_seq":1}',
        '{"v":1,"conversation":"","through_seq":1}',
        '{"v":1,"conversation":7,"through_seq":1}',
        '{"v":1,"conversation":"a#b"}',
        '{"v":1,"conversation":"a#b","through_seq":"1"}',
        '{"v":1,"conversation":"a#b","through_seq":true}',
        '{"v":1,"conversation":"a#b","through_seq":-1}',
    ],
)
def test_a_text_that_is_no_compaction_job_is_refused_without_repeating_it(body):
    with pytest.raises(InvalidPayload) as raised:
        decode_job(body)
    assert "a#b" not in str(raised.value)
