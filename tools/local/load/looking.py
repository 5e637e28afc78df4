"""What a round left behind, seen from outside: the tables, the queues, and what the provider received."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tools.local import http_json
from tools.local.clients import client
from tools.local.state import StackInfo

_WAITING = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


@dataclass(frozen=True, slots=True)
class Turn:
    """An item of the ledger."""

    conversation: str
    event_id: str
    state: str
    seq: int = 0
    reply_seq: int = 0
    parts: tuple[str, ...] = ()
    lead: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A remembered message."""

    conversation: str
    seq: int
    role: str
    text: str
    event_id: str


@dataclass(frozen=True, slots=True)
class Part:
    """A text that the provider took; oldest first they are what the person sees."""

    person: str
    text: str
    key: str


@dataclass(frozen=True, slots=True)
class Left:
    """Everything that is there.

    Attributes:
        through: By conversation, the place up to which messages stand behind the summary.
        dead_letters: How many, by queue.
    """

    turns: tuple[Turn, ...] = ()
    messages: tuple[Message, ...] = ()
    parts: tuple[Part, ...] = ()
    through: tuple[tuple[str, int], ...] = ()
    dead_letters: tuple[tuple[str, int], ...] = ()


class Window:
    """Looks into a running stack."""

    def __init__(self, info: StackInfo) -> None:
        self._info = info
        self._dynamodb = client("dynamodb", info.endpoint)
        self._sqs = client("sqs", info.endpoint)

    def waiting(self) -> int:
        """Messages in the two queues: visible, being handled, delayed."""
        return self._waiting_in("InboundQueueUrl") + self._waiting_in("CompactionQueueUrl")

    def left(self) -> Left:
        """Everything that is there now."""
        answer = http_json.get(f"{self._info.provider_url}/_control/sent")
        return Left(
            turns=tuple(
                Turn(
                    conversation=item["conversation"]["S"],
                    event_id=item["event_id"]["S"],
                    state=item["state"]["S"],
                    seq=_number(item, "seq"),
                    reply_seq=_number(item, "reply_seq"),
                    parts=tuple(part["S"] for part in item.get("parts", {"L": []})["L"]),
                    lead=_text(item, "lead"),
                    reason=_text(item, "reason"),
                )
                for item in self._items("TurnsTable")
            ),
            messages=tuple(
                Message(
                    conversation=item["conversation"]["S"],
                    seq=_number(item, "seq"),
                    role=_text(item, "role"),
                    text=_text(item, "text"),
                    event_id=_text(item, "event_id"),
                )
                for item in self._items("MessagesTable")
            ),
            parts=tuple(Part(one["person"], one["text"], one["key"]) for one in answer["messages"]),
            through=tuple(
                (item["conversation"]["S"], _number(item, "through_seq"))
                for item in self._items("SummariesTable")
            ),
            dead_letters=self.dead_letters(),
        )

    def dead_letters(self) -> tuple[tuple[str, int], ...]:
        """How many there are, by queue."""
        return tuple(
            (queue, self._waiting_in(f"{queue}DeadLetterQueueUrl")) for queue in ("Inbound", "Compaction")
        )

    def repeated_sends(self) -> int:
        """Requests to send that the provider took for repetitions, by their idempotency key."""
        asked = http_json.get(f"{self._info.provider_url}/_control/log")["requests"]
        sent = http_json.get(f"{self._info.provider_url}/_control/sent")["messages"]
        return int(asked.get("POST /v1/messages", 0)) - len(sent)

    def _waiting_in(self, output: str) -> int:
        url = self._info.outputs[output]
        found = self._sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(_WAITING))["Attributes"]
        return sum(int(found[name]) for name in _WAITING)

    def _items(self, output: str) -> Iterator[dict[str, Any]]:
        table = self._info.outputs[output]
        for page in self._dynamodb.get_paginator("scan").paginate(TableName=table, ConsistentRead=True):
            yield from page["Items"]


def _number(item: dict[str, Any], name: str) -> int:
    return int(item[name]["N"]) if name in item else 0


def _text(item: dict[str, Any], name: str) -> str:
    return str(item[name]["S"]) if name in item else ""
