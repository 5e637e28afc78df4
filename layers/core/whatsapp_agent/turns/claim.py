"""The first write of a turn: the event is remembered, exactly once, at the next place."""

from dataclasses import dataclass
from datetime import datetime

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import SeqTaken
from whatsapp_agent.events import InboundMessage
from whatsapp_agent.ledger import Turn, TurnState
from whatsapp_agent.memory.allowance import Spent
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.memory.records import Message, Role
from whatsapp_agent.ports.store import ConversationStore, Ledger
from whatsapp_agent.turns.context import Context, ContextReader

ATTEMPTS = 3
"""How often a place that somebody else took meanwhile is tried again before the queue's retry."""

NOT_REMEMBERED = frozenset({"reaction", "deleted"})
"""Kinds that are no talk: the ledger knows them, the conversation does not."""

SILENCE = "silence"
"""The kind of a voice message in which nobody speaks: remembered as that, and not answered by the model."""

NOT_ANSWERED = NOT_REMEMBERED | {"edited", SILENCE}
"""Kinds that nobody waits for an answer to."""

_REVISES = frozenset({"edited", "deleted"})


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claimed event: the context with its message in it, and its turn as the ledger has it."""

    context: Context
    turn: Turn
    new: bool


class Claimer:
    """Claims events one by one."""

    def __init__(
        self, ledger: Ledger, conversations: ConversationStore, reader: ContextReader, now: Clock
    ) -> None:
        self._ledger = ledger
        self._conversations = conversations
        self._reader = reader
        self.now = now

    def claim(
        self,
        context: Context,
        event: InboundMessage,
        *,
        spent: Spent = Spent(),  # noqa: B008 - frozen
        quote: str = "",
        role: Role = "user",
    ) -> Claimed:
        """Writes the turn and the message, or finds the turn that an earlier delivery wrote.

        An edit and a deletion change the message that they are about, where it is still remembered as it
        was said; a second delivery of them changes nothing.

        Raises:
            SeqTaken: The place was taken again and again; the queue's retry will find it free.
        """
        for attempt in range(ATTEMPTS):
            try:
                return self._claim_once(context, event, spent, quote, role)
            except SeqTaken:
                if attempt == ATTEMPTS - 1:
                    raise
                context = self._reader.read(context.conversation)
        raise AssertionError("the loop returns or raises")

    def _claim_once(
        self, context: Context, event: InboundMessage, spent: Spent, quote: str, role: Role
    ) -> Claimed:
        corrected = self._revise(context, event, role)
        wordless = event.kind == "edited" and not clean(event.text)
        remembered = corrected is None and event.kind not in NOT_REMEMBERED and not wordless
        message = _message(context, event, spent, quote, role) if remembered else None
        turn = _turn(context, event, message, self.now())
        existing = self._ledger.claim(turn, message)
        context = corrected or context
        if existing is not None:
            return Claimed(context, existing, new=False)
        return Claimed(context.with_message(message) if message else context, turn, new=True)

    def _revise(self, context: Context, event: InboundMessage, role: Role) -> Context | None:
        """The context with the corrected message; None where there is nothing to correct.

        The correction comes before the claim: after a crash between the two it is done again. An event that
        was claimed before is not, because a later edit may have followed.
        """
        target = context.message_named(event.target_id) if event.kind in _REVISES else None
        if target is None or target.role != role:
            return None
        if self._ledger.turn(context.conversation, event.event_id) is not None:
            return context
        if event.kind == "edited" and not clean(event.text):
            # In a form that is not known, or of a caption: it costs no words of the message that it is about.
            return context
        # What it was edited to is what it says from now on, in the way in which it was said.
        deleted = event.kind == "deleted"
        text, kind = ("", "deleted") if deleted else (event.text, target.kind)
        if target.kind == "deleted" or not self._conversations.revise(target, text=text, kind=kind):
            return context
        return context.revised(target.seq, text, kind)


def _message(context: Context, event: InboundMessage, spent: Spent, quote: str, role: Role) -> Message:
    return Message(
        conversation=context.conversation,
        seq=context.last_seq + 1,
        role=role,
        text=event.text,
        kind=event.kind,
        sent_at=event.sent_at,
        received_at=event.received_at,
        event_id=event.event_id,
        number=event.number,
        message_id=event.message_id,
        quote=quote,
        spent=spent,
    )


def _turn(context: Context, event: InboundMessage, message: Message | None, now: datetime) -> Turn:
    state: TurnState = "claimed"
    reason = ""
    if message is None or message.role != "user" or event.kind in NOT_ANSWERED:
        state = "silent"
    elif message.spent.over:
        state, reason = "suppressed", f"limit_{message.spent.over}"
    return Turn(
        conversation=context.conversation,
        event_id=event.event_id,
        state=state,
        seq=message.seq if message else 0,
        number=event.number,
        address=event.address,
        created_at=now,
        reason=reason,
    )
