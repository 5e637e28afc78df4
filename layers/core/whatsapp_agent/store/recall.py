"""What can be recalled, on DynamoDB: passages by key, and the nearest ones by vector."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock, to_epoch
from whatsapp_agent.errors import ConfigurationError, MessagesGone
from whatsapp_agent.memory.passages import Passage, Vector
from whatsapp_agent.memory.records import Message
from whatsapp_agent.store import actions
from whatsapp_agent.store.conditions import SAME_MESSAGE
from whatsapp_agent.store.database import MAX_ACTIONS, Database
from whatsapp_agent.store.erasing import Partition, erase
from whatsapp_agent.store.errors import ConditionRefused, VectorRefused
from whatsapp_agent.store.items import expiry_of, message_key
from whatsapp_agent.store.lifetimes import gone
from whatsapp_agent.store.recall_items import (
    TEXT,
    VECTOR,
    passage_from,
    text_item,
    vector_from,
    vector_item,
)
from whatsapp_agent.store.vectors import VectorSearch
from whatsapp_agent.store.wire import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WITH_PREFIX = "#owner = :owner AND begins_with(#id, :prefix)"


class DynamoRecallStore:
    """Implements `ports.RecallStore`.

    `messages`, the messages' table, is needed only where writes are guarded by a message.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        recall: str,
        now: Clock,
        messages: str = "",
        database: Database | None = None,
    ) -> None:
        self._db = database or Database(client)
        self._recall = recall
        self._messages = messages
        self._now = now
        self._search = VectorSearch(self._db, recall, now)

    def passages(
        self, owner: str, prefix: str, limit: int, *, newest_first: bool = False, consistent: bool = False
    ) -> list[Passage]:
        """See `ports.RecallStore.passages`."""
        found: list[Passage] = []
        for item in self._items(
            owner, TEXT + prefix, newest_first=newest_first, consistent=consistent, page_size=limit
        ):
            found.append(passage_from(item))
            if len(found) == limit:
                break
        return found

    def get(self, owner: str, keys: Sequence[str]) -> list[Passage]:
        """See `ports.RecallStore.get`."""
        if not keys:
            return []
        items = self._db.get_many(self._recall, [{"owner": owner, "id": TEXT + key} for key in keys])
        now = self._now()
        return [passage_from(item) for item in items if not gone(expiry_of(item), now)]

    def nearest(self, owner: str, vector: Vector, model: str, limit: int) -> dict[str, float]:
        """See `ports.RecallStore.nearest`."""
        return self._search.nearest(owner, vector, model, limit)

    def vectors(self, owner: str, prefix: str) -> dict[str, tuple[str, Vector]]:
        """See `ports.RecallStore.vectors`."""
        items = self._items(owner, VECTOR + prefix, consistent=True)
        return {item["id"].removeprefix(VECTOR): (item["model"], vector_from(item)) for item in items}

    def put(self, passages: Sequence[Passage], *, while_there: Message | None = None) -> None:
        """See `ports.RecallStore.put`.

        Raises:
            ConfigurationError: A vector is of another length than the table's index has.
        """
        try:
            if while_there is None:
                self._put(passages)
            else:
                self._put_guarded(passages, while_there)
        except VectorRefused as error:
            raise ConfigurationError(
                "the vectors have another length than the table's vector index: see docs/recall.md"
            ) from error

    def _put(self, passages: Sequence[Passage]) -> None:
        self._db.put_all(self._recall, (text_item(passage) for passage in passages))
        self._db.put_all(self._recall, (vector_item(each) for each in passages if each.embedding))
        stale = [{"owner": each.owner, "id": VECTOR + each.key} for each in passages if not each.embedding]
        self._db.delete_all(self._recall, stale)

    def _put_guarded(self, passages: Sequence[Passage], message: Message) -> None:
        key = message_key(message.conversation, message.seq)
        values = {"now": to_epoch(self._now()), "event": message.event_id}
        guard = actions.check(self._messages, key, SAME_MESSAGE, values)
        step = (MAX_ACTIONS - 1) // 2
        for start in range(0, len(passages), step):
            wanted = [guard]
            for passage in passages[start : start + step]:
                wanted.append(actions.put(self._recall, text_item(passage)))
                if passage.embedding:
                    wanted.append(actions.put(self._recall, vector_item(passage)))
            try:
                self._db.transact(wanted)
            except ConditionRefused as refused:
                raise MessagesGone("the messages that the passages come from no longer exist") from refused

    def delete(self, owner: str, keys: Sequence[str]) -> None:
        """See `ports.RecallStore.delete`."""
        ids = [kind + key for key in keys for kind in (VECTOR, TEXT)]
        self._db.delete_all(self._recall, [{"owner": owner, "id": each} for each in ids])

    def erase(self, owner: str) -> int:
        """See `ports.RecallStore.erase`."""
        return erase(self._db, [Partition(self._recall, ("owner", "id"))], owner)

    def _items(
        self,
        owner: str,
        prefix: str,
        *,
        consistent: bool = False,
        newest_first: bool = False,
        page_size: int = 0,
    ) -> Iterator[Item]:
        now = self._now()
        for page in self._db.pages(
            self._recall,
            WITH_PREFIX,
            {"owner": owner, "prefix": prefix},
            newest_first=newest_first,
            consistent=consistent,
            page_size=page_size,
        ):
            yield from (item for item in page if not gone(expiry_of(item), now))
