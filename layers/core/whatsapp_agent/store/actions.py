"""Writes as DynamoDB takes them, alone or in a transaction.

Expressions name every attribute as `#attribute` and every value as `:value`; the two dictionaries that
DynamoDB wants beside them are made here. No attribute can then clash with its hundreds of reserved words.
"""

import re
from collections.abc import Mapping
from typing import Any

from whatsapp_agent.store.wire import to_wire, value_to_wire

Action = dict[str, dict[str, Any]]
"""One action of TransactWriteItems: `{"Put": {...}}`, with a parameter dictionary that the call of the same
name takes too."""

ALL_OLD = "ALL_OLD"
_NAME = re.compile(r"#([a-z_]+)")
_VALUE = re.compile(r":([a-z_]+)")


def placeholders(values: Mapping[str, Any], *expressions: str) -> dict[str, Any]:
    """`ExpressionAttributeNames` and `…Values` for what the expressions use of `values`, and no more:
    DynamoDB refuses one that is not used.
    """
    text = " ".join(expressions)
    names = {f"#{name}": name for name in _NAME.findall(text)}
    used = {f":{name}": value_to_wire(values[name]) for name in _VALUE.findall(text)}
    found: dict[str, Any] = {}
    if names:
        found["ExpressionAttributeNames"] = names
    if used:
        found["ExpressionAttributeValues"] = used
    return found


def put(
    table: str, item: Mapping[str, Any], condition: str = "", values: Mapping[str, Any] | None = None
) -> Action:
    """Writes a whole item."""
    return {"Put": {"TableName": table, "Item": to_wire(item), **_conditional(condition, values or {})}}


def delete(
    table: str, key: Mapping[str, Any], condition: str = "", values: Mapping[str, Any] | None = None
) -> Action:
    """Removes an item."""
    return {"Delete": {"TableName": table, "Key": to_wire(key), **_conditional(condition, values or {})}}


def check(table: str, key: Mapping[str, Any], condition: str, values: Mapping[str, Any]) -> Action:
    """Writes nothing, but the transaction holds only if the condition does."""
    return {"ConditionCheck": {"TableName": table, "Key": to_wire(key), **_conditional(condition, values)}}


def update(
    table: str,
    key: Mapping[str, Any],
    changes: Mapping[str, Any],
    condition: str = "",
    values: Mapping[str, Any] | None = None,
    *,
    defaults: Mapping[str, Any] | None = None,
) -> Action:
    """Sets some attributes of an item and leaves the others alone; one that is None or empty is removed.
    Those in `defaults` are set only where the item does not have them yet.
    """
    kept, fallback = to_wire(changes), to_wire(defaults or {})
    assigned = [f"#{name} = :set_{name}" for name in kept]
    assigned += [f"#{name} = if_not_exists(#{name}, :set_{name})" for name in fallback]
    removed = [f"#{name}" for name in changes if name not in kept]
    clauses = [
        f"{verb} {', '.join(parts)}" for verb, parts in (("SET", assigned), ("REMOVE", removed)) if parts
    ]
    expression = " ".join(clauses)
    given = {f"set_{name}": value for name, value in {**changes, **(defaults or {})}.items()}
    update_part = {"TableName": table, "Key": to_wire(key), "UpdateExpression": expression}
    return {"Update": update_part | _conditional(condition, given | {**(values or {})}, expression)}


def _conditional(condition: str, values: Mapping[str, Any], expression: str = "") -> dict[str, Any]:
    found = placeholders(values, expression, condition)
    if condition:
        found |= {"ConditionExpression": condition, "ReturnValuesOnConditionCheckFailure": ALL_OLD}
    return found
