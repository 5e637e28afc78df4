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
        at: The phone's time, which may be ahead of the real one.
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


def of_received(sent: Mapping[str, Any], ahead: timedelta, seq: int) -> Bubble:
    """A message that the provider took for the person; `ahead` is how far the phone's clock is."""
    at = from_iso(str(sent["at"]))
    return Bubble(
        key=str(sent["id"]),
        side="agent",
        text=str(sent["text"]),
        kind="text",
        at=to_iso(at + ahead),
        order=int(at.timestamp() * 1000),
        seq=seq,
    )


def ticked(bubble: Bubble, turn: Turn, turns: Mapping[str, Turn]) -> Bubble:
    """The person's bubble with the state that its turn has reached; a covered one follows its lead."""
    lead = turns.get(turn.lead, turn) if turn.state == "covered" else turn
    return replace(bubble, state=_TICK.get(lead.state, lead.state), seq=turn.seq or bubble.seq)


def answered_by(turns: Iterable[Turn]) -> dict[str, Turn]:
    """The turn of each sent part, by the provider's id."""
    return {provider_id: turn for turn in turns for provider_id in turn.provider_ids}
