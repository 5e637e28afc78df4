"""The turn ledger's record and its state machine. Pure; the store writes it, conditionally.

    (absent) ──claim──▶ claimed ──commit──▶ replied ──mark_sent(last part)──▶ sent
       │                   │                   └──close──▶ undelivered | suppressed
       │                   ├──commit of a later event──▶ covered
       │                   └──close──▶ silent | suppressed | failed | undelivered
       └──claim of an event that asks for no answer──▶ silent | suppressed

`claimed`      The message is remembered; no reply is written down yet.
`replied`      The reply is written down; `parts[sent:]` are still to be sent.
`sent`         Every part was taken by the provider.
`covered`      Another turn's reply (`lead`) answers this message too.
`silent`       Nothing is to be answered: a reaction, an opt-out, a message of the owner, silence.
`suppressed`   A reply existed or was due, and must not be sent: opted out, paused, beyond a limit.
`undelivered`  The provider refused the reply for good, or will not take it any more; `reason` says why.
`failed`       The model's service refused for good and the person was told; a redrive may answer it still.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from whatsapp_agent.memory.records import Usage

TurnState = Literal["claimed", "replied", "sent", "covered", "silent", "suppressed", "undelivered", "failed"]

OPEN_STATES: frozenset[TurnState] = frozenset({"claimed", "replied", "failed"})
"""States in which a turn still has something to do when its event is delivered again."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One inbound event on its way to an answer.

    Attributes:
        event_id: The provider's id of the event: the ledger's key beside the conversation.
        seq: Place of the person's message.
        address: Where replies go, exactly as the provider gave it.
        reply_seq: Place of the reply's message; 0 until it is written down.
        parts: The reply as it is sent, in order.
        sent: How many of the parts the provider has taken.
        provider_ids: The provider's ids of the sent parts.
        lead: For a covered turn: the event whose turn holds the reply.
        apologised: Whether the person has been told that the answer is late; it is said at most once.
        expires_at: Longer than any retry of the provider and any retention of the queues.
    """

    conversation: str
    event_id: str
    state: TurnState
    seq: int
    number: str
    address: str
    created_at: datetime
    reply_seq: int = 0
    parts: tuple[str, ...] = ()
    sent: int = 0
    provider_ids: tuple[str, ...] = ()
    lead: str = ""
    reason: str = ""
    apologised: bool = False
    usage: Usage = Usage()
    expires_at: datetime | None = None

    @property
    def open(self) -> bool:
        """Whether a redelivery of the event still has something to do."""
        return self.state in OPEN_STATES
