"""The shape in which Lambda hands over a batch of SQS, and in which it wants to hear what failed.

Source: AWS Lambda developer guide, "Using Lambda with Amazon SQS", partial batch responses.
"""

import re
import sys
from collections.abc import Iterable, Mapping
from typing import Any

from whatsapp_agent.ports.queues import QueueRecord

_COUNT = re.compile("[0-9]{1,9}")


def records(event: Mapping[str, Any], max_receive_count: int = sys.maxsize) -> list[QueueRecord]:
    """The batch's records in the order in which the queue gave them.

    A record of another shape has an empty body, which nobody can read: so it fails as such records do, alone.

    Args:
        event: What Lambda handed over.
        max_receive_count: The queue's own, after which a failed record is on its last attempt.

    Raises:
        ValueError: A record has no id, so nothing could keep it in the queue: the whole batch stays there.
    """
    return [_record(record, max_receive_count) for record in event.get("Records", [])]


def failed(message_ids: Iterable[str]) -> dict[str, list[dict[str, str]]]:
    """The answer that keeps the named messages in the queue and deletes the others."""
    return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in message_ids]}


def _record(record: Any, max_receive_count: int) -> QueueRecord:
    fields = record if isinstance(record, Mapping) else {}
    message_id = _text(fields, "messageId")
    if not message_id:
        raise ValueError("a record of the batch has no id")
    attributes = fields.get("attributes")
    attributes = attributes if isinstance(attributes, Mapping) else {}
    count = str(attributes.get("ApproximateReceiveCount", 1))
    receive_count = int(count) if _COUNT.fullmatch(count) else 1
    return QueueRecord(
        message_id=message_id,
        receipt_handle=_text(fields, "receiptHandle"),
        group=_text(attributes, "MessageGroupId"),
        body=_text(fields, "body"),
        receive_count=receive_count,
        last_attempt=receive_count >= max_receive_count,
    )


def _text(fields: Mapping[str, Any], name: str) -> str:
    value = fields.get(name)
    return value if isinstance(value, str) else ""
