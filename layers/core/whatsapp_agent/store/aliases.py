"""Other addresses of persons in the directory: `alias#<keyed hash of the address>` leads to a person,
`person#<key>` lists them, so that an erasure finds every address without reading the whole table.

A phone number that its owner has given up leads to a person without any memory: whoever gets it next. That item
outlives both of them, so its key is a hash and nothing in it is a phone number once they are forgotten.
"""

from contextlib import suppress
from datetime import datetime

from whatsapp_agent.clock import to_iso
from whatsapp_agent.errors import StoreUnavailable
from whatsapp_agent.phones import is_phone
from whatsapp_agent.store import actions
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.errors import ConditionRefused
from whatsapp_agent.store.hashing import keyed_hash
from whatsapp_agent.store.wire import Item

ALIAS = "alias#"
PERSON = "person#"

_ATTEMPTS = 4
_KEY_CHARACTERS = 24

LIST_UNCHANGED = "#aliases = :seen"
NO_LIST = "attribute_not_exists(#aliases)"
STILL_OF_PERSON = "#person = :person"
ONCE_OF_PERSON = "#before = :person"


class Aliases:
    """Writes both sides of an alias together."""

    def __init__(self, database: Database, table: str, hash_key: bytes) -> None:
        self._db = database
        self._table = table
        self._hash_key = hash_key

    def key(self, address: str) -> Item:
        """Key of the item that says whom an address stands for."""
        return {"id": ALIAS + keyed_hash(self._hash_key, f"alias {address}")}

    def lead(self, alias: str, person: str) -> None:
        """Lets `alias` lead to where `person` leads, so that a lookup is one read. A person who comes back to
        their first address needs no alias. An alias that is known already is not written.
        """
        if alias == person:
            return
        known = self._known(alias, person)
        target = str(known[person].get("person", person))
        if target == alias:
            self._db.write(actions.delete(self._table, self.key(alias)))
        elif known[alias].get("person") != target:
            self._add(alias, target, {"person": target})

    def move(self, old: str, new: str, at: datetime) -> None:
        """Lets `new` lead to the person whom `old` stood for, and `old`, if it is a phone number, to whoever
        writes from it after `at`. Told again, also by another business number, it changes nothing.
        """
        left = self._known(old)[old]
        if old == new or left.get("left_for") == self.key(new)["id"]:
            return
        person = str(left.get("person", old))
        self.lead(new, old)
        if is_phone(old):
            since = to_iso(at)
            stranger = f"~{keyed_hash(self._hash_key, f'{old} {since}')[:_KEY_CHARACTERS]}"
            given_up = {"person": stranger, "before": person, "since": since, "left_for": self.key(new)["id"]}
            self._add(old, person, given_up)

    def of(self, person: str) -> list[str]:
        """The addresses that lead to the person, and those that did until they gave them up."""
        others = [address for address in self._listed(person) if address != person]
        known = self._known(*others) if others else {}
        return [each for each in others if person in (known[each].get("person"), known[each].get("before"))]

    def forget(self, person: str) -> int:
        """Removes the addresses, then their list; returns how many led to the person. One that they gave up
        stays so, without a word of whose it was.
        """
        listed, led = self._listed(person), 0
        for address in listed:
            of_person = {"person": person}
            with suppress(ConditionRefused):
                self._db.write(
                    actions.update(self._table, self.key(address), {"before": ""}, ONCE_OF_PERSON, of_person)
                )
            with suppress(ConditionRefused):
                self._db.write(actions.delete(self._table, self.key(address), STILL_OF_PERSON, of_person))
                led += 1
        if listed:
            self._db.write(actions.delete(self._table, _person_key(person)))
        return led

    def _add(self, alias: str, person: str, leads: Item) -> None:
        """Writes where an address leads, and lists it with the person."""
        for _ in range(_ATTEMPTS):
            seen = self._listed(person)
            listed = actions.update(
                self._table,
                _person_key(person),
                {"aliases": sorted({*seen, alias})},
                LIST_UNCHANGED if seen else NO_LIST,
                {"seen": seen},
            )
            try:
                self._db.transact([listed, actions.put(self._table, {**self.key(alias), **leads})])
            except ConditionRefused:
                continue
            return
        raise StoreUnavailable("the person's addresses are written by others again and again")

    def _known(self, *addresses: str) -> dict[str, Item]:
        keys = {address: self.key(address) for address in addresses}
        found = self._db.get_many(self._table, list(keys.values()), consistent=True)
        items = {item["id"]: item for item in found}
        return {address: items.get(key["id"], {}) for address, key in keys.items()}

    def _listed(self, person: str) -> list[str]:
        """The addresses that were ever led to the person; one may lead to somebody else by now."""
        item = self._db.get(self._table, _person_key(person)) or {}
        return [str(alias) for alias in item.get("aliases", ())]


def alias_target(item: Item, address: str, sent_at: datetime | None) -> str:
    """Whom an address stands for, by its item, if any: for what was sent before its owner gave it up, them;
    itself, which an erasure has marked, where they are forgotten.
    """
    if sent_at is not None and item.get("since") and to_iso(sent_at) <= str(item["since"]):
        return str(item.get("before", address))
    return str(item.get("person", address))


def _person_key(person: str) -> Item:
    return {"id": PERSON + person}
