"""Facts on DynamoDB. What a compaction concluded is written by `whatsapp_agent.store.compaction`."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock, to_epoch
from whatsapp_agent.errors import FactMoved, MessagesGone
from whatsapp_agent.memory.records import Fact, FactUpdate, Message, PastFact
from whatsapp_agent.store import actions
from whatsapp_agent.store.conditions import SAME_MESSAGE
from whatsapp_agent.store.database import MAX_ACTIONS, Database
from whatsapp_agent.store.erasing import Partition, erase
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.fact_items import CURRENT, fact_from, history_prefix, past_from
from whatsapp_agent.store.fact_writes import FactWrites, sliced
from whatsapp_agent.store.items import expiry_of, message_key
from whatsapp_agent.store.lifetimes import gone
from whatsapp_agent.store.wire import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

WITH_PREFIX = "#conversation = :conversation AND begins_with(#key, :prefix)"


class DynamoFactStore:
    """Implements `ports.FactStore`.

    `messages`, the messages' table, is needed only where writes are guarded by a message.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        facts: str,
        now: Clock,
        messages: str = "",
        retention_days: int = 0,
        database: Database | None = None,
    ) -> None:
        self._db = database or Database(client)
        self._facts = facts
        self._messages = messages
        self._now = now
        self._retention_days = retention_days

    def facts(self, conversation: str) -> list[Fact]:
        """See `ports.FactStore.facts`. The history is not read, so it adds nothing to the cost."""
        found = [fact_from(item) for item in self._items(conversation, CURRENT, consistent=True)]
        return sorted(found, key=lambda fact: (fact.key, fact.item))

    def history(self, conversation: str, key: str = "") -> list[PastFact]:
        """See `ports.FactStore.history`. Eventually consistent."""
        now = self._now()
        read = (past_from(item) for item in self._items(conversation, history_prefix(key), consistent=False))
        found = [past for past in read if past.reason != "expired" or past.replaced_at <= now]
        return sorted(
            found, key=lambda past: (past.replaced_at, past.fact.key, past.fact.item, past.fact.version)
        )

    def write(
        self, conversation: str, updates: Sequence[FactUpdate], *, while_there: Message | None = None
    ) -> None:
        """See `ports.FactStore.write`."""
        guards = [self._check(while_there)] if while_there else []
        writes = FactWrites(self._facts, self._now(), self._retention_days)
        for part in sliced(updates, MAX_ACTIONS - len(guards)):
            wanted = [action for update in part for action in writes.changes(conversation, update)]
            if not wanted:
                continue
            try:
                self._db.transact([*guards, *wanted])
            except ConditionRefused as refused:
                if guards and refused.refusals[0]:
                    raise MessagesGone("the message that the change comes from no longer exists") from refused
                raise FactMoved("a fact has another version than was read") from refused

    def _check(self, message: Message) -> actions.Action:
        key = message_key(message.conversation, message.seq)
        values = {"now": to_epoch(self._now()), "event": message.event_id}
        return actions.check(self._messages, key, SAME_MESSAGE, values)

    def forget_history(self, conversation: str, key: str, item: str) -> int:
        """See `ports.FactStore.forget_history`."""
        values = {"conversation": conversation, "prefix": f"{history_prefix(key)}{item}#"}
        pages = self._db.pages(self._facts, WITH_PREFIX, values, only="#conversation, #key")
        return self._db.delete_all(self._facts, (each for page in pages for each in page))

    def erase(self, conversation: str) -> int:
        """See `ports.FactStore.erase`. Comes after `ConversationStore.erase`, which stops compactions."""
        return erase(self._db, [Partition(self._facts, ("conversation", "key"))], conversation)

    def _items(self, conversation: str, prefix: str, *, consistent: bool) -> Iterator[Item]:
        values = {"conversation": conversation, "prefix": prefix}
        now = self._now()
        for page in self._db.pages(self._facts, WITH_PREFIX, values, consistent=consistent):
            yield from (item for item in page if not gone(expiry_of(item), now))
