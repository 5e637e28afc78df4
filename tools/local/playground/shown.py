"""Records as the page shows them: plain JSON."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from whatsapp_agent.clock import to_iso
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.records import Fact, Message, PastFact, Summary, Usage
from whatsapp_agent.prices import ModelPrice


def usage_json(usage: Usage) -> dict[str, int]:
    return {"input": usage.input_tokens, "cached": usage.cached_tokens, "output": usage.output_tokens}


def message_json(message: Message, place: str, price: ModelPrice | None) -> dict[str, Any]:
    """`place`: `window` (the next prompt shows it), `pending` (no room there), `compacted`."""
    return {
        "seq": message.seq,
        "role": message.role,
        "kind": message.kind,
        "text": message.text,
        "sent_at": to_iso(message.sent_at),
        "received_at": to_iso(message.received_at),
        "event_id": message.event_id,
        "place": place,
        "prompt_chars": message.prompt_chars,
        "usage": usage_json(message.usage),
        "cost": price.dollars(message.usage) if price and message.usage.input_tokens else None,
    }


def fact_json(fact: Fact, keys: Mapping[str, FactKey]) -> dict[str, Any]:
    key = keys.get(fact.key)
    return {
        "key": fact.key,
        "item": fact.item,
        "value": fact.value,
        "description": key.description if key else "",
        "lifetime": key.lifetime.total_seconds() if key and key.lifetime else None,
        "confidence": fact.confidence,
        "source": fact.source,
        "evidence_seq": fact.evidence_seq,
        "created_at": to_iso(fact.created_at),
        "updated_at": to_iso(fact.updated_at),
        "expires_at": moment(fact.expires_at),
    }


def past_json(past: PastFact) -> dict[str, Any]:
    return {
        "key": past.fact.key,
        "item": past.fact.item,
        "value": past.fact.value,
        "evidence_seq": past.fact.evidence_seq,
        "created_at": to_iso(past.fact.created_at),
        "replaced_at": to_iso(past.replaced_at),
        "replaced_by_seq": past.evidence_seq,
        "reason": past.reason,
    }


def summary_json(summary: Summary) -> dict[str, Any]:
    return {
        "text": summary.text,
        "version": summary.version,
        "through_seq": summary.through_seq,
        "updated_at": moment(summary.updated_at),
    }


def turn_json(turn: Turn, steps: Mapping[str, str], price: ModelPrice | None) -> dict[str, Any]:
    """`steps`: when each step was taken, by its name."""
    return {
        "event_id": turn.event_id,
        "seq": turn.seq,
        "state": turn.state,
        "steps": dict(steps),
        "parts": len(turn.parts),
        "sent": turn.sent,
        "lead": turn.lead,
        "reason": turn.reason,
        "apologised": turn.apologised,
        "number": turn.number,
        "usage": usage_json(turn.usage),
        "cost": price.dollars(turn.usage) if price and turn.usage.input_tokens else None,
    }


def moment(value: datetime | None) -> str | None:
    return to_iso(value) if value else None
