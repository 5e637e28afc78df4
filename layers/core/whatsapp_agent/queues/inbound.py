"""The inbound queue: one person is one message group, one provider event one message."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from botocore.exceptions import BotoCoreError, ClientError

from whatsapp_agent.errors import InvalidPayload, QueueUnavailable
from whatsapp_agent.events import Event, InboundMessage, encode, group_of
from whatsapp_agent.queues.errors import translated
from whatsapp_agent.queues.message import legal_body, legal_id, size_of

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

BATCH_ENTRIES = 10
"""Messages that one SendMessageBatch takes (SQS quota)."""

BODY_BYTES = 250_000
"""Largest body, and largest sum of a batch. SQS takes 1 MiB; a queue may still be set to the older
256 KiB, and ten bodies of this size fit one Lambda invocation (6 MB), so a batch is never split there."""

CUT_MARK = " […]"
"""Stands at the end of a text that had to be cut to fit."""

MAX_VISIBILITY_SECONDS = 43_200

# Text that may be shortened so that an event fits, in the order in which it is sacrificed.
_CUTTABLE = ("text", "contact_name", "label")


@dataclass(frozen=True, slots=True)
class _Entry:
    group: str
    dedup: str
    body: str
    size: int


class SqsTurnQueue:
    """`ports.TurnQueue` on an SQS FIFO queue.

    The delay that lets a burst arrive together is the queue's: FIFO queues refuse one per message.
    """

    def __init__(self, client: SQSClient, queue_url: str) -> None:
        self._client = client
        self._queue_url = queue_url

    def send(self, events: Sequence[Event]) -> None:
        """Queues the events in order; returns only when every one of them is queued.

        Raises:
            QueueUnavailable: At least one event was not queued; sending all of them again is safe.
            InvalidPayload: An event is too large and holds no text that could be cut.
            ConfigurationError: The queue does not exist or may not be used.
        """
        entries = [_entry(event) for event in events]
        if len(entries) == 1:
            self._send_one(entries[0])
            return
        for batch in _batches(entries):
            failed = self._send_batch(batch)
            # A second try before the next batch: a later message of the same person must not overtake.
            if failed and (failed := self._send_batch(failed)):
                raise QueueUnavailable(f"SQS refused {len(failed)} of {len(entries)} messages twice")

    def retry_later(self, receipt_handles: Sequence[str], seconds: int) -> None:
        """Makes received messages visible again after `seconds`, kept between 0 and 43,200.

        Best effort and silent: without it the messages come back when their visibility timeout ends, and
        an error here must not spoil the answer for the other people of the batch.
        """
        timeout = max(0, min(seconds, MAX_VISIBILITY_SECONDS))
        handles = list(dict.fromkeys(receipt_handles))
        for start in range(0, len(handles), BATCH_ENTRIES):
            try:
                self._client.change_message_visibility_batch(
                    QueueUrl=self._queue_url,
                    Entries=[
                        {"Id": str(index), "ReceiptHandle": handle, "VisibilityTimeout": timeout}
                        for index, handle in enumerate(handles[start : start + BATCH_ENTRIES])
                    ],
                )
            except (ClientError, BotoCoreError):
                continue

    def _send_one(self, entry: _Entry) -> None:
        with translated():
            self._client.send_message(
                QueueUrl=self._queue_url,
                MessageBody=entry.body,
                MessageGroupId=entry.group,
                MessageDeduplicationId=entry.dedup,
            )

    def _send_batch(self, batch: Sequence[_Entry]) -> list[_Entry]:
        """Sends up to ten messages; returns those that SQS refused, in order."""
        # Ids are indexes: a provider's event id may hold characters that SQS refuses in a batch id.
        request: list[SendMessageBatchRequestEntryTypeDef] = [
            {
                "Id": str(index),
                "MessageBody": entry.body,
                "MessageGroupId": entry.group,
                "MessageDeduplicationId": entry.dedup,
            }
            for index, entry in enumerate(batch)
        ]
        with translated():
            answer = self._client.send_message_batch(QueueUrl=self._queue_url, Entries=request)
        # What is not reported as taken counts as refused; a message sent twice is deduplicated.
        taken = {result["Id"] for result in answer.get("Successful", [])}
        return [entry for index, entry in enumerate(batch) if str(index) not in taken]


def _entry(event: Event) -> _Entry:
    body = _fitting_body(event)
    # An event without an id must not be taken for every other event without one.
    dedup = legal_id(event.event_id) if event.event_id else legal_id(f"body {body}")
    return _Entry(legal_id(group_of(event)), dedup, body, size_of(body))


def _fitting_body(event: Event) -> str:
    """The event's JSON, with its text cut where it would be too large for the queue."""
    body = legal_body(encode(event))
    if size_of(body) <= BODY_BYTES:
        return body
    if isinstance(event, InboundMessage):
        for name in _CUTTABLE:
            event, body = _cut(event, name)
            if size_of(body) <= BODY_BYTES:
                return body
    raise InvalidPayload(f"a {event.kind_name} event is too large for the queue", code="event_too_large")


def _cut(event: InboundMessage, name: str) -> tuple[InboundMessage, str]:
    """The event with as much of the start of one field as fits, found by halving."""
    whole: str = getattr(event, name)

    def kept(chars: int) -> InboundMessage:
        changes: dict[str, Any] = {name: (whole[:chars] + CUT_MARK).strip()}
        return replace(event, **changes)

    fits, too_long = 0, len(whole) + 1
    while too_long - fits > 1:
        middle = (fits + too_long) // 2
        if size_of(legal_body(encode(kept(middle)))) <= BODY_BYTES:
            fits = middle
        else:
            too_long = middle
    return kept(fits), legal_body(encode(kept(fits)))


def _batches(entries: Sequence[_Entry]) -> Iterator[list[_Entry]]:
    """Runs of at most ten messages whose bodies together stay under the limit, in order."""
    batch: list[_Entry] = []
    total = 0
    for entry in entries:
        if batch and (len(batch) == BATCH_ENTRIES or total + entry.size > BODY_BYTES):
            yield batch
            batch, total = [], 0
        batch.append(entry)
        total += entry.size
    if batch:
        yield batch
