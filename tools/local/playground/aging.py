"""Travels forward in time: everything that a person has said so far becomes so many days older.

A phone's clock that ran ahead would not do: the product takes nothing as sent after it was received. So the
past moves instead, in the tables of the local stack, past the ports: what was said, and what was learned from
it. When something was received stays, because erasures are judged by that.
"""

import contextlib
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from whatsapp_agent.clock import from_iso, to_iso
from whatsapp_agent.store.fact_items import CURRENT, HISTORY

_NEWEST = 200
"""Messages: more than any prompt shows."""
_MOMENTS = ("created_at", "updated_at", "valid_until")
_SECONDS = frozenset({"expires_at"})


def age(dynamodb: Any, tables: Mapping[str, str], conversation: str, days: int, now: datetime) -> None:
    """Makes the newest messages and the current facts older. Nothing of this person may be on its way.

    Args:
        tables: Physical names, as the stack's outputs have them: `MessagesTable`, `FactsTable`.
    """
    by = timedelta(days=days)
    messages = dynamodb.query(
        TableName=tables["MessagesTable"],
        KeyConditionExpression="conversation = :c",
        ExpressionAttributeValues={":c": {"S": conversation}},
        ScanIndexForward=False,
        Limit=_NEWEST,
        ConsistentRead=True,
    )["Items"]
    for item in messages:
        _shift(dynamodb, tables["MessagesTable"], ("conversation", "seq"), item, ("sent_at",), by)
    table = tables["FactsTable"]
    for item in _facts(dynamodb, table, conversation, CURRENT):
        _shift(dynamodb, table, ("conversation", "key"), item, (*_MOMENTS, "expires_at"), by)
    for item in _facts(dynamodb, table, conversation, HISTORY):
        _move_note(dynamodb, table, item, by, now)


def _facts(dynamodb: Any, table: str, conversation: str, prefix: str) -> list[dict[str, Any]]:
    answer = dynamodb.query(
        TableName=table,
        KeyConditionExpression="conversation = :c AND begins_with(#k, :p)",
        ExpressionAttributeNames={"#k": "key"},
        ExpressionAttributeValues={":c": {"S": conversation}, ":p": {"S": prefix}},
        ConsistentRead=True,
    )
    found: list[dict[str, Any]] = answer["Items"]
    return found


def _move_note(dynamodb: Any, table: str, item: Mapping[str, Any], by: timedelta, now: datetime) -> None:
    """Moves the note that says when a fact will have expired, which has that moment in its key."""
    head, moment, version = item["key"]["S"].rsplit("#", 2)
    if from_iso(moment) <= now:
        return
    moved = {name: _earlier(name, value, by) if name in _MOMENTS else value for name, value in item.items()}
    moved["key"] = {"S": f"{head}#{to_iso(from_iso(moment) - by)}#{version}"}
    dynamodb.put_item(TableName=table, Item=moved)
    dynamodb.delete_item(TableName=table, Key={name: item[name] for name in ("conversation", "key")})


def _shift(
    dynamodb: Any,
    table: str,
    key: tuple[str, ...],
    item: Mapping[str, Any],
    names: tuple[str, ...],
    by: timedelta,
) -> None:
    there = [name for name in names if name in item]
    if not there:
        return
    # An item that a compaction deletes meanwhile must not come back as a piece of itself.
    with contextlib.suppress(dynamodb.exceptions.ConditionalCheckFailedException):
        dynamodb.update_item(
            TableName=table,
            Key={name: item[name] for name in key},
            UpdateExpression="SET " + ", ".join(f"#{name} = :{name}" for name in there),
            ConditionExpression=" AND ".join(f"attribute_exists(#{name})" for name in there),
            ExpressionAttributeNames={f"#{name}": name for name in there},
            ExpressionAttributeValues={f":{name}": _earlier(name, item[name], by) for name in there},
        )


def _earlier(name: str, value: Mapping[str, str], by: timedelta) -> dict[str, str]:
    if name in _SECONDS:
        return {"N": str(int(value["N"]) - int(by.total_seconds()))}
    return {"S": to_iso(from_iso(value["S"]) - by)}
