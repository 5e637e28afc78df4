"""Facts and their history as items, and back.

Sort keys: `fact#<key>` or `fact#<key>#<item>` for what holds now, and
`history#<key>#<item>#<when it went>#<version>` for what held before. Current facts lie together, so that
reading them costs the same however long the history is.
"""

from decimal import Decimal

from whatsapp_agent.clock import from_iso, to_iso
from whatsapp_agent.memory.records import Fact, PastFact
from whatsapp_agent.store.wire import Item

CURRENT = "fact#"
HISTORY = "history#"

_CURRENT_KEY_PARTS = 3


def fact_key(conversation: str, key: str, item: str) -> Item:
    """Key of a current fact.

    Raises:
        ValueError: The fact's key is empty or holds `#`, which separates the parts of the sort key.
    """
    if not key or "#" in key:
        raise ValueError("the key of a fact is not empty and has no # in it")
    return {"conversation": conversation, "key": f"{CURRENT}{key}#{item}" if item else f"{CURRENT}{key}"}


def history_prefix(key: str) -> str:
    """What the sort keys of the history of one key, or of all keys where empty, begin with."""
    return f"{HISTORY}{key}#" if key else HISTORY


def fact_item(fact: Fact, expires_at: int | None) -> Item:
    """A current fact as it is stored. `valid_until` is the fact's own end, `expires_at` the item's."""
    return {
        **fact_key(fact.conversation, fact.key, fact.item),
        **_values(fact),
        "expires_at": expires_at,
    }


def fact_from(item: Item) -> Fact:
    """The fact of an item."""
    parts = item["key"].split("#", _CURRENT_KEY_PARTS - 1)
    return _fact(item, key=parts[1], item_id=parts[2] if len(parts) == _CURRENT_KEY_PARTS else "")


def past_item(past: PastFact, expires_at: int | None) -> Item:
    """A former value as it is stored."""
    fact = past.fact
    prefix = history_prefix(fact_key(fact.conversation, fact.key, "")["key"].removeprefix(CURRENT))
    return {
        "conversation": fact.conversation,
        "key": f"{prefix}{fact.item}#{to_iso(past.replaced_at)}#{fact.version}",
        **_values(fact),
        "reason": past.reason,
        "replaced_by_seq": past.evidence_seq,
        "expires_at": expires_at,
    }


def announced_end(fact: Fact) -> PastFact | None:
    """The history's note that the fact expired, which is written together with the fact; None for a fact
    without an end. A read passes over it until then.
    """
    return None if fact.expires_at is None else PastFact(fact, fact.expires_at, "expired", 0)


def past_from(item: Item) -> PastFact:
    """The former value of an item."""
    _, key, rest = item["key"].split("#", 2)
    item_id, replaced_at, _ = rest.rsplit("#", 2)
    return PastFact(
        fact=_fact(item, key=key, item_id=item_id),
        replaced_at=from_iso(replaced_at),
        reason=item["reason"],
        evidence_seq=int(item.get("replaced_by_seq", 0)),
    )


def _values(fact: Fact) -> Item:
    return {
        "value": fact.value,
        "confidence": fact.confidence,
        "source": fact.source,
        "evidence_seq": fact.evidence_seq,
        "created_at": to_iso(fact.created_at),
        "updated_at": to_iso(fact.updated_at),
        "version": fact.version,
        "valid_until": to_iso(fact.expires_at) if fact.expires_at else None,
    }


def _fact(item: Item, *, key: str, item_id: str) -> Fact:
    return Fact(
        conversation=item["conversation"],
        key=key,
        item=item_id,
        value=item.get("value", ""),
        # Left out when it was no number: then nothing is known about it.
        confidence=float(item.get("confidence", Decimal(0))),
        source=item["source"],
        evidence_seq=int(item.get("evidence_seq", 0)),
        created_at=from_iso(item["created_at"]),
        updated_at=from_iso(item["updated_at"]),
        version=int(item["version"]),
        expires_at=from_iso(item["valid_until"]) if "valid_until" in item else None,
    )
