"""The turn ledger on DynamoDB. Every write is conditional: the table is the judge of who came first."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from whatsapp_agent.clock import Clock, to_epoch
from whatsapp_agent.errors import SeqTaken, StoreUnavailable, TurnMoved
from whatsapp_agent.ledger import Turn, TurnState
from whatsapp_agent.memory.records import Message
from whatsapp_agent.store import actions
from whatsapp_agent.store.conditions import ALIVE, EXISTS, FREE
from whatsapp_agent.store.database import MAX_ACTIONS, Database
from whatsapp_agent.store.errors import ConditionRefused, Refusal
from whatsapp_agent.store.items import (
    expiry_of,
    message_item,
    turn_from,
    turn_item,
    turn_key,
)
from whatsapp_agent.store.lifetimes import gone, retention_expiry
from whatsapp_agent.store.wire import Item, from_wire

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

MAX_COVERED = MAX_ACTIONS - 2
"""Further turns that one reply can cover: a transaction also holds the reply and its own turn."""

# The edges of the state machine in `whatsapp_agent.ledger`, as conditions on the stored turn:
#
#   (absent) ──claim── FREE                        nothing under the event, or only an expired turn
#   claimed | failed ──commit── WAITS_FOR_REPLY    also for each covered turn
#   replied ──mark_sent── WAITS_AT_PART            with exactly the parts sent that the caller saw
#   any ──close── STILL_IN_STATE                   the state that the caller saw
#   any ──apologise── NOT_APOLOGISED               the state does not matter
WAITS_FOR_REPLY = f"#state IN (:claimed, :failed) AND {ALIVE}"
WAITS_AT_PART = f"#state = :replied AND #sent = :sent AND {ALIVE}"
STILL_IN_STATE = f"#state = :state AND {ALIVE}"
NOT_APOLOGISED = f"attribute_not_exists(#apologised) AND {EXISTS}"

# What a reply changes of its turn. Not `apologised`, which is written while the model is being asked.
_WRITTEN_BY_COMMIT = (
    "state",
    "number",
    "address",
    "reply_seq",
    "parts",
    "sent",
    "provider_ids",
    "lead",
    "reason",
    "usage",
)


class DynamoLedger:
    """Implements `ports.Ledger`.

    Units of a turn with one part and items under 1 kB: 4 to claim, 4 to commit, 1 to mark sent.
    """

    def __init__(
        self,
        client: "DynamoDBClient",
        *,
        turns: str,
        messages: str,
        now: Clock,
        retention_days: int,
        database: Database | None = None,
    ) -> None:
        self._db = database or Database(client)
        self._turns = turns
        self._messages = messages
        self._now = now
        self._retention_days = retention_days

    def claim(self, turn: Turn, message: Message | None) -> Turn | None:
        """See `ports.Ledger.claim`."""
        put_turn = actions.put(self._turns, turn_item(turn), FREE, self._values())
        try:
            if message is None:
                self._db.write(put_turn)
            else:
                self._db.transact([put_turn, self._put_message(message)])
        except ConditionRefused as refused:
            if refused.refusals[0] is None:
                raise SeqTaken("another message stands at the place of the new one: read again") from refused
            return self._stored(refused.refusals[0], turn)
        return None

    def commit(self, reply: Message, turn: Turn, covered: Sequence[str]) -> None:
        """See `ports.Ledger.commit`.

        Raises:
            ValueError: More than `MAX_COVERED` turns are to be covered.
        """
        others = [event_id for event_id in dict.fromkeys(covered) if event_id != turn.event_id]
        if len(others) > MAX_COVERED:
            raise ValueError(f"a reply covers at most {MAX_COVERED} further turns, not {len(others)}")
        written = turn_item(turn)
        changes = {name: written[name] for name in _WRITTEN_BY_COMMIT}
        if turn.apologised:
            changes["apologised"] = True
        try:
            self._db.transact(
                [
                    self._put_message(reply),
                    self._update(turn.conversation, turn.event_id, changes, WAITS_FOR_REPLY),
                    *(
                        self._update(
                            turn.conversation,
                            event_id,
                            {"state": "covered", "lead": turn.event_id},
                            WAITS_FOR_REPLY,
                        )
                        for event_id in others
                    ),
                ]
            )
        except ConditionRefused as refused:
            # A reply that was written before fails on its place as well; that its turn has moved says more.
            if any(refused.refusals[1:]):
                raise TurnMoved("a turn no longer waits for a reply, or is gone") from refused
            raise SeqTaken("another message stands at the place of the reply: read again") from refused

    def mark_sent(self, turn: Turn, provider_id: str) -> Turn:
        """See `ports.Ledger.mark_sent`. Marking the same part with the same id again changes nothing: it
        is what the SDK does when the answer to its first try was lost.
        """
        sent = turn.sent + 1
        marked = replace(
            turn,
            sent=sent,
            state="sent" if sent >= len(turn.parts) else "replied",
            provider_ids=(*turn.provider_ids, provider_id),
        )
        changes = {"sent": sent, "state": marked.state, "provider_ids": marked.provider_ids}
        try:
            self._db.write(
                self._update(turn.conversation, turn.event_id, changes, WAITS_AT_PART, sent=turn.sent)
            )
        except ConditionRefused as refused:
            stored = self._alive(_old(refused.refusals[0]))
            if stored and (stored.sent, stored.provider_ids) == (sent, marked.provider_ids):
                return marked
            raise TurnMoved("the turn is not at the part that was sent") from refused
        return marked

    def close(self, turn: Turn, state: TurnState, reason: str) -> Turn:
        """See `ports.Ledger.close`."""
        changes = {"state": state, "reason": reason}
        try:
            self._db.write(
                self._update(turn.conversation, turn.event_id, changes, STILL_IN_STATE, state=turn.state)
            )
        except ConditionRefused as refused:
            raise TurnMoved("the turn is no longer in the state that was read") from refused
        return replace(turn, state=state, reason=reason)

    def apologise(self, turn: Turn) -> Turn | None:
        """See `ports.Ledger.apologise`."""
        try:
            self._db.write(self._update(turn.conversation, turn.event_id, {"apologised": True}, NOT_APOLOGISED))
        except ConditionRefused as refused:
            if self._alive(_old(refused.refusals[0])) is None:
                raise TurnMoved("the turn is gone") from refused
            return None
        return replace(turn, apologised=True)

    def turn(self, conversation: str, event_id: str) -> Turn | None:
        """See `ports.Ledger.turn`."""
        return self._alive(self._db.get(self._turns, turn_key(conversation, event_id)))

    def turns_of(self, conversation: str, event_ids: Sequence[str]) -> list[Turn]:
        """See `ports.Ledger.turns_of`. One call; 1 unit per turn under 4 kB."""
        keys = [turn_key(conversation, event_id) for event_id in dict.fromkeys(event_ids)]
        items = self._db.get_many(self._turns, keys, consistent=True) if keys else []
        return [turn for item in items if (turn := self._alive(item)) is not None]

    def find_by_provider_id(self, conversation: str, provider_id: str) -> Turn | None:
        """See `ports.Ledger.find_by_provider_id`.

        Reads every turn that the conversation still has (`TURN_LIFETIME`): only for the rare event that
        the provider reports a failure.
        """
        if not provider_id:
            return None
        pages = self._db.pages(
            self._turns,
            "#conversation = :conversation",
            {"conversation": conversation, "provider_id": provider_id},
            consistent=False,
            where="contains(#provider_ids, :provider_id)",
        )
        found = [turn for page in pages for item in page if (turn := self._alive(item))]
        return max(found, key=lambda turn: (turn.created_at, turn.seq), default=None)

    def turns(self, conversation: str) -> list[Turn]:
        """See `ports.Ledger.turns`. Eventually consistent."""
        pages = self._db.pages(
            self._turns, "#conversation = :conversation", {"conversation": conversation}, consistent=False
        )
        found = [turn for page in pages for item in page if (turn := self._alive(item))]
        return sorted(found, key=lambda turn: (turn.created_at, turn.seq))

    def _put_message(self, message: Message) -> actions.Action:
        expires_at = retention_expiry(self._now(), self._retention_days)
        return actions.put(self._messages, message_item(message, expires_at), FREE, self._values())

    def _update(
        self, conversation: str, event_id: str, changes: Item, condition: str, **seen: object
    ) -> actions.Action:
        key = turn_key(conversation, event_id)
        return actions.update(self._turns, key, changes, condition, self._values() | seen)

    def _values(self) -> Item:
        return {"now": to_epoch(self._now()), "claimed": "claimed", "failed": "failed", "replied": "replied"}

    def _stored(self, refusal: Refusal, turn: Turn) -> Turn:
        stored = self._alive(_old(refusal)) or self.turn(turn.conversation, turn.event_id)
        if stored is None:
            raise StoreUnavailable("the turn went away while it was being claimed")
        return stored

    def _alive(self, item: Item | None) -> Turn | None:
        return None if item is None or gone(expiry_of(item), self._now()) else turn_from(item)


def _old(refusal: Refusal | None) -> Item | None:
    return from_wire(refusal.item) if refusal and refusal.item else None
