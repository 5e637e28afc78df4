"""Merges proposed changes with the facts on record; see `facts.judge`."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from whatsapp_agent.memory.evidence import Evidence, Said
from whatsapp_agent.memory.likeness import item_id, normalised, same, telling_words
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.memory.records import Fact, FactChange, FactUpdate, PastFact
from whatsapp_agent.memory.refusals import reason_to_refuse

NOTE = "note"
"""The list key that takes what fits no key of the agent."""

_MOST_INFERRED = 0.9
_Reason = Literal["changed", "obsolete", "expired", "retired"]
_Id = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is to be written, and how many proposals were refused, by reason.

    Reasons: `empty`, `too_long`, `greeting`, `card_number`, `secret`, `instruction`, `agents_words` (only the
    agent said it), `no_evidence` (the person said nothing), `inferred_over_stated`, `older` (what is on record
    was learned later), `expired` (no longer true by its key's lifetime), `not_on_record` (an obsolete value
    that is not there), `over_cap` (the list holds newer values). A fact that is known already is no refusal.
    """

    updates: tuple[FactUpdate, ...]
    refused: Mapping[str, int]


def expired(fact: Fact, now: datetime) -> bool:
    """Whether the fact is to be treated as gone."""
    return fact.expires_at is not None and fact.expires_at <= now


@dataclass(frozen=True, slots=True)
class _Change:
    """A proposal as it is understood: its key known, its value clean, its message found."""

    key: FactKey
    value: str
    obsolete: bool
    stated: bool
    confidence: float
    said: Said


class _Refused(Exception):
    """A proposal that is not taken; the only argument is the reason."""


class Merge:
    """The facts as they would be after each change; the difference at the end is what gets written."""

    def __init__(
        self,
        facts: Sequence[Fact],
        keys: Mapping[str, FactKey],
        conversation: str,
        evidence: Evidence,
        now: datetime,
    ) -> None:
        self._stored: dict[_Id, Fact] = {(fact.key, fact.item): fact for fact in facts}
        self._current = {id_: fact for id_, fact in self._stored.items() if not expired(fact, now)}
        self._why: dict[_Id, tuple[_Reason, int]] = {}
        self._keys = {NOTE: FactKey(NOTE, "", kind="list"), **keys}
        self._conversation = conversation
        self._evidence = evidence
        self._now = now
        self._refused: Counter[str] = Counter()

    def verdict(self, changes: Sequence[FactChange]) -> Verdict:
        """Takes or refuses every change, then says what differs from the record."""
        understood = []
        for change in changes:
            try:
                understood.append(self._understand(change))
            except _Refused as refusal:
                self._refused[str(refusal)] += 1
        for known in sorted(understood, key=lambda known: known.said.seq):
            try:
                self._apply(known)
            except _Refused as refusal:
                self._refused[str(refusal)] += 1
        self._retire()
        ids = sorted(self._stored.keys() | self._current.keys())
        updates = (self._update(id_) for id_ in ids)
        return Verdict(tuple(update for update in updates if update), dict(self._refused))

    def _understand(self, change: FactChange) -> _Change:
        said = self._evidence.find(change.evidence_seq)
        if said is None:
            raise _Refused("no_evidence")
        name = clean(change.key).casefold()
        key = self._keys.get(name, self._keys[NOTE])
        value = clean(change.value)
        obsolete = change.action == "obsolete"
        if not obsolete:
            if reason := reason_to_refuse(value) or self._evidence.reason_to_refuse(value, said):
                raise _Refused(reason)
            if name and name not in self._keys and len(value) + len(name) <= 150:
                value = f"{name.replace('_', ' ')}: {value}"
        confidence = change.confidence if math.isfinite(change.confidence) else 0.0
        confidence = 1.0 if change.stated else min(_MOST_INFERRED, max(0.0, confidence))
        return _Change(key, value, obsolete, change.stated, confidence, said)

    def _apply(self, change: _Change) -> None:
        known = self._find(change)
        if known is not None and not change.obsolete and same(known.value, change.value):
            self._hear_again(change, known)
            return
        if known is not None and (known.key, known.item) in self._stored:
            self._check_order(change, known)
        if change.obsolete:
            self._forget(change, known)
        else:
            self._set(change, known)

    def _find(self, change: _Change) -> Fact | None:
        """The current fact that the change is about."""
        if change.key.kind == "single":
            return self._current.get((change.key.key, ""))
        values = [fact for fact in self._current.values() if fact.key == change.key.key]
        for fact in values:
            if same(fact.value, change.value):
                return fact
        if not change.obsolete:
            return None
        words = telling_words(change.value)
        alike = [fact for fact in values if words and (words <= telling_words(fact.value))]
        return alike[0] if len(alike) == 1 else None

    def _check_order(self, change: _Change, known: Fact) -> None:
        if known.source == "operator":
            if change.said.received_at < known.updated_at:
                raise _Refused("older")
        elif change.said.seq < known.evidence_seq:
            raise _Refused("older")

    def _forget(self, change: _Change, known: Fact | None) -> None:
        if known is None or (known.key, known.item) not in self._stored:
            raise _Refused("not_on_record")
        id_ = (known.key, known.item)
        if known is not self._stored[id_]:
            raise _Refused("not_on_record")  # the same answer has just set it
        if change.key.kind == "single" and normalised(change.value):
            shared = telling_words(change.value) & telling_words(known.value)
            if not shared and not same(change.value, known.value):
                raise _Refused("not_on_record")
        if not change.stated and known.source != "inferred":
            raise _Refused("inferred_over_stated")
        del self._current[id_]
        self._why[id_] = ("obsolete", change.said.seq)

    def _hear_again(self, change: _Change, known: Fact) -> None:
        """The value is known: it may have become surer, or true for longer; its words stay."""
        surer = change.stated and known.source == "inferred"
        if not change.stated and known.source != "inferred":
            return
        expires_at = self._expiry(change)
        longer = expires_at is not None and (known.expires_at is None or expires_at > known.expires_at)
        if not surer and not longer:
            return
        self._current[(known.key, known.item)] = replace(
            known,
            confidence=change.confidence if surer else max(known.confidence, change.confidence),
            source="stated" if surer else known.source,
            evidence_seq=max(known.evidence_seq, change.said.seq),
            updated_at=max(known.updated_at, change.said.at),
            expires_at=expires_at if longer else known.expires_at,
        )

    def _set(self, change: _Change, known: Fact | None) -> None:
        if known is not None and known.source != "inferred" and not change.stated:
            raise _Refused("inferred_over_stated")
        expires_at = self._expiry(change)
        if expires_at is not None and expires_at <= self._now:
            raise _Refused("expired")
        item = "" if change.key.kind == "single" else item_id(change.value)
        id_ = (change.key.key, item)
        self._current[id_] = Fact(
            conversation=self._conversation,
            key=change.key.key,
            item=item,
            value=change.value,
            confidence=change.confidence,
            source="stated" if change.stated else "inferred",
            evidence_seq=change.said.seq,
            created_at=change.said.at,
            updated_at=change.said.at,
            expires_at=expires_at,
        )
        self._why[id_] = ("changed", change.said.seq)

    def _expiry(self, change: _Change) -> datetime | None:
        return None if change.key.lifetime is None else change.said.at + change.key.lifetime

    def _retire(self) -> None:
        for key in self._keys.values():
            if key.kind != "list":
                continue
            values = [fact for fact in self._current.values() if fact.key == key.key]
            values.sort(key=lambda fact: (fact.updated_at, fact.evidence_seq, fact.item))
            for fact in values[: max(0, len(values) - key.max_items)]:
                id_ = (fact.key, fact.item)
                newest = max(value.evidence_seq for value in values)
                del self._current[id_]
                if id_ in self._stored:
                    self._why[id_] = ("retired", newest)
                else:
                    self._refused["over_cap"] += 1

    def _update(self, id_: _Id) -> FactUpdate | None:
        stored, new = self._stored.get(id_), self._current.get(id_)
        if new == stored or (new is None and (stored is None or expired(stored, self._now))):
            return None
        version = stored.version if stored else 0
        past = None
        if stored is not None and (new is None or not same(stored.value, new.value)):
            reason, evidence = self._why.get(id_, ("changed", 0))
            past = PastFact(stored, self._now, reason, evidence)
            if stored.expires_at is not None and expired(stored, self._now):
                past = PastFact(stored, stored.expires_at, "expired", 0)
        return FactUpdate(*id_, version, new and replace(new, version=version + 1), past, stored)
