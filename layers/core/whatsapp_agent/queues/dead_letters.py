"""What the queues gave up: read it, send it back, or drop what belongs to a person who was erased."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING

from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.events import Event, decode
from whatsapp_agent.queues.errors import translated
from whatsapp_agent.queues.message import legal_id

if TYPE_CHECKING:
    from mypy_boto3_sqs import SQSClient

_PER_CALL = 10
_MOST_CALLS = 1000
_WAIT_SECONDS = 1
_HELD_SECONDS = 120
"""How long a message that is looked at is hidden from others who look; given back at once where it stays."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """One message of a dead-letter queue.

    Attributes:
        group: Whom it is about, as the queue groups it.
        attempts: How often it was taken out of this queue.
    """

    message_id: str
    receipt_handle: str
    group: str
    body: str
    attempts: int


class DeadLetterQueue:
    """One dead-letter queue and the queue that its messages came from."""

    def __init__(self, client: SQSClient, dead_letters_url: str, source_url: str = "") -> None:
        self._client = client
        self._url = dead_letters_url
        self._source_url = source_url

    def count(self) -> int:
        """About how many messages there are, those that somebody is looking at included."""
        with translated():
            found = self._client.get_queue_attributes(
                QueueUrl=self._url,
                AttributeNames=["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"],
            )["Attributes"]
        return sum(int(number) for number in found.values())

    def take(self) -> Iterator[DeadLetter]:
        """The messages in their order, each once. One that the caller neither removes nor sends back stays;
        it is visible to others again when the iteration ends.
        """
        seen: dict[str, str] = {}
        try:
            for _ in range(_MOST_CALLS):
                found = self._receive()
                if not any(letter.message_id not in seen for letter in found):
                    return
                for letter in found:
                    if letter.message_id not in seen:
                        seen[letter.message_id] = letter.receipt_handle
                        yield letter
        finally:
            self._give_back(list(seen.values()))

    def remove(self, letter: DeadLetter) -> None:
        """Deletes a message."""
        with translated():
            self._client.delete_message(QueueUrl=self._url, ReceiptHandle=letter.receipt_handle)

    def send_back(self, letter: DeadLetter) -> None:
        """Puts the message into the queue that it came from, then deletes it here.

        Under a new deduplication id: the queue would take the old one for a duplicate, answer that all is
        well and drop it. The new one belongs to this message, so that a run that breaks off between the two
        steps and is repeated within five minutes doubles nothing.
        """
        with translated():
            self._client.send_message(
                QueueUrl=self._source_url,
                MessageBody=letter.body,
                MessageGroupId=letter.group,
                MessageDeduplicationId=sha256(f"redrive {letter.message_id}".encode()).hexdigest(),
            )
        self.remove(letter)

    def _receive(self) -> list[DeadLetter]:
        with translated():
            answer = self._client.receive_message(
                QueueUrl=self._url,
                MaxNumberOfMessages=_PER_CALL,
                VisibilityTimeout=_HELD_SECONDS,
                # Long polling asks every server of the queue; a short one may miss what is there.
                WaitTimeSeconds=_WAIT_SECONDS,
                MessageSystemAttributeNames=["MessageGroupId", "ApproximateReceiveCount"],
            )
        return [
            DeadLetter(
                message_id=message["MessageId"],
                receipt_handle=message["ReceiptHandle"],
                group=message.get("Attributes", {}).get("MessageGroupId", ""),
                body=message["Body"],
                attempts=int(message.get("Attributes", {}).get("ApproximateReceiveCount", 1)),
            )
            for message in answer.get("Messages", ())
        ]

    def _give_back(self, handles: list[str]) -> None:
        """Best effort: the handle of a removed message is refused, and the others come back by themselves."""
        for start in range(0, len(handles), _PER_CALL):
            with translated():
                self._client.change_message_visibility_batch(
                    QueueUrl=self._url,
                    Entries=[
                        {"Id": str(index), "ReceiptHandle": handle, "VisibilityTimeout": 0}
                        for index, handle in enumerate(handles[start : start + _PER_CALL])
                    ],
                )


class SqsDeadLetters:
    """Implements `ports.DeadLetters` on both dead-letter queues."""

    def __init__(self, client: SQSClient, *, inbound_url: str, compaction_url: str) -> None:
        self._inbound = DeadLetterQueue(client, inbound_url)
        self._compaction = DeadLetterQueue(client, compaction_url)

    def drop(self, person: str, conversation: str, arrived_before: datetime) -> int:
        """See `ports.DeadLetters.drop`. Two requests where the queues are empty, as they mostly are."""
        return _drop(
            self._inbound, lambda letter: letter.group == legal_id(person) and _arrived(letter, arrived_before)
        ) + _drop(self._compaction, lambda letter: letter.group == legal_id(conversation))


def _drop(queue: DeadLetterQueue, doomed: Callable[[DeadLetter], bool]) -> int:
    dropped = 0
    # The count lags by a minute. What it misses is dropped by the erasure's mark when it is redriven.
    for letter in queue.take() if queue.count() else ():
        if doomed(letter):
            queue.remove(letter)
            dropped += 1
    return dropped


def _arrived(letter: DeadLetter, before: datetime) -> bool:
    """Whether it arrived by then; what cannot be read belongs to the person all the same."""
    try:
        event: Event = decode(letter.body)
    except InvalidPayload:
        return True
    return event.received_at <= before
