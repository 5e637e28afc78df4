"""Everything that is known about a person, as one JSON document: docs/export.schema.json describes it."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tools.operate.deployment import Deployment
from whatsapp_agent.clock import to_iso
from whatsapp_agent.ledger import Turn
from whatsapp_agent.memory.records import Fact, Message, PastFact, Summary, split_conversation

VERSION = 1


class _Line(Protocol):
    @property
    def message(self) -> Message: ...

    @property
    def place(self) -> str: ...


@dataclass(frozen=True, slots=True)
class Document:
    """An export; `empty` where there is nothing in it about the person."""

    values: Mapping[str, Any]
    empty: bool

    def write(self, file: Path) -> None:
        """Writes it, readable by the user only."""
        draft = file.with_name(file.name + ".draft")
        draft.unlink(missing_ok=True)
        opened = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as output:
            json.dump(self.values, output, ensure_ascii=False, indent=2)
            output.write("\n")
        draft.replace(file)


def document_of(deployment: Deployment, conversation: str, lines: Sequence[_Line]) -> Document:
    """Reads everything of a conversation."""
    agent, person = split_conversation(conversation)
    summary = deployment.conversations.summary(conversation)
    facts = deployment.facts.facts(conversation)
    history = deployment.facts.history(conversation)
    turns = deployment.ledger.turns(conversation)
    values = {
        "version": VERSION,
        "exported_at": to_iso(deployment.now()),
        "agent": agent,
        "person": {"id": person, "addresses": deployment.directory.aliases(person)},
        "state": _state(summary),
        "summary": _summary(summary),
        "facts": [_fact(fact) for fact in facts],
        "former_facts": [_past(past) for past in history],
        "messages": [_message(line) for line in lines],
        "turns": [_turn(turn) for turn in turns],
    }
    return Document(values, empty=not (lines or facts or history or turns or summary != Summary(conversation)))


def _state(summary: Summary) -> dict[str, str | None]:
    moments = {
        "opted_out_at": summary.opted_out_at,
        "paused_until": summary.paused_until,
        "active_at": summary.active_at,
    }
    return {name: to_iso(moment) if moment else None for name, moment in moments.items()}


def _summary(summary: Summary) -> dict[str, Any] | None:
    if not summary.version:
        return None
    return {
        "text": summary.text,
        "through_seq": summary.through_seq,
        "version": summary.version,
        "updated_at": to_iso(summary.updated_at) if summary.updated_at else None,
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "key": fact.key,
        "value": fact.value,
        "confidence": fact.confidence,
        "source": fact.source,
        "evidence_seq": fact.evidence_seq,
        "created_at": to_iso(fact.created_at),
        "updated_at": to_iso(fact.updated_at),
        "expires_at": to_iso(fact.expires_at) if fact.expires_at else None,
    }


def _past(past: PastFact) -> dict[str, Any]:
    return {
        **_fact(past.fact),
        "replaced_at": to_iso(past.replaced_at),
        "reason": past.reason,
        "replaced_by_seq": past.evidence_seq,
    }


def _message(line: _Line) -> dict[str, Any]:
    message = line.message
    return {
        "seq": message.seq,
        "role": message.role,
        "kind": message.kind,
        "text": message.text,
        "sent_at": to_iso(message.sent_at),
        "received_at": to_iso(message.received_at),
        "event_id": message.event_id,
        "number": message.number,
        "place": line.place,
    }


def _turn(turn: Turn) -> dict[str, Any]:
    return {
        "event_id": turn.event_id,
        "state": turn.state,
        "seq": turn.seq,
        "created_at": to_iso(turn.created_at),
        "number": turn.number,
        "address": turn.address,
        "parts": list(turn.parts),
        "sent": turn.sent,
        "provider_ids": list(turn.provider_ids),
        "reason": turn.reason,
    }
