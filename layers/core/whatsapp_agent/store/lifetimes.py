"""Until when an item is kept, and when it counts as gone. Whole seconds, as DynamoDB's time to live."""

from datetime import datetime, timedelta

from whatsapp_agent.clock import to_epoch
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Fact

TURN_LIFETIME = timedelta(days=30)
"""Longer than a queue can hold a message (14 days, in the inbound and again in the dead-letter queue) and
than the days over which providers retry a webhook."""


def turn_expiry(turn: Turn) -> int:
    """When a turn's item goes: at its own `expires_at`, else `TURN_LIFETIME` after it was made."""
    return to_epoch(turn.expires_at or turn.created_at + TURN_LIFETIME)


def retention_expiry(now: datetime, retention_days: int) -> int | None:
    """When something written now goes; None, never, where no retention is set (0)."""
    return to_epoch(now + timedelta(days=retention_days)) if retention_days > 0 else None


def fact_expiry(fact: Fact, now: datetime, retention_days: int) -> int | None:
    """The earlier of the fact's own end and the end of the retention."""
    ends = [retention_expiry(now, retention_days), to_epoch(fact.expires_at) if fact.expires_at else None]
    return min((end for end in ends if end is not None), default=None)


def gone(expires_at: int | None, now: datetime) -> bool:
    """Whether an item is past its end. DynamoDB deletes it later, up to days later."""
    return expires_at is not None and expires_at <= to_epoch(now)
