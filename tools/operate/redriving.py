"""`operate redrive`: what the queues gave up goes back to where it came from."""

from collections import Counter
from contextlib import closing
from enum import StrEnum
from typing import Annotated

import typer

from tools.operate.deployment import Deployment
from tools.operate.errors import NOT_FINISHED, OperateError
from tools.operate.session import Yes, session_of
from whatsapp_agent.errors import AgentError, InvalidPayload
from whatsapp_agent.events import Erase, Event, InboundMessage, NumberReplaced, decode
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.queues.dead_letters import DeadLetter
from whatsapp_agent.turns.agents import AgentFinder


class Queue(StrEnum):
    """Which dead-letter queue."""

    INBOUND = "inbound"
    COMPACTION = "compaction"
    ALL = "all"


def redrive(
    context: typer.Context,
    queue: Annotated[
        Queue, typer.Option("--queue", help="What people wrote, compactions, or both.")
    ] = Queue.ALL,
    count: Annotated[
        int, typer.Option("--count", "-n", min=0, help="At most so many messages per queue; 0: all.")
    ] = 0,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only look: what is there, by kind.")] = False,
    yes: Yes = False,
) -> None:
    """Send dead letters back to their queue, in order, once what made them fail is mended.

    Each goes under a new deduplication id: under the old one the queue would take it for a duplicate and drop
    it. What a message's earlier delivery has done is on record, so nothing is answered twice. Messages of a
    person who was erased since are deleted instead. What cannot be read stays and is counted.

    Example: [bold]operate redrive --dry-run[/bold], then [bold]operate redrive[/bold]
    """
    session = session_of(context)
    deployment = session.deployment
    names = [name for name in deployment.dead_letters if queue in (Queue.ALL, name)]
    waiting = {name: deployment.dead_letters[name].count() for name in names}
    if not dry_run:
        session.confirm(
            f"Send back what waits in {deployment.name} ({_counts(waiting)})?",
            yes=yes or not any(waiting.values()),
        )
    results = {name: _run(deployment, name, count, dry_run=dry_run) for name in names}
    if session.output.as_json:
        session.output.document(
            {name: {"waiting": waiting[name], **result} for name, result in results.items()}
        )
    else:
        rows = [
            (name, waiting[name], kind, number)
            for name in names
            for kind, number in sorted(results[name].items())
        ]
        title = "Dead letters (a look; nothing was moved)" if dry_run else "Dead letters"
        if rows:
            session.output.table(title, ("queue", "waiting before", "what", "messages"), rows)
        elif any(waiting.values()):
            session.output.line(
                f"nothing to send back now: {_counts(waiting)} under way; try again in a minute"
            )
        else:
            session.output.line("nothing to send back")
    if any(result["failed"] for result in results.values()):
        raise OperateError("some could not be sent back and stay where they are: run it again", NOT_FINISHED)


def _run(deployment: Deployment, name: str, most: int, *, dry_run: bool) -> Counter[str]:
    queue, result = deployment.dead_letters[name], Counter[str]()
    erased = _Erased(deployment)
    with closing(queue.take()) as letters:  # type: ignore[type-var]
        for handled, letter in enumerate(letters):
            if most and handled >= most:
                break
            if dry_run:
                result[_kind(name, letter)] += 1
                continue
            try:
                event = _event(letter) if name == Queue.INBOUND else None
                if event is not None and erased.drops(event):
                    queue.remove(letter)
                    result["dropped, the person was erased"] += 1
                else:
                    queue.send_back(letter)
                    result["sent back"] += 1
            except InvalidPayload:
                result["unreadable, left there"] += 1
            except AgentError:
                result["failed"] += 1
    return result


class _Erased:
    """Whether a message is older than the erasure of its person."""

    def __init__(self, deployment: Deployment) -> None:
        self._directory = deployment.directory
        self._finder = AgentFinder(
            deployment.profiles, deployment.agent_id, deployment.directory, deployment.conversations
        )

    def drops(self, event: Event) -> bool:
        if isinstance(event, Erase | NumberReplaced):
            return False
        label = event.label if isinstance(event, InboundMessage) else ""
        profile, person = self._finder.find(event.number, event.person, label=label)
        erased_at = self._directory.erased_at(conversation_key(profile.agent_id, person))
        return erased_at is not None and event.received_at <= erased_at


def _event(letter: DeadLetter) -> Event:
    return decode(letter.body)


def _kind(name: str, letter: DeadLetter) -> str:
    if name != Queue.INBOUND:
        return "compaction"
    try:
        return _event(letter).kind_name
    except InvalidPayload:
        return "unreadable"


def _counts(waiting: dict[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in waiting.items())
