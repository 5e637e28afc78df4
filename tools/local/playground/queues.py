"""What waits in the queues, and what they gave up."""

from typing import Any

from tools.local.playground.connection import Connection
from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.events import Event, InboundMessage, decode

_COUNTS = {
    "visible": "ApproximateNumberOfMessages",
    "taken": "ApproximateNumberOfMessagesNotVisible",
    "delayed": "ApproximateNumberOfMessagesDelayed",
}
_OUTPUTS = {
    "inbound": "InboundQueueUrl",
    "compaction": "CompactionQueueUrl",
    "inbound_dead": "InboundDeadLetterQueueUrl",
    "compaction_dead": "CompactionDeadLetterQueueUrl",
}
_MOST_LETTERS = 50


def queue_url(connection: Connection, name: str) -> str:
    return connection.info.outputs[_OUTPUTS[name]]


def counts(connection: Connection) -> dict[str, dict[str, int]]:
    """Messages by queue: waiting, being handled, held back."""
    found = {}
    for name in _OUTPUTS:
        wanted = [*_COUNTS.values(), "VisibilityTimeout"]
        answer = connection.sqs.get_queue_attributes(
            QueueUrl=queue_url(connection, name), AttributeNames=wanted
        )
        attributes = answer["Attributes"]
        found[name] = {count: int(attributes.get(attribute, 0)) for count, attribute in _COUNTS.items()}
        found[name]["visibility"] = int(attributes.get("VisibilityTimeout", 0))
    return found


def dead_letters(connection: Connection) -> list[dict[str, Any]]:
    """What the queues gave up; looking takes each message for a moment and gives it back."""
    letters = []
    for name, queue in connection.deployment.dead_letters.items():
        for letter in queue.take():
            letters.append(
                {"queue": name, "id": letter.message_id, "group": letter.group, **_read(letter.body)}
            )
            if len(letters) >= _MOST_LETTERS:
                return letters
    return letters


def redrive(connection: Connection) -> int:
    """Sends everything back to where it came from; returns how many messages that were."""
    count = 0
    for queue in connection.deployment.dead_letters.values():
        for letter in queue.take():
            queue.send_back(letter)
            count += 1
    return count


def _read(body: str) -> dict[str, str]:
    try:
        event: Event = decode(body)
    except InvalidPayload:
        return {"event": "", "text": ""}
    text = event.text if isinstance(event, InboundMessage) else ""
    return {"event": event.kind_name, "text": text}
