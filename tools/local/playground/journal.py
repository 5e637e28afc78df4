"""What the page has seen of one person: also what the database holds no longer, until they are erased.

A compaction deletes messages, and a turn knows when it was claimed but not when each step was taken. The page
watches and writes both down, in this process only.
"""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from tools.local.playground.bubbles import Bubble
from tools.local.playground.prompts import Asked
from whatsapp_agent.clock import to_iso
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Message, Summary

MOST_CALLS = 40
"""So many of the newest calls of the model are shown."""
ON_THE_WAY = frozenset({"sending", "lost", "queued"})
"""States of a bubble whose message no turn is known of yet."""


@dataclass
class Journal:
    """One person's talk as it was seen."""

    messages: dict[int, Message] = field(default_factory=dict)
    turns: dict[str, Turn] = field(default_factory=dict)
    steps: dict[str, dict[str, str]] = field(default_factory=dict)
    summaries: dict[int, Summary] = field(default_factory=dict)
    written: dict[str, Bubble] = field(default_factory=dict)
    received: list[dict[str, Any]] = field(default_factory=list)
    calls: dict[int, Asked] = field(default_factory=dict)
    asked: dict[str, set[int]] = field(default_factory=dict)
    dropped: list[int] = field(default_factory=list)
    texts: set[str] = field(default_factory=set)
    instructions_chars: int = 0

    @property
    def last_seq(self) -> int:
        return max(self.messages, default=0)

    def keep(self, messages: list[Message]) -> list[Message]:
        """Adds messages; returns those that are new or have changed."""
        fresh = [message for message in messages if self.messages.get(message.seq) != message]
        for message in fresh:
            self.messages[message.seq] = message
            self.texts.add(message.text)
            self.texts.add(" ".join(message.text.split()))
        return fresh

    def take_turn(self, turn: Turn) -> None:
        """Adds a turn as it stands, and the moment where its state was not seen before."""
        steps = self.steps.setdefault(turn.event_id, {})
        steps["claimed"] = to_iso(turn.created_at)
        if message := self.messages.get(turn.seq):
            steps["queued"] = to_iso(message.received_at)
        if turn.apologised:
            steps.setdefault("apologised", _now())
        reply = self.messages.get(turn.reply_seq)
        if reply is not None and turn.state in ("replied", "sent", "undelivered"):
            steps["replied"] = to_iso(reply.received_at)
        arrived = (
            {str(sent["id"]): str(sent["at"]) for sent in self.received[-50:]} if turn.provider_ids else {}
        )
        if turn.state == "sent" and turn.provider_ids and turn.provider_ids[-1] in arrived:
            steps["sent"] = arrived[turn.provider_ids[-1]]
        elif turn.state not in ("claimed", "replied"):
            steps.setdefault(turn.state, _now())
        self.turns[turn.event_id] = turn

    def take_call(self, asked: Asked) -> list[str]:
        """Adds a call of the model; returns the events whose messages it answers."""
        self.calls[asked.number] = asked
        self.dropped = sorted(self.calls)[:-MOST_CALLS]
        for number in self.dropped:
            del self.calls[number]
        if asked.purpose == "memory":
            return []
        self.instructions_chars = len(asked.parts[0].text)
        new = [part.text for part in asked.parts if part.kind == "new"]
        newest = sorted(self.messages)[-40:]
        answered = [
            message.event_id
            for seq in newest
            if (message := self.messages[seq]).role == "user"
            and to_iso(message.received_at) <= asked.at
            and message.text
            and any(text.endswith(message.text) for text in new)
        ]
        for event_id in answered:
            self.steps.setdefault(event_id, {}).setdefault("asked", asked.at)
            if asked.usage["input"]:
                self.asked.setdefault(event_id, set()).add(asked.number)
        return answered

    def call_before(self, asked: Asked) -> Asked | None:
        """The call of the same purpose that came before."""
        earlier = [
            number
            for number, call in self.calls.items()
            if number < asked.number and call.purpose == asked.purpose
        ]
        return self.calls[max(earlier)] if earlier else None

    def unsettled(self) -> list[str]:
        """Events whose turns may still move."""
        moving = [event for event, turn in self.turns.items() if turn.open]
        moving += [
            event
            for event, bubble in self.written.items()
            if event not in self.turns and bubble.state in ON_THE_WAY
        ]
        return moving[-60:]


def _now() -> str:
    return to_iso(datetime.now(UTC))
