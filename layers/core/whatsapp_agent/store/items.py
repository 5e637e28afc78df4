"""Turns, messages and summaries as items, and back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from whatsapp_agent.clock import from_epoch, from_iso, to_iso
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.memory.records import Message, Summary, Usage
from whatsapp_agent.store.lifetimes import turn_expiry
from whatsapp_agent.store.wire import Item

MAX_TEXT_BYTES = 300_000
"""A longer text is cut: DynamoDB's items end at 400 kB, the other attributes included."""

CUT_MARK = " […]"


def bounded(text: str) -> str:
    """The text, cut with a mark where it is too long for one item; lone surrogates, which UTF-8 does not
    know, replaced.
    """
    encoded = text.encode("utf-8", "replace")
    if len(encoded) <= MAX_TEXT_BYTES:
        return encoded.decode("utf-8")
    return encoded[:MAX_TEXT_BYTES].decode("utf-8", "ignore") + CUT_MARK


def message_key(conversation: str, seq: int) -> Item:
    """Key of a message."""
    return {"conversation": conversation, "seq": seq}


def message_item(message: Message, expires_at: int | None) -> Item:
    """A message as it is stored; defaults are left out, so that most messages take one unit to write."""
    return {
        **message_key(message.conversation, message.seq),
        "role": message.role,
        "text": bounded(message.text),
        "kind": message.kind,
        "sent_at": to_iso(message.sent_at),
        "received_at": to_iso(message.received_at),
        "event_id": message.event_id,
        "number": message.number,
        "prompt_chars": message.prompt_chars or None,
        "usage": _usage_item(message.usage),
        "message_id": message.message_id,
        "quote": message.quote,
        "spent": _spent_item(message.spent),
        "expires_at": expires_at,
    }


def message_from(item: Item) -> Message:
    """The message of an item."""
    return Message(
        conversation=item["conversation"],
        seq=int(item["seq"]),
        role=item["role"],
        text=item.get("text", ""),
        kind=item.get("kind", ""),
        sent_at=from_iso(item["sent_at"]),
        received_at=from_iso(item["received_at"]),
        event_id=item.get("event_id", ""),
        number=item.get("number", ""),
        prompt_chars=int(item.get("prompt_chars", 0)),
        usage=_usage_from(item),
        message_id=item.get("message_id", ""),
        quote=item.get("quote", ""),
        spent=_spent_from(item.get("spent")),
    )


def turn_key(conversation: str, event_id: str) -> Item:
    """Key of a turn."""
    return {"conversation": conversation, "event_id": event_id}


def turn_item(turn: Turn) -> Item:
    """A turn as it is stored."""
    return {
        **turn_key(turn.conversation, turn.event_id),
        "state": turn.state,
        "seq": turn.seq,
        "number": turn.number,
        "address": turn.address,
        "created_at": to_iso(turn.created_at),
        "reply_seq": turn.reply_seq or None,
        "parts": turn.parts,
        "sent": turn.sent,
        "provider_ids": turn.provider_ids,
        "lead": turn.lead,
        "reason": turn.reason,
        "apologised": turn.apologised or None,
        "usage": _usage_item(turn.usage),
        "expires_at": turn_expiry(turn),
    }


def turn_from(item: Item) -> Turn:
    """The turn of an item."""
    return Turn(
        conversation=item["conversation"],
        event_id=item["event_id"],
        state=item["state"],
        seq=int(item["seq"]),
        number=item.get("number", ""),
        address=item.get("address", ""),
        created_at=from_iso(item["created_at"]),
        reply_seq=int(item.get("reply_seq", 0)),
        parts=tuple(item.get("parts", ())),
        sent=int(item.get("sent", 0)),
        provider_ids=tuple(item.get("provider_ids", ())),
        lead=item.get("lead", ""),
        reason=item.get("reason", ""),
        apologised=bool(item.get("apologised", False)),
        usage=_usage_from(item),
        expires_at=from_epoch(int(item["expires_at"])),
    )


def summary_key(conversation: str) -> Item:
    """Key of a summary."""
    return {"conversation": conversation}


def summary_changes(summary: Summary, expires_at: int | None) -> Item:
    """The attributes that a compaction writes: all but the conversation's state."""
    return {
        "text": bounded(summary.text),
        "through_seq": summary.through_seq,
        "version": summary.version,
        "updated_at": _moment(summary.updated_at),
        "expires_at": expires_at,
    }


def state_changes(opted_out_at: datetime | None, paused_until: datetime | None) -> Item:
    """The attributes of the conversation's state."""
    return {"opted_out_at": _moment(opted_out_at), "paused_until": _moment(paused_until)}


def summary_from(item: Item) -> Summary:
    """The summary of an item, which may hold state only."""
    return Summary(
        conversation=item["conversation"],
        text=item.get("text", ""),
        through_seq=int(item.get("through_seq", 0)),
        version=int(item.get("version", 0)),
        updated_at=_moment_from(item, "updated_at"),
        opted_out_at=_moment_from(item, "opted_out_at"),
        paused_until=_moment_from(item, "paused_until"),
        active_at=_moment_from(item, "active_at"),
    )


def expiry_of(item: Mapping[str, Any]) -> int | None:
    """When the item goes; None for never."""
    return int(item["expires_at"]) if "expires_at" in item else None


def _usage_item(usage: Usage) -> Item | None:
    if usage == Usage():
        return None
    return {"input": usage.input_tokens, "cached": usage.cached_tokens, "output": usage.output_tokens}


def _usage_from(item: Item) -> Usage:
    stored = item.get("usage", {})
    return Usage(*(int(stored.get(name, 0)) for name in ("input", "cached", "output")))


def _spent_item(spent: Spent) -> Item | None:
    if spent.since is None:
        return None
    return {
        "since": to_iso(spent.since),
        "turns": spent.turns or None,
        "characters": spent.characters or None,
        "media": spent.media or None,
        "noticed": spent.noticed or None,
        "over": spent.over,
        "minute": _moment(spent.minute),
        "replies": spent.replies or None,
    }


def _spent_from(stored: Any) -> Spent:
    """The account of a message. One that cannot be read counts as nothing spent: nobody is silenced by it."""
    try:
        return Spent(
            since=from_iso(stored["since"]),
            turns=int(stored.get("turns", 0)),
            characters=int(stored.get("characters", 0)),
            media=int(stored.get("media", 0)),
            noticed=bool(stored.get("noticed", False)),
            over=str(stored.get("over", "")),
            minute=_moment_from(stored, "minute"),
            replies=int(stored.get("replies", 0)),
        )
    except (AttributeError, KeyError, TypeError, ValueError):
        return Spent()


def _moment(moment: datetime | None) -> str | None:
    return to_iso(moment) if moment else None


def _moment_from(item: Item, name: str) -> datetime | None:
    return from_iso(item[name]) if name in item else None
