"""Facts on DynamoDB, reading side; a compaction writes them, see `whatsapp_agent.store.compaction`."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock
from whatsapp_agent.memory.records import Fact, PastFact
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.erasing import Partition, erase
from whatsapp_agent.store.fact_items import CURRENT, fact_from, history_prefix, past_from
from whatsapp_agent.store.items import expiry_of
from whatsapp_agent.store.lifetimes import gone
from whatsapp_agent.store.wire import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WITH_PREFIX = "#conversation = :conversation AND begins_with(#key, :prefix)"


class DynamoFactStore:
    """Implements `ports.FactStore`."""

    def __init__(
        self, client: "DynamoDBClient", *, facts: str, now: Clock, database: Database | None = None
    ) -> None:
        self._db = database or Database(client)
        self._facts = facts
        self._now = now

    def facts(self, conversation: str) -> list[Fact]:
        """See `ports.FactStore.facts`. The history is not read, so it adds nothing to the cost."""
        found = [fact_from(item) for item in self._items(conversation, CURRENT, consistent=True)]
        return sorted(found, key=lambda fact: (fact.key, fact.item))

    def history(self, conversation: str, key: str = "") -> list[PastFact]:
        """See `ports.FactStore.history`. Eventually consistent."""
        found = [past_from(item) for item in self._items(conversation, history_prefix(key), consistent=False)]
        return sorted(
            found, key=lambda past: (past.replaced_at, past.fact.key, past.fact.item, past.fact.version)
        )

    def erase(self, conversation: str) -> int:
        """See `ports.FactStore.erase`. Comes after `ConversationStore.erase`, which stops compactions."""
        return erase(self._db, [Partition(self._facts, ("conversation", "key"))], conversation)

    def _items(self, conversation: str, prefix: str, *, consistent: bool) -> Iterator[Item]:
        values = {"conversation": conversation, "prefix": prefix}
        now = self._now()
        for page in self._db.pages(self._facts, WITH_PREFIX, values, consistent=consistent):
            yield from (item for item in page if not gone(expiry_of(item), now))
