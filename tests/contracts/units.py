"""Counts what calls cost in DynamoDB's units.

Write units are those that the emulator returns. Its read units do not look at sizes, and moto counts neither,
so reads are counted here by DynamoDB's published rules: names and texts as UTF-8, bytes as they are, a number
one byte per two digits and one more, a list or map three bytes and one per element; one unit per begun 4 kB,
for a query of all its items together, for a batch of each item alone (an absent one like a small one); half
if the read is eventually consistent.
"""

import base64
import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock
from typing import Any

READS = {"GetItem", "BatchGetItem", "Query"}
_READ_UNIT_BYTES = 4096
_NARROWING = {"FilterExpression", "ProjectionExpression"}
"""What an answer leaves out is read, and paid for, all the same."""


@dataclass(frozen=True)
class Call:
    """One call: its operation, when it began and ended, and the bytes of both bodies."""

    operation: str
    began: float
    ended: float
    request_bytes: int
    response_bytes: int


class Meter:
    """Counts units and calls, `read` and `write`, of a client from now on. Safe to use from several threads.

    Args:
        watched: A client, or a session: then every DynamoDB client that it makes from now on.
        delay: Seconds by which each call is held up. Calls that are made side by side then overlap for sure,
            and `longest_chain` does not depend on how fast the machine is.
        looking: Another client. With it, a query that wants only some attributes is asked again in whole, to
            see what it read; without it, such a query is an error.
    """

    def __init__(self, watched: Any, *, delay: float = 0.0, looking: Any = None) -> None:
        self.units: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self.made: list[Call] = []
        self._delay = delay
        self._looking = looking
        self._lock = Lock()
        events = watched.meta.events if hasattr(watched, "meta") else watched.events
        events.register("before-parameter-build.dynamodb.*", self._ask)
        events.register("before-call.dynamodb.*", self._begin)
        events.register("after-call.dynamodb.*", self._count)

    def reset(self) -> None:
        """Begins anew."""
        with self._lock:
            self.units.clear()
            self.calls.clear()
            self.made.clear()

    def longest_chain(self) -> int:
        """How many of the calls came one after another: the most of which none overlaps another."""
        chain, free_from = 0, -math.inf
        for call in sorted(self.made, key=lambda call: call.ended):
            if call.began >= free_from:
                chain, free_from = chain + 1, call.ended
        return chain

    def _in_whole(self, operation: str, asked: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        whole = {name: value for name, value in asked.items() if name not in _NARROWING}
        condition = whole.get("KeyConditionExpression", "")
        for name in ("ExpressionAttributeNames", "ExpressionAttributeValues"):
            used = {key: value for key, value in whole.pop(name, {}).items() if key in condition}
            whole |= {name: used} if used else {}
        look = self._looking.query if operation == "Query" else self._looking.get_item
        return whole, look(**whole)

    def _ask(self, params: dict[str, Any], **_: Any) -> None:
        params["ReturnConsumedCapacity"] = "TOTAL"

    def _begin(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["asked"], context["asked_bytes"] = json.loads(params["body"]), len(params["body"])
        context["began"] = time.monotonic()
        if self._delay:
            time.sleep(self._delay)

    def _count(self, http_response: Any, model: Any, context: dict[str, Any], **_: Any) -> None:
        ended = time.monotonic()
        # As it came over the wire: the resource interface has other forms of both.
        asked, answer = context["asked"], json.loads(http_response.content)
        sizes = context["asked_bytes"], len(http_response.content)
        failed = http_response.status_code >= 300
        if self._looking is not None and model.name in ("Query", "GetItem") and _NARROWING & asked.keys():
            asked, answer = self._in_whole(model.name, asked)
        with self._lock:
            self.made.append(Call(model.name, context["began"], ended, *sizes))
            kind = "read" if model.name in READS else "write"
            self.calls[kind] += 1
            if failed:
                return
            if kind == "read":
                self.units["read"] += read_units(model.name, asked, answer)  # type: ignore[assignment]
                return
            consumed = answer.get("ConsumedCapacity", [])
            for each in consumed if isinstance(consumed, list) else [consumed]:
                self.units["write"] += each["CapacityUnits"]


def read_units(operation: str, asked: Mapping[str, Any], answer: Mapping[str, Any]) -> float:
    """Units of one read, without filter or projection."""
    if operation == "Query":
        assert not _NARROWING & asked.keys()
        return _units(sum(item_size(item) for item in answer["Items"]), asked)
    if operation == "GetItem":
        return _units(item_size(answer.get("Item", {})), asked)
    total = 0.0
    for table, wanted in asked["RequestItems"].items():
        found = answer["Responses"].get(table, [])
        total += sum(_units(item_size(item), wanted) for item in found)
        total += _units(0, wanted) * (len(wanted["Keys"]) - len(found))
    return total


def _units(size: int, asked: Mapping[str, Any]) -> float:
    return max(1, math.ceil(size / _READ_UNIT_BYTES)) * (1 if asked.get("ConsistentRead") else 0.5)


def item_size(item: Mapping[str, Any]) -> int:
    """Bytes of an item, as it is written on the wire."""
    return sum(len(name.encode()) + _value_size(value) for name, value in item.items())


def _value_size(value: Mapping[str, Any]) -> int:
    ((kind, content),) = value.items()
    if kind == "S":
        return len(content.encode())
    if kind == "B":
        # As text over the wire, and as bytes where a client has read it.
        return len(content if isinstance(content, bytes) else base64.b64decode(content))
    if kind == "N":
        return 1 + math.ceil(len(content.strip("-").replace(".", "").strip("0")) / 2)
    if kind == "L":
        return 3 + sum(1 + _value_size(each) for each in content)
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _value_size(each) for name, each in content.items())
    return 1
