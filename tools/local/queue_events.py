"""Writes `events/reply-*.json`, `compact-*.json` and `erase-*.json`: what the other functions are invoked with.

python -m tools.local.queue_events [directory]
"""

import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "layers" / "core"))

from whatsapp_agent.clock import to_epoch
from whatsapp_agent.events import Erase, Event, InboundMessage, NumberReplaced, encode, group_of
from whatsapp_agent.memory.records import CompactionJob, conversation_key
from whatsapp_agent.queues.compaction import encode_job, job_id

AT = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
MAYA, LEO = "+34600111222", "+5511987654321"
NUMBER = "+15550100"
AGENT = "companion"
_QUEUE = "arn:aws:sqs:eu-west-1:000000000000:sample"


def events() -> dict[str, dict[str, Any]]:
    """The sample events by file name."""
    job = CompactionJob(conversation_key(AGENT, MAYA), through_seq=0)
    return {
        "reply-text.json": _inbound([_message("text", MAYA, "Hola, me llamo Maya.")]),
        "reply-burst-of-two-people.json": _inbound(
            [
                _message("burst_1", MAYA, "Hola"),
                _message("burst_2", LEO, "Oi!"),
                _message("burst_3", MAYA, "¿Te acuerdas de mí?"),
            ]
        ),
        "reply-stop.json": _inbound([_message("stop", MAYA, "STOP")]),
        "reply-number-replaced.json": _inbound([NumberReplaced("evt_replaced", NUMBER, "+15550123", AT)]),
        "reply-erase.json": _inbound([Erase("erase_sample", AGENT, MAYA, AT)]),
        "compact-job.json": _batch([(encode_job(job), job.conversation, job_id(job))]),
        "erase-person.json": {"person": MAYA, "agent": AGENT},
        "erase-mistake.json": {"person": "nobody"},
    }


def _message(name: str, person: str, text: str) -> InboundMessage:
    return InboundMessage(
        event_id=f"evt_{name}",
        person=person,
        address=person,
        number=NUMBER,
        message_id=f"msg_{name}",
        kind="text",
        text=text,
        sent_at=AT - timedelta(seconds=2),
        received_at=AT,
    )


def _inbound(queued: Sequence[Event]) -> dict[str, Any]:
    return _batch([(encode(event), group_of(event), event.event_id) for event in queued])


def _batch(messages: Sequence[tuple[str, str, str]]) -> dict[str, Any]:
    """A batch as Lambda hands it over from a FIFO queue; each message is `(body, group, deduplication id)`."""
    milliseconds = str(to_epoch(AT) * 1000)
    return {
        "Records": [
            {
                "messageId": f"00000000-0000-4000-8000-{number:012d}",
                "receiptHandle": f"sample-{number}",
                "body": body,
                "attributes": {
                    "ApproximateReceiveCount": "1",
                    "SentTimestamp": milliseconds,
                    "SequenceNumber": f"{number:020d}",
                    "MessageGroupId": group,
                    "SenderId": "000000000000",
                    "MessageDeduplicationId": deduplication,
                    "ApproximateFirstReceiveTimestamp": milliseconds,
                },
                "messageAttributes": {},
                "md5OfBody": "",
                "eventSource": "aws:sqs",
                "eventSourceARN": _QUEUE,
                "awsRegion": "eu-west-1",
            }
            for number, (body, group, deduplication) in enumerate(messages, start=1)
        ]
    }


def written(event: dict[str, Any]) -> str:
    """The text of a file."""
    return json.dumps(event, ensure_ascii=False, indent=2) + "\n"


def main(directory: Path) -> None:
    for name, event in events().items():
        (directory / name).write_text(written(event), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parents[2] / "events")
