"""The few ways in which the adapters speak to DynamoDB: paged, retried, translated."""

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from whatsapp_agent.errors import StoreUnavailable
from whatsapp_agent.store.actions import Action, placeholders
from whatsapp_agent.store.errors import Busy, translated
from whatsapp_agent.store.wire import Item, from_wire, to_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

Sleep = Callable[[float], None]

MAX_ACTIONS = 100
"""Actions that one transaction holds, by DynamoDB's own limit."""

_WRITES_PER_CALL = 25
_CONFLICT_RETRIES = 3
_LEFTOVER_ATTEMPTS = 8


class Database:
    """A DynamoDB client with the adapters' habits.

    Every method raises `StoreUnavailable` when the call may succeed later; conditional writes raise
    `ConditionRefused`. What DynamoDB says beyond that passes unchanged.
    """

    def __init__(self, client: "DynamoDBClient", sleep: Sleep = time.sleep) -> None:
        self._client = client
        self._sleep = sleep

    def get(self, table: str, key: Mapping[str, Any]) -> Item | None:
        """One item, read strongly consistent."""
        with translated():
            answer = self._client.get_item(TableName=table, Key=to_wire(key), ConsistentRead=True)
        return from_wire(answer["Item"]) if "Item" in answer else None

    def get_many(
        self, table: str, keys: Sequence[Mapping[str, Any]], *, consistent: bool = False
    ) -> list[Item]:
        """Up to 100 different items in one call, in any order; absent ones are left out."""
        items: list[Item] = []
        asked: Any = {table: {"Keys": [to_wire(key) for key in keys], "ConsistentRead": consistent}}
        for attempt in range(_LEFTOVER_ATTEMPTS):
            with translated():
                answer = self._client.batch_get_item(RequestItems=asked)
            items += [from_wire(item) for item in answer["Responses"].get(table, [])]
            asked = answer.get("UnprocessedKeys")
            if not asked:
                return items
            self._back_off(attempt)
        raise StoreUnavailable("DynamoDB left keys of a batch unread again and again")

    def pages(
        self,
        table: str,
        condition: str,
        values: Mapping[str, Any],
        *,
        newest_first: bool = False,
        consistent: bool = True,
        page_size: int = 0,
        only: str = "",
        where: str = "",
    ) -> Iterator[list[Item]]:
        """A query, page by page: the caller stops when it has enough.

        A page holds at most `page_size` items, or 1 MB where that is 0. `only` lists the attributes to
        return, as `#a, #b`; all where it is empty. `where` filters after the items are read and paid for.
        """
        query: dict[str, Any] = {
            "TableName": table,
            "KeyConditionExpression": condition,
            "ConsistentRead": consistent,
            "ScanIndexForward": not newest_first,
            **placeholders(values, condition, only, where),
        }
        query |= {"Limit": page_size} if page_size else {}
        query |= {"ProjectionExpression": only} if only else {}
        query |= {"FilterExpression": where} if where else {}
        while True:
            with translated():
                answer = self._client.query(**query)
            yield [from_wire(item) for item in answer["Items"]]
            if not answer.get("LastEvaluatedKey"):
                return
            query["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def scan(self, table: str, *, only: str = "") -> Iterator[list[Item]]:
        """Everything in a table, page by page, eventually consistent; `only` as in `pages`."""
        asked: dict[str, Any] = {"TableName": table, **placeholders({}, only)}
        asked |= {"ProjectionExpression": only} if only else {}
        while True:
            with translated():
                answer = self._client.scan(**asked)
            yield [from_wire(item) for item in answer["Items"]]
            if not answer.get("LastEvaluatedKey"):
                return
            asked["ExclusiveStartKey"] = answer["LastEvaluatedKey"]

    def write(self, action: Action) -> None:
        """One put, update or delete outside a transaction: half the price of one inside."""
        ((kind, parameters),) = action.items()
        call: Any = {
            "Put": self._client.put_item,
            "Update": self._client.update_item,
            "Delete": self._client.delete_item,
        }[kind]
        self._despite_conflicts(lambda: call(**parameters))

    def search(
        self,
        table: str,
        index: str,
        vector: Sequence[str],
        most: int,
        *,
        condition: str,
        values: Mapping[str, Any],
    ) -> list[tuple[Item, float]]:
        """The items of a vector index that lie nearest, with their scores; the vector as numbers in text.

        Raises:
            IndexMissing: The table has no such index, it is not ready, or it takes vectors of another length.
        """
        with translated():
            answer = self._client.search_vectors(
                TableName=table,
                IndexName=index,
                SearchVector=[{"N": number} for number in vector],
                TopK=most,
                SearchConditionExpression=condition,
                **placeholders(values, condition),
            )
        return [(from_wire(found["Item"]), float(found["Score"])) for found in answer["SearchResults"]]

    def transact(self, actions: Sequence[Action]) -> None:
        """All of the actions or none."""
        wanted: Any = list(actions)
        self._despite_conflicts(lambda: self._client.transact_write_items(TransactItems=wanted))

    def delete_all(self, table: str, keys: Iterable[Mapping[str, Any]]) -> int:
        """Deletes items in batches as the keys come in, so that memory stays bounded; returns how many."""
        remaining, deleted = iter(keys), 0
        while batch := list(islice(remaining, _WRITES_PER_CALL)):
            self._delete_batch(table, batch)
            deleted += len(batch)
        return deleted

    def put_all(self, table: str, items: Iterable[Mapping[str, Any]]) -> None:
        """Writes whole items in batches, without conditions."""
        remaining = iter(items)
        while batch := list(islice(remaining, _WRITES_PER_CALL)):
            self._write_batch(table, [{"PutRequest": {"Item": to_wire(item)}} for item in batch])

    def _delete_batch(self, table: str, keys: Sequence[Mapping[str, Any]]) -> None:
        self._write_batch(table, [{"DeleteRequest": {"Key": to_wire(key)}} for key in keys])

    def _write_batch(self, table: str, requests: Sequence[Any]) -> None:
        asked: Any = {table: requests}
        for attempt in range(_LEFTOVER_ATTEMPTS):
            with translated():
                asked = self._client.batch_write_item(RequestItems=asked).get("UnprocessedItems")
            if not asked:
                return
            self._back_off(attempt)
        raise StoreUnavailable("DynamoDB left items of a batch unwritten again and again")

    def _despite_conflicts(self, call: Callable[[], object]) -> None:
        """A conflict lasts milliseconds: the other transaction has either happened by then or never will."""
        for attempt in range(_CONFLICT_RETRIES + 1):
            try:
                with translated():
                    call()
            except Busy:
                if attempt == _CONFLICT_RETRIES:
                    raise
                self._sleep(random.uniform(0.01, 0.05) * (attempt + 1))  # noqa: S311 - jitter, no secret
            else:
                return

    def _back_off(self, attempt: int) -> None:
        self._sleep(min(2.0, 0.05 * 2**attempt) * random.uniform(0.5, 1.0))  # noqa: S311 - jitter, no secret
