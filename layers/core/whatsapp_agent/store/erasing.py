"""Removes everything of a conversation from a table, however many pages that is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whatsapp_agent.errors import StoreUnavailable
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.wire import Item

_SWEEPS = 10


@dataclass(frozen=True, slots=True)
class Partition:
    """A table of which the first key attribute, `conversation` or `owner`, says whose the item is; `key` lists
    all its key attributes.
    """

    table: str
    key: tuple[str, ...]


def erase(database: Database, partitions: Sequence[Partition], conversation: str) -> int:
    """Deletes the conversation's items in the order of the partitions; returns how many there were.

    Ends only when a strongly consistent read of each partition has found nothing, so what a writer in
    flight put behind the first sweep goes too.

    Raises:
        StoreUnavailable: Also where something keeps writing to the conversation.
    """
    removed = 0
    for _ in range(_SWEEPS):
        found = sum(_sweep(database, partition, conversation) for partition in partitions)
        if not found:
            return removed
        removed += found
    raise StoreUnavailable("the conversation is written to while it is erased")


def _sweep(database: Database, partition: Partition, conversation: str) -> int:
    return database.delete_all(partition.table, _keys(database, partition, conversation))


def _keys(database: Database, partition: Partition, conversation: str) -> Iterator[Item]:
    owner = partition.key[0]
    for page in database.pages(
        partition.table,
        f"#{owner} = :{owner}",
        {owner: conversation},
        only=", ".join(f"#{name}" for name in partition.key),
    ):
        yield from page
