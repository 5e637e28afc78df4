"""Commands about one person: inspect, history, transcript, export, pause, resume."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated

import typer

from tools.operate.errors import NOTHING_KNOWN, WRONG_USAGE, OperateError
from tools.operate.export import document_of
from tools.operate.session import Agent, Person, Session, session_of
from whatsapp_agent.clock import to_iso
from whatsapp_agent.memory.records import Message, split_conversation

ALL = 1_000_000
"""More messages than anybody has."""

_LENGTHS = {"m": "minutes", "h": "hours", "d": "days"}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a transcript; `place` says where it was found."""

    message: Message
    place: str


def inspect(context: typer.Context, person: Person, agent: Agent = "") -> None:
    """Show at a glance what is remembered about a person, and in which state the conversation is.

    Example: [bold]operate inspect +34600111222[/bold]
    """
    session = session_of(context)
    deployment, conversation = session.deployment, session.conversation(person, agent)
    messages = deployment.conversations.newest_messages(conversation, ALL)
    summary = deployment.conversations.summary(conversation)
    facts, history = deployment.facts.facts(conversation), deployment.facts.history(conversation)
    turns = deployment.ledger.turns(conversation)
    agent_id, key = split_conversation(conversation)
    found = {
        "person": key,
        "agent": agent_id,
        "addresses": deployment.directory.aliases(key),
        "opted_out_at": summary.opted_out_at,
        "paused_until": summary.paused_until,
        "erased_at": deployment.directory.erased_at(conversation),
        "messages": len(messages),
        "last_message_at": messages[-1].received_at if messages else None,
        "facts": len(facts),
        "former_facts": len(history),
        "compactions": summary.version,
        "summary": summary.text,
        "waiting_turns": [turn.event_id for turn in turns if turn.open],
    }
    if not (messages or facts or history or turns or summary.version or found["erased_at"]):
        raise _nothing(session)
    if session.output.as_json:
        session.output.document(found)
        return
    shown = {**found, "addresses": ", ".join(deployment.directory.aliases(key))}
    shown["waiting_turns"] = len(found["waiting_turns"])  # type: ignore[arg-type]
    session.output.pairs(
        f"{key} with {agent_id}", ((name.replace("_", " "), text) for name, text in shown.items())
    )


def history(
    context: typer.Context,
    person: Person,
    agent: Agent = "",
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many of the newest messages.")] = 40,
) -> None:
    """Show the newest messages that the database still holds word by word, and what became of their turns."""
    session = session_of(context)
    deployment, conversation = session.deployment, session.conversation(person, agent)
    messages = deployment.conversations.newest_messages(conversation, limit)
    turns = {turn.event_id: turn for turn in deployment.ledger.turns(conversation)}
    if not messages:
        raise _nothing(session)
    lines = [
        {
            "seq": message.seq,
            "at": message.received_at,
            "role": message.role,
            "kind": message.kind,
            "text": message.text,
            "event_id": message.event_id,
            "turn": turns[message.event_id].state if message.event_id in turns else "",
        }
        for message in messages
    ]
    if session.output.as_json:
        session.output.document(lines)
        return
    columns = ("seq", "at", "role", "kind", "turn", "text")
    session.output.table(
        "Messages, oldest first (UTC)", columns, [[line[name] for name in columns] for line in lines]
    )


def transcript(context: typer.Context, person: Person, agent: Agent = "") -> None:
    """Show everything that was said: from the archive, where ArchiveDays keeps one, and from the database."""
    session = session_of(context)
    lines = transcript_of(session, session.conversation(person, agent))
    if not lines:
        raise _nothing(session)
    if session.output.as_json:
        session.output.document(
            [
                {"seq": line.message.seq, "at": line.message.received_at, "role": line.message.role}
                | {"kind": line.message.kind, "text": line.message.text, "place": line.place}
                for line in lines
            ]
        )
        return
    rows = [(line.message.received_at, line.message.role, line.place, line.message.text) for line in lines]
    session.output.table("Transcript, oldest first (UTC)", ("at", "role", "from", "text"), rows)


def transcript_of(session: Session, conversation: str) -> list[Line]:
    """Archived and stored messages in order, each once: a compaction that was repeated archives some twice."""
    deployment = session.deployment
    found: dict[tuple[str, int, str], Line] = {}
    archived: Sequence[Message] = list(deployment.archive.messages(conversation)) if deployment.archive else []
    stored = deployment.conversations.newest_messages(conversation, ALL)
    for place, messages in (("archive", archived), ("database", stored)):
        for message in messages:
            found[to_iso(message.received_at), message.seq, message.event_id] = Line(message, place)
    return [found[key] for key in sorted(found)]


def export(
    context: typer.Context,
    person: Person,
    agent: Agent = "",
    file: Annotated[
        Path | None, typer.Option("--file", "-f", help="Write it there, readable by you only; default: stdout.")
    ] = None,
) -> None:
    """Write everything that is known about a person as one JSON document (docs/export.schema.json)."""
    session = session_of(context)
    conversation = session.conversation(person, agent)
    document = document_of(session.deployment, conversation, transcript_of(session, conversation))
    if document.empty:
        raise _nothing(session)
    if file is None:
        session.output.document(document.values)
        return
    document.write(file)
    session.output.say(f"written to {file}")


def pause(
    context: typer.Context,
    person: Person,
    agent: Agent = "",
    length: Annotated[
        str, typer.Option("--for", metavar="TIME", help="How long the agent keeps quiet: 30m, 12h, 3d.")
    ] = "12h",
) -> None:
    """Let a human take over: the agent goes on remembering what a person writes and answers nothing."""
    session = session_of(context)
    deployment, conversation = session.deployment, session.conversation(person, agent)
    until = deployment.now() + _length(length)
    state = deployment.conversations.summary(conversation)
    deployment.conversations.set_state(conversation, opted_out_at=state.opted_out_at, paused_until=until)
    _report(session, conversation, "paused_until", to_iso(until))


def resume(context: typer.Context, person: Person, agent: Agent = "") -> None:
    """Let the agent answer a person again, from their next message on."""
    session = session_of(context)
    deployment, conversation = session.deployment, session.conversation(person, agent)
    state = deployment.conversations.summary(conversation)
    deployment.conversations.set_state(conversation, opted_out_at=state.opted_out_at, paused_until=None)
    _report(session, conversation, "paused_until", None)


def _report(session: Session, conversation: str, name: str, value: str | None) -> None:
    agent, person = split_conversation(conversation)
    if session.output.as_json:
        session.output.document({"person": person, "agent": agent, name: value})
    else:
        session.output.line(f"{person}: {f'paused until {value}' if value else 'the agent answers again'}")


def _length(text: str) -> timedelta:
    number, unit = text[:-1], text[-1:]
    if unit not in _LENGTHS or not (number.isascii() and number.isdigit()) or not 0 < int(number) <= 100_000:
        raise OperateError(f"{text!r} is no length of time: 30m, 12h, 3d", WRONG_USAGE)
    return timedelta(**{_LENGTHS[unit]: int(number)})


def _nothing(session: Session) -> OperateError:
    return OperateError(f"nothing is remembered about that person ({session.deployment.name})", NOTHING_KNOWN)
