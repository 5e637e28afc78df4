"""The compaction queue: one conversation is one message group; and the JSON form of a job."""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING

from whatsapp_agent.clock import from_iso, to_iso
from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.queues.errors import translated
from whatsapp_agent.queues.message import legal_body, legal_id

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

SCHEMA_VERSION = 1


class SqsCompactionQueue:
    """`ports.CompactionQueue` on an SQS FIFO queue."""

    def __init__(self, client: SQSClient, queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def send(self, job: CompactionJob) -> None:
        """Queues the job; the same conversation and `through_seq` again within five minutes is one job.

        Raises:
            QueueUnavailable: The job was not queued.
            ConfigurationError: The queue does not exist or may not be used.
        """
        with translated():
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=encode_job(job),
                MessageGroupId=legal_id(job.conversation),
                MessageDeduplicationId=job_id(job),
            )


def job_id(job: CompactionJob) -> str:
    """What makes two jobs the same: SHA-256, in hex, of conversation and `through_seq`, and of the erasure."""
    key = f"{job.conversation}|{job.through_seq}"
    if job.erased_at is not None:
        key += f"|{to_iso(job.erased_at)}"
    return sha256(key.encode("utf-8", "surrogatepass")).hexdigest()


def encode_job(job: CompactionJob) -> str:
    """The job as compact JSON: `{"v": 1, "conversation": …, "through_seq": …}`."""
    fields: dict[str, object] = {
        "v": SCHEMA_VERSION,
        "conversation": job.conversation,
        "through_seq": job.through_seq,
    }
    if job.erased_at is not None:
        fields["erased_at"] = to_iso(job.erased_at)
    return legal_body(json.dumps(fields, ensure_ascii=False, separators=(",", ":")))


def decode_job(body: str) -> CompactionJob:
    """The job that `encode_job` wrote. Fields that this version does not know are passed over.

    Raises:
        InvalidPayload: The text is no job, or one of a newer schema than this code knows.
    """
    try:
        fields = json.loads(body)
    except (ValueError, TypeError, RecursionError) as error:
        raise InvalidPayload("the queued text is no compaction job") from error
    if not isinstance(fields, dict):
        raise InvalidPayload("the queued text is no compaction job")
    if fields.get("v") != SCHEMA_VERSION:
        raise InvalidPayload(
            f"the queued compaction job is not of schema version {SCHEMA_VERSION}: "
            "deploy the version that wrote it, then redrive"
        )
    conversation, through_seq = fields.get("conversation"), fields.get("through_seq")
    if not isinstance(conversation, str) or not conversation:
        raise InvalidPayload("the queued compaction job names no conversation")
    if isinstance(through_seq, bool) or not isinstance(through_seq, int) or through_seq < 0:
        raise InvalidPayload("the queued compaction job has no valid through_seq")
    try:
        erased_at = from_iso(fields["erased_at"]) if "erased_at" in fields else None
    except (TypeError, ValueError) as error:
        raise InvalidPayload("the queued compaction job has no valid erased_at") from error
    return CompactionJob(conversation, through_seq, erased_at)
