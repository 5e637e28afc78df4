"""The archive: what is kept of raw messages, by whom it can be found, and that it goes."""

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any
from uuid import uuid4

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError
from botocore.stub import Stubber
from moto import mock_aws

from tests.builders import CONVERSATION, NOW, PERSON, message
from tests.fakes.keeping import FakeArchive
from whatsapp_agent.errors import ConfigurationError, StoreUnavailable
from whatsapp_agent.memory.records import Message, Usage
from whatsapp_agent.ports.privacy import Archive
from whatsapp_agent.store.archive import S3Archive

OTHER = "sales#+34600999888"
KEY = b"a key for tests"


@dataclass
class Kept:
    archive: Archive
    client: Any = None
    bucket: str = ""

    def names(self) -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket)
        return [entry["Key"] for page in pages for entry in page.get("Contents", ())]


def s3(endpoint: str | None = None) -> Any:
    return boto3.client(
        "s3",
        region_name="us-east-1",
        endpoint_url=endpoint,
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}, read_timeout=20),
    )


def on_s3(endpoint: str | None) -> Kept:
    client, bucket = s3(endpoint), f"archive-{uuid4().hex[:8]}"
    client.create_bucket(Bucket=bucket)
    return Kept(S3Archive(client, bucket=bucket, hash_key=KEY), client, bucket)


REAL = ["moto", pytest.param("ministack", marks=pytest.mark.emulator)]


@pytest.fixture(params=["fake", *REAL])
def kept(request: pytest.FixtureRequest) -> Iterator[Kept]:
    if request.param == "fake":
        yield Kept(FakeArchive())
    elif request.param == "moto":
        with mock_aws():
            yield on_s3(None)
    else:
        yield on_s3(request.getfixturevalue("emulator"))


@pytest.fixture
def real() -> Iterator[Kept]:
    with mock_aws():
        yield on_s3(None)


def said(first: int, last: int, **changes: Any) -> list[Message]:
    return [message(seq, f"what was said {seq} ñ 你好", **changes) for seq in range(first, last + 1)]


def test_what_was_archived_is_read_again_in_order(kept: Kept) -> None:
    kept.archive.keep(CONVERSATION, said(1, 8))
    kept.archive.keep(CONVERSATION, said(9, 12))
    assert list(kept.archive.messages(CONVERSATION)) == said(1, 12)
    assert list(kept.archive.messages(OTHER)) == []


def test_what_a_reply_cost_is_not_archived(kept: Kept) -> None:
    kept.archive.keep(CONVERSATION, [message(1, "hello", "assistant", usage=Usage(1, 2, 3), prompt_chars=9)])
    assert list(kept.archive.messages(CONVERSATION)) == [message(1, "hello", "assistant")]


def test_a_repeated_compaction_archives_nothing_twice(kept: Kept) -> None:
    kept.archive.keep(CONVERSATION, said(1, 8))
    kept.archive.keep(CONVERSATION, said(1, 8))
    assert list(kept.archive.messages(CONVERSATION)) == said(1, 8)


def test_nothing_to_keep_keeps_nothing(kept: Kept) -> None:
    kept.archive.keep(CONVERSATION, [])
    assert list(kept.archive.messages(CONVERSATION)) == []


def test_an_erasure_takes_one_conversation_and_no_other(kept: Kept) -> None:
    kept.archive.keep(CONVERSATION, said(1, 8))
    kept.archive.keep(CONVERSATION, said(9, 12))
    kept.archive.keep(OTHER, said(1, 4, conversation=OTHER))
    assert kept.archive.erase(CONVERSATION) == 2
    assert list(kept.archive.messages(CONVERSATION)) == []
    assert list(kept.archive.messages(OTHER)) == said(1, 4, conversation=OTHER)
    assert kept.archive.erase(CONVERSATION) == 0


def test_an_erasure_spares_what_arrived_after_it(kept: Kept) -> None:
    kept.archive.keep(CONVERSATION, said(1, 4))
    kept.archive.keep(CONVERSATION, said(5, 8))
    assert kept.archive.erase(CONVERSATION, NOW + timedelta(minutes=4)) == 1
    assert list(kept.archive.messages(CONVERSATION)) == said(5, 8)


def test_more_objects_than_one_listing_or_one_deletion_holds_all_go(real: Kept) -> None:
    for seq in range(1, 1102):
        real.archive.keep(CONVERSATION, [message(seq, "x")])
    assert real.archive.erase(CONVERSATION) == 1101
    assert real.names() == []


def test_no_name_tells_who_was_archived_and_no_text_lies_open(real: Kept) -> None:
    real.archive.keep(CONVERSATION, said(1, 3))
    (name,) = real.names()
    assert PERSON.strip("+") not in name
    assert "sales" not in name
    stored = real.client.get_object(Bucket=real.bucket, Key=name)
    assert b"what was said 1" in gzip.decompress(stored["Body"].read())
    assert stored["ContentEncoding"] == "gzip"


def test_another_key_gives_another_name(real: Kept) -> None:
    other = S3Archive(real.client, bucket=real.bucket, hash_key=b"another key")
    other.keep(CONVERSATION, said(1, 1))
    assert list(real.archive.messages(CONVERSATION)) == []


def test_lone_surrogates_do_not_stop_an_archive(real: Kept) -> None:
    real.archive.keep(CONVERSATION, [replace(message(1), text="half \ud83d")])
    assert [each.text for each in real.archive.messages(CONVERSATION)] == ["half ?"]


@pytest.mark.parametrize(
    ("code", "status", "expected"),
    [
        ("SlowDown", 503, StoreUnavailable),
        ("InternalError", 500, StoreUnavailable),
        ("AccessDenied", 403, ConfigurationError),
        ("NoSuchBucket", 404, ConfigurationError),
        ("SomethingNew", 400, ClientError),
    ],
)
def test_what_s3_refuses_becomes_the_applications_own_error(
    code: str, status: int, expected: type[Exception]
) -> None:
    client = s3()
    with Stubber(client) as stub:
        stub.add_client_error("put_object", code, http_status_code=status)
        with pytest.raises(expected):
            S3Archive(client, bucket="a-bucket", hash_key=KEY).keep(CONVERSATION, said(1, 1))


def test_an_object_that_s3_leaves_undeleted_is_no_success() -> None:
    client = s3()
    listed = {"Contents": [{"Key": "abc/0000000000001-0000000001.jsonl.gz"}]}
    with Stubber(client) as stub:
        stub.add_response("list_objects_v2", listed)
        stub.add_response("delete_objects", {"Errors": [{"Key": "abc", "Code": "InternalError"}]})
        with pytest.raises(StoreUnavailable):
            S3Archive(client, bucket="a-bucket", hash_key=KEY).erase(CONVERSATION)


def test_an_archive_without_a_hash_key_is_refused() -> None:
    with pytest.raises(ConfigurationError):
        S3Archive(s3(), bucket="a-bucket", hash_key=b"")
