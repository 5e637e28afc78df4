"""Reads whole tables: for the operator's figures and for erasures after a restore, never for a message.

A scan costs half a unit per 4 kB of everything in the table, whatever it returns.
"""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Summary
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.items import expiry_of, summary_from, turn_from
from whatsapp_agent.store.lifetimes import gone
from whatsapp_agent.store.wire import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


class DynamoCensus:
    """Everybody in a deployment.

    Args:
        partitions: The tables whose items belong to a conversation, each with the name of that attribute.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        turns: str,
        summaries: str,
        partitions: Sequence[tuple[str, str]],
        now: Clock,
        database: Database | None = None,
    ) -> None:
        self._db = database or Database(client)
        self._turns = turns
        self._summaries = summaries
        self._partitions = partitions
        self._now = now

    def conversations(self) -> list[str]:
        """Every conversation of which anything is stored, expired items included, sorted."""
        found: set[str] = set()
        for table, attribute in self._partitions:
            for page in self._db.scan(table, only=f"#{attribute}"):
                found.update(str(item[attribute]) for item in page)
        return sorted(conversation for conversation in found if "#" in conversation)

    def turns(self) -> Iterator[Turn]:
        """Every turn that is stored, in no order."""
        return (turn_from(item) for item in self._alive(self._turns))

    def summaries(self) -> Iterator[Summary]:
        """Every summary and conversation state, in no order."""
        return (summary_from(item) for item in self._alive(self._summaries))

    def _alive(self, table: str) -> Iterator[Item]:
        now = self._now()
        for page in self._db.scan(table):
            yield from (item for item in page if not gone(expiry_of(item), now))
