"""Other addresses of persons in the directory: `alias#<address>` leads to a person, `person#<key>` lists them.

The list exists so that an erasure finds every address without reading the whole table.
"""

from contextlib import suppress

from whatsapp_agent.errors import StoreUnavailable
from whatsapp_agent.store import actions
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.wire import Item

ALIAS = "alias#"
PERSON = "person#"

_ATTEMPTS = 4

LIST_UNCHANGED = "#aliases = :seen"
NO_LIST = "attribute_not_exists(#aliases)"
STILL_OF_PERSON = "#person = :person"


def alias_key(address: str) -> Item:
    """Key of another address."""
    return {"id": ALIAS + address}


class Aliases:
    """Writes both sides of an alias together."""

    def __init__(self, database: Database, table: str) -> None:
        self._db = database
        self._table = table

    def add(self, alias: str, person: str) -> None:
        """Lets `alias` lead to `person`."""
        for _ in range(_ATTEMPTS):
            seen = self.of(person)
            listed = actions.update(
                self._table,
                _person_key(person),
                {"aliases": sorted({*seen, alias})},
                LIST_UNCHANGED if seen else NO_LIST,
                {"seen": seen},
            )
            leads = actions.put(self._table, {**alias_key(alias), "person": person})
            try:
                self._db.transact([listed, leads])
            except ConditionRefused:
                continue
            return
        raise StoreUnavailable("the person's addresses are written by others again and again")

    def of(self, person: str) -> list[str]:
        """The addresses that were ever led to the person; one may lead to somebody else by now."""
        item = self._db.get(self._table, _person_key(person)) or {}
        return [str(alias) for alias in item.get("aliases", ())]

    def forget(self, person: str) -> int:
        """Removes the addresses, then their list; returns how many there were."""
        known = self.of(person)
        for alias in known:
            with suppress(ConditionRefused):
                self._db.write(
                    actions.delete(self._table, alias_key(alias), STILL_OF_PERSON, {"person": person})
                )
        if known:
            self._db.write(actions.delete(self._table, _person_key(person)))
        return len(known)


def _person_key(person: str) -> Item:
    return {"id": PERSON + person}
