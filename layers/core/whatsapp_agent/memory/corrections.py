"""What an operator writes about a person by hand: believed as it is, kept with its history."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from whatsapp_agent.errors import FactRefused
from whatsapp_agent.memory.likeness import item_id, same
from whatsapp_agent.memory.merge import NOTE, expired
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.memory.records import Fact, FactUpdate, PastFact
from whatsapp_agent.memory.refusals import reason_to_refuse

_NEVER = frozenset({"empty", "too_long", "card_number", "secret"})
"""What not even an operator can have kept. The other rules guess what a person meant; an operator knows."""


def set_by_operator(  # noqa: PLR0917 - the inputs of one decision
    facts: Sequence[Fact],
    fact_keys: Mapping[str, FactKey],
    conversation: str,
    key: str,
    value: str,
    now: datetime,
) -> tuple[FactUpdate, ...]:
    """The updates that make `value` true: confidence 1.0, source `operator`, no message as evidence.

    A `single` key gets the value instead of the one it has; a list gets it added, and its oldest retires where
    it is full. The same value in other words is confirmed, not added, and gets the operator's writing.

    Args:
        facts: What is on record about the person; expired facts count as absent.
        fact_keys: The agent's schema.
        conversation: Whom it is about.
        key: A key of the schema, or `note`.
        value: What is true.
        now: When it is written.

    Raises:
        FactRefused: The key is not in the schema (`unknown_key`), or the value is `empty`, `too_long`, a
            `card_number` or a `secret`.
    """
    kind = {NOTE: FactKey(NOTE, "", kind="list"), **fact_keys}.get(key)
    if kind is None:
        known = ", ".join(dict.fromkeys([*fact_keys, NOTE]))
        raise FactRefused(f"the agent has no such key; it has {known}", code="unknown_key")
    value = clean(value)
    if (reason := reason_to_refuse(value)) in _NEVER:
        raise FactRefused(f"this cannot be kept as a fact: {reason.replace('_', ' ')}", code=reason)
    current = [fact for fact in facts if fact.key == key and not expired(fact, now)]
    single = kind.kind == "single"
    known_fact = next((fact for fact in current if (single and not fact.item) or same(fact.value, value)), None)
    new = Fact(
        conversation=conversation,
        key=key,
        item="" if single else item_id(value),
        value=value,
        confidence=1.0,
        source="operator",
        evidence_seq=0,
        created_at=now,
        updated_at=now,
        version=1,
        expires_at=None if kind.lifetime is None else now + kind.lifetime,
    )
    if known_fact is None:
        others = sorted(current, key=lambda fact: (fact.updated_at, fact.evidence_seq, fact.item))
        too_many = others[: max(0, len(others) + 1 - kind.max_items)] if not single else []
        retired = (_gone(fact, now, "retired") for fact in too_many)
        return (FactUpdate(key, new.item, 0, new, None), *retired)
    heard_before = same(known_fact.value, value)
    new = replace(
        new,
        item=known_fact.item,
        version=known_fact.version + 1,
        created_at=known_fact.created_at if heard_before else now,
    )
    past = None if heard_before else PastFact(known_fact, now, "operator", 0)
    return (FactUpdate(key, new.item, known_fact.version, new, past, known_fact),)


def remove_by_operator(
    facts: Sequence[Fact], key: str, now: datetime, value: str = ""
) -> tuple[FactUpdate, ...]:
    """The updates that take a fact away; of a list the one with `value`, or all where none is given.

    Raises:
        FactRefused: Nothing on record is meant (`not_on_record`).
    """
    meant = [
        fact
        for fact in facts
        if fact.key == key
        and not expired(fact, now)
        and (not value or same(fact.value, value) or (fact.item and fact.item == value))
    ]
    if not meant:
        raise FactRefused("no such fact is on record", code="not_on_record")
    return tuple(_gone(fact, now, "operator") for fact in meant)


def _gone(fact: Fact, now: datetime, reason: str) -> FactUpdate:
    past = PastFact(fact, now, "retired" if reason == "retired" else "operator", 0)
    return FactUpdate(fact.key, fact.item, fact.version, None, past, fact)
