"""Turns, messages and summaries as items, and back."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
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

_SAME = "="
"""Stands for a `message_id` that is the event's id, too: Meta has one id for both."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


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
    """A message as it is stored. What most messages have in common is left out: every turn reads some forty of
    them, and what surrounds the words would cost more than they do.
    """
    return {
        **message_key(message.conversation, message.seq),
        "role": message.role,
        "text": bounded(message.text),
        "kind": message.kind if message.kind != "text" else None,
        "sent_at": to_iso(message.sent_at),
        "received_at": to_iso(message.received_at) if message.received_at != message.sent_at else None,
        "event_id": message.event_id,
        "number": message.number,
        "prompt_chars": message.prompt_chars or None,
        "usage": _usage_item(message.usage),
        "message_id": _SAME if message.message_id == message.event_id != "" else message.message_id,
        "quote": message.quote,
        "spent": _spent_item(message.spent),
        "expires_at": expires_at,
    }


def message_from(item: Item) -> Message:
    """The message of an item."""
    event_id, message_id = item.get("event_id", ""), item.get("message_id", "")
    return Message(
        conversation=item["conversation"],
        seq=int(item["seq"]),
        role=item["role"],
        text=item.get("text", ""),
        kind=item.get("kind", "text"),
        sent_at=from_iso(item["sent_at"]),
        received_at=from_iso(item.get("received_at") or item["sent_at"]),
        event_id=event_id,
        number=item.get("number", ""),
        prompt_chars=int(item.get("prompt_chars", 0)),
        usage=_usage_from(item),
        message_id=event_id if message_id == _SAME else message_id,
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


def _spent_item(spent: Spent) -> list[Any] | None:
    """By place, not by name: it is on every message, and the names would take more room than the numbers."""
    if spent.since is None:
        return None
    counts = [spent.turns, spent.characters, spent.media, int(spent.noticed)]
    return [_milliseconds(spent.since), *counts, spent.over, _milliseconds(spent.minute), spent.replies]


def _spent_from(stored: Any) -> Spent:
    """The account of a message. One that cannot be read counts as nothing spent: nobody is silenced by it."""
    try:
        since, turns, characters, media, noticed, over, minute, replies = stored
        return Spent(
            since=_from_milliseconds(since),
            turns=int(turns),
            characters=int(characters),
            media=int(media),
            noticed=bool(noticed),
            over=str(over),
            minute=_from_milliseconds(minute) if minute else None,
            replies=int(replies),
        )
    except (ArithmeticError, TypeError, ValueError):
        return Spent()


def _milliseconds(moment: datetime | None) -> int:
    return (moment - _EPOCH) // timedelta(milliseconds=1) if moment else 0


def _from_milliseconds(number: Any) -> datetime:
    return _EPOCH + timedelta(milliseconds=int(number))


def _moment(moment: datetime | None) -> str | None:
    return to_iso(moment) if moment else None


def _moment_from(item: Item, name: str) -> datetime | None:
    return from_iso(item[name]) if name in item else None
