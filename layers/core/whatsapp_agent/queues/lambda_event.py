"""The shape in which Lambda hands over a batch of SQS, and in which it wants to hear what failed.

Source: AWS Lambda developer guide, "Using Lambda with Amazon SQS", partial batch responses.
"""

import sys
from collections.abc import Iterable, Mapping
from typing import Any

from whatsapp_agent.ports import QueueRecord


def records(event: Mapping[str, Any], max_receive_count: int = sys.maxsize) -> list[QueueRecord]:
    """The batch's records in the order in which the queue gave them.

    Args:
        event: What Lambda handed over.
        max_receive_count: The queue's own, after which a failed record is on its last attempt.
    """
    return [_record(record, max_receive_count) for record in event.get("Records", [])]


def failed(message_ids: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """The answer that keeps the named messages in the queue and deletes the others."""
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in message_ids]}


def _record(record: Mapping[str, Any], max_receive_count: int) -> QueueRecord:
    attributes = record.get("attributes", {})
    receive_count = int(attributes.get("ApproximateReceiveCount", 1))
    return QueueRecord(
        message_id=record["messageId"],
        receipt_handle=record.get("receiptHandle", ""),
        group=attributes.get("MessageGroupId", ""),
        body=record["body"],
        receive_count=receive_count,
        last_attempt=receive_count >= max_receive_count,
    )
