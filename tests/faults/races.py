"""Lets somebody else act at the wrong moment, on the tables that a store works with."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from tests.builders import CONVERSATION, NOW, message, turn
from tests.contracts.stores import Stores, stores_on
from tests.contracts.tables import dynamodb_client
from whatsapp_agent.clock import to_epoch

SUMMARY = {"conversation": {"S": CONVERSATION}}
TURN = {**SUMMARY, "event_id": {"S": "evt_1"}}
MESSAGE = {**SUMMARY, "seq": {"N": "1"}}


def somebody_else(stores: Stores, retention_days: int = 0) -> Stores:
    """The same tables, seen by another process at the same time."""
    other = stores_on(dynamodb_client(None), stores.tables, retention_days)
    other.clock.moment = stores.clock.moment
    return other


def just_before(stores: Stores, operation: str, act: Callable[[], object]) -> None:
    """Lets something happen between what the store has read and the next call of this operation."""
    waiting = [act]

    def before(**_: Any) -> None:
        if waiting:
            waiting.pop()()

    stores.client.meta.events.register(f"before-call.dynamodb.{operation}", before)


def expire(stores: Stores, table: str, key: dict[str, Any]) -> None:
    """Lets an item be past its end without DynamoDB having deleted it."""
    stores.client.update_item(
        TableName=stores.tables[table],
        Key=key,
        UpdateExpression="SET expires_at = :end",
        ExpressionAttributeValues={":end": {"N": str(to_epoch(NOW - timedelta(days=1)))}},
    )


def waiting(stores: Stores) -> None:
    stores.ledger.claim(turn(), message())
