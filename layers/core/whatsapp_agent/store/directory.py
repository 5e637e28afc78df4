"""Numbers, aliases and erasures on DynamoDB."""

from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock, from_iso, to_iso
from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.ports.directory import Address
from whatsapp_agent.store import actions
from whatsapp_agent.store.aliases import Aliases, alias_target
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.hashing import keyed_hash
from whatsapp_agent.store.number_cache import NumberCache
from whatsapp_agent.store.numbers import NumberChain, number_key
from whatsapp_agent.store.wire import Item

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

ERASED = "erased#"

# Erasures only move forward in time, in whatever order they are written down.
NO_LATER_ERASURE = "attribute_not_exists(#at) OR #at < :at"


class DynamoDirectory:
    """Implements `ports.Directory`.

    Units of `resolve`: 0.5 per read key, 1 in all; the number is kept in the process for `cache_seconds`.
    A number's new agent is seen by other processes after that time.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        directory: str,
        hash_key: bytes,
        now: Clock,
        cache_seconds: float = 60,
        cache_size: int = 1000,
        database: Database | None = None,
    ) -> None:
        if not hash_key:
            raise ConfigurationError("the key for the hashes of erased conversations is empty")
        self._db = database or Database(client)
        self._table = directory
        self._hash_key = hash_key
        self._cache = NumberCache(now, cache_seconds, cache_size)
        self._chain = NumberChain(self._db, directory)
        self._aliases = Aliases(self._db, directory, hash_key)

    def resolve(self, number: str, person: str, sent_at: datetime | None = None) -> Address:
        """See `ports.Directory.resolve`."""
        agent = self._cache.get(number)
        alias = self._aliases.key(person)
        wanted = [alias] + ([number_key(number)] if agent is None else [])
        found = {item["id"]: item for item in self._db.get_many(self._table, wanted)}
        if agent is None:
            agent = str(found.get(number_key(number)["id"], {}).get("agent", ""))
            self._cache.put(number, agent)
        return Address(agent=agent, person=alias_target(found.get(alias["id"], {}), person, sent_at))

    def replace_number(self, old_number: str, new_number: str, label: str, at: datetime) -> None:
        """See `ports.Directory.replace_number`.

        A new number that somebody has given to an agent stays with that agent. Replacements may arrive in
        any order: along a chain A, B, C the agent of A reaches C either way, and of two replacements of
        one number the later counts.
        """
        self._chain.replace(old_number, new_number, label, at)
        self._cache.clear()

    def assign_number(self, number: str, agent: str) -> None:
        """See `ports.Directory.assign_number`."""
        self._chain.assign(number, agent)
        self._cache.clear()

    def alias_person(self, alias: str, person: str) -> None:
        """See `ports.Directory.alias_person`."""
        self._aliases.lead(alias, person)

    def move_person(self, old: str, new: str, at: datetime) -> None:
        """See `ports.Directory.move_person`."""
        self._aliases.move(old, new, at)

    def aliases(self, person: str) -> list[str]:
        """See `ports.Directory.aliases`."""
        return self._aliases.of(person)

    def forget_person(self, person: str) -> int:
        """See `ports.Directory.forget_person`."""
        return self._aliases.forget(person)

    def erased_at(self, conversation: str) -> datetime | None:
        """See `ports.Directory.erased_at`. Strongly consistent: the next event may follow at once."""
        item = self._db.get(self._table, self._erased_key(conversation))
        return from_iso(item["at"]) if item else None

    def record_erasure(self, conversation: str, at: datetime) -> None:
        """See `ports.Directory.record_erasure`."""
        moment = to_iso(at)
        item = {**self._erased_key(conversation), "at": moment}
        with suppress(ConditionRefused):
            self._db.write(actions.put(self._table, item, NO_LATER_ERASURE, {"at": moment}))

    def _erased_key(self, conversation: str) -> Item:
        return {"id": ERASED + keyed_hash(self._hash_key, conversation)}
