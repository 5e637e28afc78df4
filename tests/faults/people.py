"""People, what they say, and what is remembered about them before a scenario begins."""

from datetime import timedelta
from typing import Any

from tests.builders import NOW, inbound, message
from tests.faults.deployment import WEBHOOK_SECRET, Deployment, Queued, queued
from tools.local.simulated_provider.whasp import body_of, message_received, signature_headers
from whatsapp_agent.clock import to_iso, utc_now
from whatsapp_agent.events import Event, encode, group_of
from whatsapp_agent.memory.records import CompactionCommit, Fact, FactUpdate, Summary

MAYA, NOOR = "+34600111222", "+34600333444"
MOVED = "+34699000111"
"""Maya's number later on."""
NUMBERS = {"whasp": "+15550100", "meta": "106540352242922"}
BYSTANDERS = ("sales#+34600999000", f"companion#{MAYA}")
"""Another person of the same agent, and the same person of another agent."""

LATER = timedelta(milliseconds=5)


def sales(person: str) -> str:
    return f"sales#{person}"


def heard(deployment: Deployment, token: int, text: str = "", person: str = MAYA, number: str = "") -> Queued:
    """An inbound message `evt<token>` in the queue, received now. No two are sent in the same millisecond, so
    that what the product asks because they differ, it asks in each run.
    """
    now = utc_now()
    event = inbound(
        f"evt{token}",
        f"{text or 'hello there'} tok{token}",
        person=person,
        address=person,
        number=number or NUMBERS[deployment.provider],
        sent_at=now - timedelta(milliseconds=1000 - token),
        received_at=now,
    )
    return of(event)


def of(event: Event) -> Queued:
    return queued(encode(event), group_of(event))


def bystanders(deployment: Deployment) -> None:
    """Puts memory of others beside the one that things happen to."""
    for conversation in BYSTANDERS:
        talk(deployment, conversation, 4)
        remember(deployment, conversation, "name", "Otto", through_seq=2)


def talk(deployment: Deployment, conversation: str, count: int, first: int = 1, text: str = "") -> None:
    """Puts an exchange of messages, the person's and the agent's in turn."""
    said = [
        message(
            seq,
            f"{text or 'talk'} tok{1000 + seq}",
            role="user" if seq % 2 else "assistant",
            conversation=conversation,
            event_id=f"old{seq if seq % 2 else seq - 1}",
            sent_at=NOW + timedelta(minutes=seq),
        )
        for seq in range(first, first + count)
    ]
    deployment.stores().put(said, [])


def remember(deployment: Deployment, conversation: str, key: str, value: str, through_seq: int) -> None:
    fact = Fact(conversation, key, value, 1.0, "stated", 1, NOW, NOW, version=1)
    summary = Summary(conversation, "They said hello.", through_seq, 1, updated_at=NOW)
    update = FactUpdate(key, "", 0, fact, None)
    store = deployment.stores().conversations
    store.commit_compaction(CompactionCommit(summary, 0, through_seq, (update,)))
    store.delete_messages(conversation, through_seq)


def webhook(event_id: str, text: str) -> dict[str, Any]:
    """A signed delivery of whasp, as a function URL hands it over."""
    now = utc_now()
    event = message_received(
        event_id=event_id,
        message={"id": f"msg_{event_id}", "type": "text", "sent_at": to_iso(now), "text": text},
        person=MAYA,
        number=NUMBERS["whasp"],
        created_at=to_iso(now),
    )
    body = body_of(event)
    return {
        "version": "2.0",
        "rawPath": "/webhooks/whasp",
        "rawQueryString": "",
        "headers": {
            "content-type": "application/json",
            **signature_headers(WEBHOOK_SECRET, event_id, body, now),
        },
        "requestContext": {"http": {"method": "POST", "path": "/webhooks/whasp", "sourceIp": "192.0.2.1"}},
        "isBase64Encoded": False,
        "body": body.decode(),
    }
