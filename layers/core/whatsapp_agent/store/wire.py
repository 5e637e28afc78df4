"""Plain values to DynamoDB's typed ones and back. Knows types, not records."""

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from boto3.dynamodb.types import TypeDeserializer, TypeSerializer

Item = dict[str, Any]
"""An item in plain Python values."""

_serializer = TypeSerializer()
_deserializer = TypeDeserializer()


def to_wire(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item as DynamoDB takes it. What is empty (None, empty text, list or map, NaN) is left out."""
    return {name: value_to_wire(value) for name, value in item.items() if not _empty(value)}


def value_to_wire(value: Any) -> Any:
    """One value as DynamoDB takes it; floats as decimals of the same digits."""
    return _serializer.serialize(_exact(value))


def from_wire(item: Mapping[str, Any]) -> Item:
    """The item in plain values; numbers are `Decimal`."""
    return {name: _deserializer.deserialize(value) for name, value in item.items()}


def _empty(value: Any) -> bool:
    if isinstance(value, float):
        # DynamoDB has neither NaN nor infinity.
        return not math.isfinite(value)
    return value is None or (isinstance(value, (str, tuple, list, Mapping)) and not value)


def _exact(value: Any) -> Any:
    if isinstance(value, float):
        # By way of the text: Decimal(0.1) has more digits than DynamoDB takes.
        return Decimal(str(value))
    if isinstance(value, tuple | list):
        return [_exact(each) for each in value]
    if isinstance(value, Mapping):
        return {name: _exact(each) for name, each in value.items() if not _empty(each)}
    return value
