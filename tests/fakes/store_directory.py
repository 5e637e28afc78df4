"""The directory in memory."""

from datetime import datetime

from tests.fakes.store_tables import FakeTables
from whatsapp_agent.ports import Address


class FakeDirectory:
    """Without the real one's cache: a number that changes hands does so at once."""

    def __init__(self, tables: FakeTables) -> None:
        self.tables = tables

    def resolve(self, number: str, person: str) -> Address:
        with self.tables.call("resolve"):
            known = self.tables.numbers.get(number)
            return Address(known.agent if known else "", self.tables.aliases.get(person, person))

    def replace_number(self, old_number: str, new_number: str, label: str, at: datetime) -> None:
        with self.tables.call("replace_number"):
            old, new = self.tables.numbers[old_number], self.tables.numbers[new_number]
            if old_number == new_number or (old.retired_at and old.retired_at > at):
                return
            old.replaced_by, old.retired_at = new_number, at
            new.replaces, new.label = old_number, label or new.label
            new.agent = new.agent or old.agent
            while old.agent and new.agent == old.agent and new.replaced_by:
                new = self.tables.numbers[new.replaced_by]
                if new.agent:
                    return
                new.agent = old.agent

    def assign_number(self, number: str, agent: str) -> None:
        with self.tables.call("assign_number"):
            self.tables.numbers[number].agent = agent

    def alias_person(self, alias: str, person: str) -> None:
        with self.tables.call("alias_person"):
            target = self.tables.aliases.get(person, person)
            if target == alias:
                self.tables.aliases.pop(alias, None)
            else:
                self.tables.aliases[alias] = target

    def aliases(self, person: str) -> list[str]:
        with self.tables.call("aliases"):
            return sorted(alias for alias, target in self.tables.aliases.items() if target == person)

    def forget_person(self, person: str) -> int:
        with self.tables.call("forget_person"):
            doomed = [alias for alias, target in self.tables.aliases.items() if target == person]
            for alias in doomed:
                del self.tables.aliases[alias]
            return len(doomed)

    def erased_at(self, conversation: str) -> datetime | None:
        with self.tables.call("erased_at"):
            return self.tables.erasures.get(conversation)

    def record_erasure(self, conversation: str, at: datetime) -> None:
        with self.tables.call("record_erasure"):
            known = self.tables.erasures.get(conversation)
            if known is None or known < at:
                self.tables.erasures[conversation] = at
