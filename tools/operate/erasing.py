"""Commands that forget: erase, erasures reapply."""

import time
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

import typer

from tools.operate.deployment import Deployment
from tools.operate.errors import NOT_FINISHED, OperateError
from tools.operate.session import Agent, Person, Yes, session_of
from whatsapp_agent.memory.records import split_conversation

POLL_SECONDS = 1.0

erasures = typer.Typer(no_args_is_help=True, help="What was erased, and must stay erased.")


def erase(
    context: typer.Context,
    person: Person,
    agent: Agent = "",
    yes: Yes = False,
    wait: Annotated[
        int,
        typer.Option(
            "--wait", metavar="SECONDS", min=0, help="How long to wait until nothing is left; 0: not."
        ),
    ] = 120,
) -> None:
    """Forget a person: messages, turns, summary, facts and their history, recall, archive, dead letters.

    The erasure waits in the person's own queue behind what they wrote before, so that nothing of it is written
    back. It cannot be undone.

    Example: [bold]operate erase +34600111222[/bold]
    """
    session = session_of(context)
    conversation = session.conversation(person, agent)
    agent_id, key = split_conversation(conversation)
    session.confirm(f"Forget {key} for the agent {agent_id} in {session.deployment.name}, for good?", yes=yes)
    answer = session.deployment.erase(key, agent_id)
    if not answer.get("queued"):
        raise OperateError(f"the erasure was not queued: {answer.get('error', 'no reason given')}")
    finished = _wait(lambda: left_of(session.deployment, conversation) == 0, wait) if wait else None
    if session.output.as_json:
        session.output.document(
            {"person": key, "agent": agent_id, "id": answer.get("id"), "finished": finished}
        )
    elif finished:
        session.output.line(f"{key} is forgotten")
    if finished is False:
        raise OperateError(
            f"after {wait} s something is still there: `operate stats` shows whether the queue moves; "
            "the erasure stays queued and is tried again by itself",
            NOT_FINISHED,
        )
    if finished is None and not session.output.as_json:
        session.output.line("the erasure is queued")


@erasures.command("reapply")
def reapply(
    context: typer.Context,
    yes: Yes = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count.")] = False,
) -> None:
    """Repeat every erasure that a restored backup has undone. Run it after each restore, before traffic.

    Erasures are kept under a keyed hash of the conversation, so nobody can list who was erased. This command
    goes the other way: it reads which conversations the tables hold, hashes each, and erases again where an
    erasure is on record and something older than it is there. It reads every table once.
    """
    session = session_of(context)
    deployment = session.deployment
    undone = []
    for conversation in deployment.census.conversations():
        erased_at = deployment.directory.erased_at(conversation)
        if erased_at is not None and older_than(deployment, conversation, erased_at):
            undone.append(conversation)
    if undone and not dry_run:
        session.confirm(f"Erase {len(undone)} conversation(s) again in {deployment.name}?", yes=yes)
        for conversation in undone:
            agent, person = split_conversation(conversation)
            answer: Any = deployment.erase(person, agent)
            if not answer.get("queued"):
                raise OperateError(
                    f"an erasure was not queued: {answer.get('error')}; run it again", NOT_FINISHED
                )
    if session.output.as_json:
        session.output.document({"undone": len(undone), "queued": 0 if dry_run else len(undone)})
    else:
        done = "would be erased again" if dry_run else "are queued to be erased again"
        session.output.line(f"{len(undone)} conversation(s) {done}")


def left_of(deployment: Deployment, conversation: str) -> int:
    """How many things are still kept about a conversation, as far as the functions' stores show."""
    summary = deployment.conversations.summary(conversation)
    archived = sum(1 for _ in deployment.archive.messages(conversation)) if deployment.archive else 0
    return (
        len(deployment.conversations.newest_messages(conversation, 1))
        + len(deployment.ledger.turns(conversation))
        + (summary.version > 0 or summary.opted_out_at is not None)
        + len(deployment.facts.facts(conversation))
        + len(deployment.facts.history(conversation))
        + archived
    )


def older_than(deployment: Deployment, conversation: str, moment: datetime) -> bool:
    """Whether something is kept that was there before `moment`: what came after it belongs to a new start."""
    first = deployment.conversations.messages_after(conversation, 0, 1)
    summary = deployment.conversations.summary(conversation)
    moments = [message.received_at for message in first]
    moments += [turn.created_at for turn in deployment.ledger.turns(conversation)]
    moments += [summary.updated_at] if summary.updated_at else []
    moments += [fact.created_at for fact in deployment.facts.facts(conversation)]
    moments += [past.fact.created_at for past in deployment.facts.history(conversation)]
    archived = deployment.archive.messages(conversation) if deployment.archive else iter(())
    moments += [message.received_at for message in archived]
    return any(each <= moment for each in moments)


def _wait(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() >= deadline:
            return False
        time.sleep(POLL_SECONDS)
    return True
