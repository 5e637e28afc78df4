"""The directory in memory."""

from datetime import datetime

from tests.fakes.store_tables import FakeTables, GivenUp
from whatsapp_agent.ports.directory import Address


class FakeDirectory:
    """Without the real one's cache: a number that changes hands does so at once."""

    def __init__(self, tables: FakeTables) -> None:
        self.tables = tables

    def resolve(self, number: str, person: str, sent_at: datetime | None = None) -> Address:
        with self.tables.call("resolve"):
            known = self.tables.numbers.get(number)
            left = self.tables.given_up.get(person)
            if left and sent_at and sent_at <= left.since:
                found = left.before or person
            else:
                found = self.tables.aliases.get(person, person)
            return Address(known.agent if known else "", found)

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
            self._lead(alias, person)

    def _lead(self, alias: str, person: str) -> None:
        target = self.tables.aliases.get(person, person)
        self.tables.given_up.pop(alias, None)
        if target == alias:
            self.tables.aliases.pop(alias, None)
        else:
            self.tables.aliases[alias] = target

    def move_person(self, old: str, new: str, at: datetime) -> None:
        with self.tables.call("move_person"):
            left = self.tables.given_up.get(old)
            if old == new or (left and left.left_for == new):
                return
            before = self.tables.aliases.get(old, old)
            self._lead(new, old)
            if old.startswith("+"):
                self.tables.strangers += 1
                self.tables.aliases[old] = f"~{self.tables.strangers}"
                self.tables.given_up[old] = GivenUp(before, at, new)

    def aliases(self, person: str) -> list[str]:
        with self.tables.call("aliases"):
            given_up = {alias: left.before for alias, left in self.tables.given_up.items()}
            whose = {**self.tables.aliases, **given_up}
            return sorted(alias for alias, target in whose.items() if target == person != alias)

    def forget_person(self, person: str) -> int:
        with self.tables.call("forget_person"):
            for left in self.tables.given_up.values():
                left.before = "" if left.before == person else left.before
            doomed = [
                alias
                for alias, target in self.tables.aliases.items()
                if target == person and alias not in self.tables.given_up
            ]
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
