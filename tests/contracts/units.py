"""Counts what calls cost in DynamoDB's units.

Write units are those that the emulator returns. Its read units do not look at sizes, and moto counts neither,
so reads are counted here by DynamoDB's published rules: names and texts as UTF-8, a number one byte per two
digits and one more, a list or map three bytes and one per element; one unit per begun 4 kB, for a query of all
its items together, for a batch of each item alone (an absent one like a small one); half if the read is
eventually consistent.
"""

import math
from collections import Counter
from collections.abc import Mapping
from typing import Any

READS = {"GetItem", "BatchGetItem", "Query"}
_READ_UNIT_BYTES = 4096


class Meter:
    """Counts units and calls, `read` and `write`, of a client from now on."""

    def __init__(self, client: Any) -> None:
        self.units: Counter[str] = Counter()
        self.calls: Counter[str] = Counter()
        self._asked: dict[str, Any] = {}
        client.meta.events.register("provide-client-params.dynamodb.*", self._ask)
        client.meta.events.register("after-call.dynamodb.*", self._count)

    def _ask(self, params: dict[str, Any], model: Any, **_: Any) -> dict[str, Any]:
        self._asked = params
        return {**params, "ReturnConsumedCapacity": "TOTAL"}

    def _count(self, parsed: dict[str, Any], model: Any, **_: Any) -> None:
        if model.name in READS:
            self.calls["read"] += 1
            self.units["read"] += read_units(model.name, self._asked, parsed)  # type: ignore[assignment]
            return
        self.calls["write"] += 1
        consumed = parsed.get("ConsumedCapacity", [])
        for each in consumed if isinstance(consumed, list) else [consumed]:
            self.units["write"] += each["CapacityUnits"]


def read_units(operation: str, asked: Mapping[str, Any], answer: Mapping[str, Any]) -> float:
    """Units of one read, without filter or projection."""
    if operation == "Query":
        assert not {"FilterExpression", "ProjectionExpression"} & asked.keys()
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
    if kind == "N":
        return 1 + math.ceil(len(content.strip("-").replace(".", "").strip("0")) / 2)
    if kind == "L":
        return 3 + sum(1 + _value_size(each) for each in content)
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + _value_size(each) for name, each in content.items())
    return 1
