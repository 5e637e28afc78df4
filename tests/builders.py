"""Records with a default for everything that a test is not about."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from whatsapp_agent.events import InboundMessage
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.allowance import Limits
from whatsapp_agent.memory.profile import AgentProfile, FactKey
from whatsapp_agent.memory.records import Fact, Message, Summary
from whatsapp_agent.phrases import PHRASES

NOW = datetime(2026, 11, 29, 10, 0, tzinfo=UTC)
PERSON = "+34600111222"
NUMBER = "+15550100"
CONVERSATION = f"sales#{PERSON}"


def inbound(event_id: str = "evt_1", text: str = "hello", **changes: Any) -> InboundMessage:
    event = InboundMessage(
        event_id=event_id,
        person=PERSON,
        address=PERSON,
        number=NUMBER,
        message_id=f"msg_{event_id}",
        kind="text",
        text=text,
        sent_at=NOW - timedelta(seconds=2),
        received_at=NOW,
    )
    return replace(event, **changes)


def message(seq: int = 1, text: str = "hello", role: str = "user", **changes: Any) -> Message:
    record = Message(
        conversation=CONVERSATION,
        seq=seq,
        role=role,  # type: ignore[arg-type]
        text=text,
        kind="text",
        sent_at=NOW + timedelta(minutes=seq),
        received_at=NOW + timedelta(minutes=seq),
        event_id=f"evt_{seq}",
        number=NUMBER,
    )
    return replace(record, **changes)


def turn(event_id: str = "evt_1", state: str = "claimed", seq: int = 1, **changes: Any) -> Turn:
    record = Turn(
        conversation=CONVERSATION,
        event_id=event_id,
        state=state,  # type: ignore[arg-type]
        seq=seq,
        number=NUMBER,
        address=PERSON,
        created_at=NOW,
    )
    return replace(record, **changes)


def summary(**changes: Any) -> Summary:
    return replace(Summary(CONVERSATION), **changes)


def fact(key: str = "name", value: str = "Maya", **changes: Any) -> Fact:
    record = Fact(
        conversation=CONVERSATION,
        key=key,
        value=value,
        confidence=1.0,
        source="stated",
        evidence_seq=1,
        created_at=NOW,
        updated_at=NOW,
        version=1,
    )
    return replace(record, **changes)


def profile(**changes: Any) -> AgentProfile:
    record = AgentProfile(
        agent_id="sales",
        name="Max",
        language="en",
        time_zone="Europe/Madrid",
        persona="You are Max, a sales agent.",
        phrases=PHRASES["en"],
        fact_keys={
            "name": FactKey("name", "What the person is called"),
            "city": FactKey("city", "Where the person lives"),
            "mood": FactKey("mood", "How the person feels", lifetime=timedelta(days=7)),
            "interest": FactKey("interest", "What the person cares about", kind="list", max_items=3),
            "note": FactKey("note", "Anything else", kind="list"),
        },
        # Tests let people write faster than people do.
        limits=Limits(turns=0, characters=0, media=0, burst=0),
    )
    return replace(record, **changes)
