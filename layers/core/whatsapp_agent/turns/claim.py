"""The first write of a turn: the event is remembered, exactly once, at the next place."""

from dataclasses import dataclass
from datetime import datetime

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import SeqTaken
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Message
from whatsapp_agent.ports import Ledger
from whatsapp_agent.turns.context import Context, ContextReader

ATTEMPTS = 3
"""How often a place that somebody else took meanwhile is tried again before the queue's retry."""

NOT_REMEMBERED = frozenset({"reaction", "deleted"})
"""Kinds that are no talk: the ledger knows them, the conversation does not."""

NOT_ANSWERED = NOT_REMEMBERED | {"edited"}
"""Kinds that nobody waits for an answer to."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed event: the context with its message in it, and its turn as the ledger has it."""

    context: Context
    turn: Turn
    new: bool


class Claimer:
    """Claims events one by one."""

    def __init__(self, ledger: Ledger, reader: ContextReader, now: Clock) -> None:
        self._ledger = ledger
        self._reader = reader
        self.now = now

    def claim(self, context: Context, event: InboundMessage) -> Claimed:
        """Writes the turn and the message, or finds the turn that an earlier delivery wrote.

        Raises:
            SeqTaken: The place was taken again and again; the queue's retry will find it free.
        """
        for _ in range(ATTEMPTS - 1):
            try:
                return self._claim_once(context, event)
            except SeqTaken:
                context = self._reader.read(context.conversation)
        return self._claim_once(context, event)

    def _claim_once(self, context: Context, event: InboundMessage) -> Claimed:
        message = _message(context, event) if event.kind not in NOT_REMEMBERED else None
        turn = _turn(context, event, self.now())
        existing = self._ledger.claim(turn, message)
        if existing is not None:
            return Claimed(context, existing, new=False)
        return Claimed(context.with_message(message) if message else context, turn, new=True)


def _message(context: Context, event: InboundMessage) -> Message:
    return Message(
        conversation=context.conversation,
        seq=context.last_seq + 1,
        role="user",
        text=event.text,
        kind=event.kind,
        sent_at=event.sent_at,
        received_at=event.received_at,
        event_id=event.event_id,
        number=event.number,
    )


def _turn(context: Context, event: InboundMessage, now: datetime) -> Turn:
    return Turn(
        conversation=context.conversation,
        event_id=event.event_id,
        state="silent" if event.kind in NOT_ANSWERED else "claimed",
        seq=context.last_seq + 1 if event.kind not in NOT_REMEMBERED else 0,
        number=event.number,
        address=event.address,
        created_at=now,
    )
