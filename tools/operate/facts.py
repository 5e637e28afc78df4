"""`operate facts`: look up and correct what is remembered under the agent's keys."""

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from tools.operate.errors import NOTHING_KNOWN, WRONG_USAGE, OperateError
from tools.operate.session import Agent, Person, Session, Yes, session_of
from whatsapp_agent.errors import FactMoved, FactRefused
from whatsapp_agent.memory import corrections
from whatsapp_agent.memory.records import Fact, FactUpdate, PastFact

ATTEMPTS = 3
"""A compaction may change a fact between reading and writing it: then it is read again."""

Key = Annotated[str, typer.Argument(metavar="KEY", help="A key of the agent's agent.toml, or note.")]

facts = typer.Typer(no_args_is_help=True, help="Look up and correct the facts about a person.")


@facts.command("list")
def list_(context: typer.Context, person: Person, agent: Agent = "") -> None:
    """Show the current facts.

    Example: [bold]operate facts list +34600111222[/bold]
    """
    session = session_of(context)
    found = session.deployment.facts.facts(session.conversation(person, agent))
    if session.output.as_json:
        session.output.document([_values(fact) for fact in found])
    elif not found:
        raise OperateError("no facts are remembered about that person", NOTHING_KNOWN)
    else:
        columns = ("key", "value", "confidence", "source", "updated_at", "expires_at")
        rows = [[_values(fact)[name] for name in columns] for fact in found]
        session.output.table("Facts (UTC)", columns, rows)


@facts.command("set")
def set_(
    context: typer.Context,
    person: Person,
    key: Key,
    value: Annotated[str, typer.Argument(metavar="VALUE", help="One line, at most 200 characters.")],
    agent: Agent = "",
) -> None:
    """Write a fact down as true: confidence 1.0, source operator. A list key gets one value more.

    The old value of a single key goes to the history. No conclusion of the agent overwrites what an operator
    wrote; what the person says themselves does.

    Example: [bold]operate facts set +34600111222 city Berlin[/bold]
    """
    session = session_of(context)
    conversation, profile = session.conversation(person, agent), session.profile(agent)
    now = session.deployment.now

    def judged(known: Sequence[Fact]) -> Sequence[FactUpdate]:
        return corrections.set_by_operator(known, profile.fact_keys, conversation, key, value, now())

    _write(session, conversation, judged)
    _show(session, conversation, key)


@facts.command("remove")
def remove(
    context: typer.Context,
    person: Person,
    key: Key,
    value: Annotated[
        str,
        typer.Argument(
            metavar="[VALUE]", help="Of a list key: only this value; without it, all.", show_default=False
        ),
    ] = "",
    agent: Agent = "",
    yes: Yes = False,
) -> None:
    """Take a fact away; it stays in the history, as removed by an operator. To forget it, erase the person."""
    session = session_of(context)
    conversation = session.conversation(person, agent)
    now = session.deployment.now

    def judged(known: Sequence[Fact]) -> Sequence[FactUpdate]:
        return corrections.remove_by_operator(known, key, now(), value)

    try:
        doomed = judged(session.deployment.facts.facts(conversation))
    except FactRefused as error:
        raise OperateError(str(error), NOTHING_KNOWN) from error
    session.confirm(f"Remove {len(doomed)} value(s) of {key}?", yes=yes)
    _write(session, conversation, judged)
    _show(session, conversation, key)


@facts.command("history")
def history(
    context: typer.Context,
    person: Person,
    key: Annotated[str, typer.Argument(metavar="[KEY]", help="Only this key.", show_default=False)] = "",
    agent: Agent = "",
) -> None:
    """Show former values: until when, why they went, and the message that ended them."""
    session = session_of(context)
    found = session.deployment.facts.history(session.conversation(person, agent), key)
    if session.output.as_json:
        session.output.document([_past(past) for past in found])
    elif not found:
        raise OperateError("there are no former facts about that person", NOTHING_KNOWN)
    else:
        columns = ("key", "value", "created_at", "replaced_at", "reason", "evidence_seq", "replaced_by_seq")
        rows = [[_past(past)[name] for name in columns] for past in found]
        session.output.table("Former facts, oldest first (UTC)", columns, rows)


def _write(session: Session, conversation: str, judged: Any) -> None:
    store = session.deployment.facts
    for attempt in range(ATTEMPTS):
        try:
            store.write(conversation, judged(store.facts(conversation)))
        except FactRefused as error:
            raise OperateError(str(error), WRONG_USAGE) from error
        except FactMoved:
            if attempt == ATTEMPTS - 1:
                raise
        else:
            return


def _show(session: Session, conversation: str, key: str) -> None:
    found = [fact for fact in session.deployment.facts.facts(conversation) if fact.key == key]
    if session.output.as_json:
        session.output.document([_values(fact) for fact in found])
    else:
        session.output.line(f"{key}: {'; '.join(fact.value for fact in found) or '(nothing)'}")


def _values(fact: Fact) -> dict[str, Any]:
    return {
        "key": fact.key,
        "value": fact.value,
        "confidence": fact.confidence,
        "source": fact.source,
        "evidence_seq": fact.evidence_seq,
        "created_at": fact.created_at,
        "updated_at": fact.updated_at,
        "expires_at": fact.expires_at,
    }


def _past(past: PastFact) -> dict[str, Any]:
    ended = {"replaced_at": past.replaced_at, "reason": past.reason, "replaced_by_seq": past.evidence_seq}
    return _values(past.fact) | ended
