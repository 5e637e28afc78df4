"""Raw messages in S3 after they left the database: one object per compaction, gone after the bucket's lifetime.

An object's name is `<hash>/<newest>-<seq>.jsonl.gz`: the keyed hash of the conversation, when the newest of its
messages arrived (milliseconds since 1970) and its place. So nobody reads a phone number from a listing, a
repeated compaction writes the same object, and a listing is in order. Each line is a message as JSON.
"""

import gzip
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from whatsapp_agent.clock import from_iso, to_iso
from whatsapp_agent.errors import ConfigurationError, StoreUnavailable
from whatsapp_agent.memory.records import Message
from whatsapp_agent.store.hashing import keyed_hash

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_DELETES_PER_CALL = 1000
_SWEEPS = 10
_TRY_LATER = frozenset(
    {"InternalError", "OperationAborted", "RequestTimeout", "ServiceUnavailable", "SlowDown", "503"}
)
_WRONG_SETUP = frozenset({"AccessDenied", "NoSuchBucket", "AllAccessDisabled"})


class S3Archive:
    """Implements `ports.Archive`."""

    def __init__(self, client: "S3Client", *, bucket: str, hash_key: bytes) -> None:
        if not hash_key:
            raise ConfigurationError("the key for the hashes of archived conversations is empty")
        self._client = client
        self._bucket = bucket
        self._hash_key = hash_key

    def keep(self, conversation: str, messages: Sequence[Message]) -> None:
        """See `ports.Archive.keep`. One request, however many messages."""
        if not messages:
            return
        newest = max(message.received_at for message in messages)
        name = f"{_milliseconds(newest):013d}-{messages[-1].seq:010d}.jsonl.gz"
        lines = "".join(json.dumps(_fields(message), ensure_ascii=False) + "\n" for message in messages)
        with _translated():
            self._client.put_object(
                Bucket=self._bucket,
                Key=self._prefix(conversation) + name,
                # Without a time in its header, the same messages are the same bytes.
                Body=gzip.compress(lines.encode("utf-8", "replace"), mtime=0),
                ContentType="application/x-ndjson",
                ContentEncoding="gzip",
            )

    def messages(self, conversation: str) -> Iterator[Message]:
        """See `ports.Archive.messages`. One request per compaction."""
        for name in self._names(conversation):
            with _translated():
                body = self._client.get_object(Bucket=self._bucket, Key=name)["Body"].read()
            with gzip.open(io.BytesIO(body), "rt", encoding="utf-8") as lines:
                for line in lines:
                    yield _message(conversation, json.loads(line))

    def erase(self, conversation: str, before: datetime | None = None) -> int:
        """See `ports.Archive.erase`."""
        removed = 0
        for _ in range(_SWEEPS):
            doomed = [
                name
                for name in self._names(conversation)
                if before is None or _arrived(name) <= _milliseconds(before)
            ]
            if not doomed:
                return removed
            for start in range(0, len(doomed), _DELETES_PER_CALL):
                self._delete(doomed[start : start + _DELETES_PER_CALL])
            removed += len(doomed)
        raise StoreUnavailable("the archive is written to while it is erased")

    def _delete(self, names: Sequence[str]) -> None:
        with _translated():
            answer = self._client.delete_objects(
                Bucket=self._bucket, Delete={"Objects": [{"Key": name} for name in names], "Quiet": True}
            )
        if errors := answer.get("Errors"):
            raise StoreUnavailable(f"S3 left {len(errors)} archived objects undeleted")

    def _names(self, conversation: str) -> list[str]:
        names: list[str] = []
        with _translated():
            pages = self._client.get_paginator("list_objects_v2").paginate(
                Bucket=self._bucket, Prefix=self._prefix(conversation)
            )
            for page in pages:
                names += [entry["Key"] for entry in page.get("Contents", ())]
        return names

    def _prefix(self, conversation: str) -> str:
        return keyed_hash(self._hash_key, f"archive {conversation}") + "/"


def _arrived(name: str) -> int:
    return int(name.rpartition("/")[2].partition("-")[0])


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)


def _fields(message: Message) -> dict[str, Any]:
    return {
        "seq": message.seq,
        "role": message.role,
        "text": message.text,
        "kind": message.kind,
        "sent_at": to_iso(message.sent_at),
        "received_at": to_iso(message.received_at),
        "event_id": message.event_id,
        "number": message.number,
    }


def _message(conversation: str, fields: Mapping[str, Any]) -> Message:
    return Message(
        conversation=conversation,
        seq=fields["seq"],
        role=fields["role"],
        text=fields["text"],
        kind=fields["kind"],
        sent_at=from_iso(fields["sent_at"]),
        received_at=from_iso(fields["received_at"]),
        event_id=fields["event_id"],
        number=fields["number"],
    )


@contextmanager
def _translated() -> Iterator[None]:
    """Raises this application's errors for those of S3 within the block; unknown ones pass unchanged."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _WRONG_SETUP:
            raise ConfigurationError(f"the archive's bucket: S3 answers {code}", code=code) from error
        if code in _TRY_LATER or status == 429 or status >= 500:
            raise StoreUnavailable(f"S3 did not carry out the request: {code or status}") from error
        raise
    except BotoCoreError as error:
        if not isinstance(error, (HTTPClientError, BotoConnectionError)):
            raise
        raise StoreUnavailable(f"S3 could not be reached: {type(error).__name__}") from error
