"""What the person's phone shows: what they wrote with its ticks, and what has reached them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from whatsapp_agent.clock import from_iso, to_iso
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Message

_TICK = {"claimed": "remembered", "silent": "remembered", "replied": "answered"}
"""How far a message is, by its turn's state; other states are shown by their own names."""


@dataclass(frozen=True, slots=True)
class Bubble:
    """One bubble.

    Attributes:
        side: `me` for the person, `agent`, or `owner`.
        at: When it was said, as the phone shows it: travelling in time makes it older.
        order: Milliseconds of real time, by which bubbles are ordered.
        state: `sending`, `lost`, `queued`, `remembered`, `answered`, `sent`, or how a turn ended otherwise.
        seq: Place of the remembered message; 0 where there is none yet.
    """

    key: str
    side: str
    text: str
    kind: str
    at: str
    order: int
    state: str = ""
    seq: int = 0

    def as_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def milliseconds(iso: str) -> int:
    return int(from_iso(iso).timestamp() * 1000)


def of_stored(message: Message) -> Bubble:
    """A message that is known from the database only."""
    return Bubble(
        key=message.event_id if message.role == "user" else f"{message.event_id}/{message.seq}",
        side={"user": "me", "owner": "owner"}.get(message.role, "agent"),
        text=message.text,
        kind=message.kind,
        at=to_iso(message.sent_at),
        order=milliseconds(to_iso(message.received_at)),
        state="remembered" if message.role == "user" else "",
        seq=message.seq,
    )


def of_received(sent: Mapping[str, Any], stored: Message | None) -> Bubble:
    """A message that the provider took for the person, and the remembered one that it is a part of."""
    at = from_iso(str(sent["at"]))
    return Bubble(
        key=str(sent["id"]),
        side="agent",
        text=str(sent["text"]),
        kind="text",
        at=to_iso(stored.sent_at if stored else at),
        order=int(at.timestamp() * 1000),
        seq=stored.seq if stored else 0,
    )


def older(bubble: Mapping[str, Any], days: int) -> dict[str, Any]:
    """A shown bubble, said so many days earlier."""
    return {**bubble, "at": to_iso(from_iso(str(bubble["at"])) - timedelta(days=days))}


def ticked(bubble: Bubble, turn: Turn, turns: Mapping[str, Turn]) -> Bubble:
    """The person's bubble with the state that its turn has reached; a covered one follows its lead."""
    lead = turns.get(turn.lead, turn) if turn.state == "covered" else turn
    return replace(bubble, state=_TICK.get(lead.state, lead.state), seq=turn.seq or bubble.seq)


def answered_by(turns: Iterable[Turn]) -> dict[str, Turn]:
    """The turn of each sent part, by the provider's id."""
    return {provider_id: turn for turn in turns for provider_id in turn.provider_ids}
