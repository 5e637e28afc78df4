"""Who numbers and addresses stand for, as a protocol.

Every method may raise `TransientError` (the call may succeed later). Other errors are named where they can
happen.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Address:
    """Who a number and a person stand for: the agent of the number (empty: the default agent) and the
    person's canonical key.
    """

    agent: str
    person: str


class Directory(Protocol):
    """Numbers, aliases of persons, and erasures."""

    def resolve(self, number: str, person: str, sent_at: datetime | None = None) -> Address:
        """Looks up which agent a business number belongs to and whom a person's address stands for; where
        `sent_at` is given, whom it stood for then.
        """

    def replace_number(self, old_number: str, new_number: str, label: str, at: datetime) -> None:
        """Lets `new_number` inherit the agent of `old_number`. Doing it again changes nothing."""

    def assign_number(self, number: str, agent: str) -> None:
        """Gives a business number to an agent."""

    def alias_person(self, alias: str, person: str) -> None:
        """Lets another address of a person lead to the key under which they are remembered."""

    def move_person(self, old: str, new: str, at: datetime) -> None:
        """Lets a person's new address lead to their memory, and a phone number that they gave up to nobody's:
        who writes from it after `at` is somebody else. Told again, it changes nothing.
        """

    def aliases(self, person: str) -> list[str]:
        """The other addresses that lead to the person, and those that did until they gave them up."""

    def forget_person(self, person: str) -> int:
        """Removes every address that leads to the person; returns how many there were."""

    def erased_at(self, conversation: str) -> datetime | None:
        """When the conversation was last erased. Kept under a keyed hash, not under the phone number."""

    def record_erasure(self, conversation: str, at: datetime) -> None:
        """Writes down an erasure; a later one replaces an earlier one, never the other way round."""
