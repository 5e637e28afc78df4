"""`operate knowledge`: the documents that an agent answers from."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from tools.operate.chunks import Chunk, chunks_of
from tools.operate.documents import READERS, UnreadableDocument, read_document
from tools.operate.errors import NOT_FINISHED, NOTHING_KNOWN, WRONG_USAGE, OperateError
from tools.operate.library import Library
from tools.operate.session import Agent, Session, Yes, session_of
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.turns.knowledge import MOST_CHUNKS

knowledge = typer.Typer(
    no_args_is_help=True, help="Add, list, remove and search the documents that an agent knows."
)

Name = Annotated[str, typer.Argument(metavar="DOCUMENT", help="A document, as `knowledge list` names it.")]


@knowledge.command("add")
def add(
    context: typer.Context,
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...", help=f"Files or folders: {', '.join(sorted(READERS))}.", show_default=False
        ),
    ],
    agent: Agent = "",
) -> None:
    """Let an agent know documents: Markdown, text, HTML and PDF.

    A document that was added before is replaced; chunks that did not change are not embedded again. A file that
    cannot be read is named and passed over. The agent answers from the new text within a minute.

    Example: [bold]operate knowledge add handbook/ prices.pdf --agent sales[/bold]
    """
    session = session_of(context)
    owner, library = _opened(session, agent)
    documents, skipped = _read(paths)
    for name, why in skipped:
        session.output.say(f"passed over: {name}: {why}")
    added = []
    try:
        waiting = sum(library.to_embed(owner, name, chunks) for name, chunks in documents)
        with _bar(waiting) as advance:
            for name, chunks in documents:
                added.append(library.add(owner, name, chunks, advance))
    finally:
        # Also where it breaks off: what went in so far is to be found.
        total = library.publish(owner) if documents else 0
    rows: list[dict[str, Any]] = [
        {"document": each.name, "chunks": each.chunks, "embedded": each.embedded, "unchanged": each.kept,
         "removed": each.removed}
        for each in added
    ]  # fmt: skip
    if session.output.as_json:
        session.output.document(
            {"added": rows, "skipped": [{"file": name, "why": why} for name, why in skipped]}
        )
    elif rows:
        session.output.table(f"Added to {owner}", list(rows[0]), [list(row.values()) for row in rows])
    if total > MOST_CHUNKS:
        session.output.say(
            f"{owner} knows {total} chunks; only the first {MOST_CHUNKS} are ranked by their words, "
            "the others are found by their meaning alone"
        )
    if not added:
        raise OperateError("nothing was added: no file in there could be read", WRONG_USAGE)
    if skipped:
        raise OperateError(f"{len(skipped)} file(s) were passed over", NOT_FINISHED)


@knowledge.command("list")
def list_(context: typer.Context, agent: Agent = "") -> None:
    """Show the documents that an agent knows.

    Example: [bold]operate knowledge list --agent sales[/bold]
    """
    session = session_of(context)
    owner, library = _opened(session, agent)
    sources = library.sources(owner)
    rows: list[dict[str, Any]] = [
        {
            "document": source.name,
            "chunks": source.chunks,
            "characters": source.chars,
            "added_at": source.added_at,
            "state": _state(source.complete, source.model, library.model),
        }
        for source in sources
    ]
    if session.output.as_json:
        session.output.document(rows)
    elif not rows:
        raise OperateError(f"{owner} knows no documents", NOTHING_KNOWN)
    else:
        session.output.table(f"Known to {owner} (UTC)", list(rows[0]), [list(row.values()) for row in rows])


def _state(complete: bool, model: str, current: str) -> str:
    if not complete:
        return "unfinished: add it again"
    return "ok" if model == current else "vectors of another model: reindex"


@knowledge.command("remove")
def remove(context: typer.Context, document: Name, agent: Agent = "", yes: Yes = False) -> None:
    """Let an agent forget a document. It answers without it within a minute.

    Example: [bold]operate knowledge remove prices.pdf --agent sales[/bold]
    """
    session = session_of(context)
    owner, library = _opened(session, agent)
    if document not in {source.name for source in library.sources(owner)}:
        raise OperateError(
            f"{owner} knows no document {document!r}: see `operate knowledge list`", NOTHING_KNOWN
        )
    session.confirm(f"Remove {document} from what {owner} knows?", yes=yes)
    chunks = library.remove(owner, document)
    library.publish(owner)
    if session.output.as_json:
        session.output.document({"removed": document, "chunks": chunks})
    else:
        session.output.line(f"Removed {document}: {chunks} chunks.")


@knowledge.command("search")
def search(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="As a person would ask it.")],
    agent: Agent = "",
    most: Annotated[int, typer.Option("--most", min=1, max=50, help="How many passages to show.")] = 10,
) -> None:
    """Show what an agent would find for a question, and what of it would stand in its prompt.

    Use it to choose `similarity_floor` and `count` in the agent's [recall].

    Example: [bold]operate knowledge search "how long do I have to return a lamp?" --agent sales[/bold]
    """
    session = session_of(context)
    owner, library = _opened(session, agent)
    hits = library.search(owner, session.profile(agent).recall, question, most)
    rows: list[dict[str, Any]] = [
        {
            "in_prompt": hit.shown,
            "score": round(hit.ranked.score, 3),
            "similarity": round(hit.ranked.similarity, 3),
            "words": round(hit.ranked.share, 3),
            "document": hit.ranked.passage.source,
            "title": hit.ranked.passage.title,
            "text": clean(hit.ranked.passage.text),
        }
        for hit in hits
    ]
    if session.output.as_json:
        session.output.document(rows)
    elif not rows:
        raise OperateError(f"{owner} would find nothing for that", NOTHING_KNOWN)
    else:
        session.output.table(f"Found by {owner}", list(rows[0]), [list(row.values()) for row in rows])


@knowledge.command("reindex")
def reindex(context: typer.Context, agent: Agent = "") -> None:
    """Make the vectors anew that another embedding model made, after EmbeddingModel was changed.

    Example: [bold]operate knowledge reindex --agent sales[/bold]
    """
    session = session_of(context)
    owner, library = _opened(session, agent)
    with _bar(len(library.stale(owner))) as advance:
        renewed = library.reindex(owner, advance)
    library.publish(owner)
    if session.output.as_json:
        session.output.document({"agent": owner, "renewed": renewed, "model": library.model})
    else:
        session.output.line(f"{renewed} chunks of {owner} have new vectors.")


def _opened(session: Session, agent: str) -> tuple[str, Library]:
    owner = session.profile(agent).agent_id
    opening = session.deployment.library
    if opening is None:
        raise OperateError("this deployment keeps no knowledge")
    return owner, opening()


def _read(paths: list[Path]) -> tuple[list[tuple[str, list[Chunk]]], list[tuple[str, str]]]:
    """The readable files as names and chunks, and the others with the reason."""
    documents: dict[str, list[Chunk]] = {}
    skipped: list[tuple[str, str]] = []
    for path in paths:
        if not path.exists():
            raise OperateError(f"there is no {path}", WRONG_USAGE)
        for name, file in _files(path):
            try:
                documents[name] = chunks_of(read_document(file))
            except UnreadableDocument as error:
                skipped.append((name, str(error)))
    return list(documents.items()), skipped


def _files(path: Path) -> Iterator[tuple[str, Path]]:
    """Files by the name that they are known under: within a folder, with the folder's own name before it."""
    if not path.is_dir():
        yield path.name, path
        return
    top = path.resolve()
    for file in sorted(top.rglob("*")):
        below = file.relative_to(top)
        if file.is_file() and not any(part.startswith(".") for part in below.parts):
            yield f"{top.name}/{below.as_posix()}", file


@contextmanager
def _bar(total: int) -> Iterator[Any]:
    """A progress bar on stderr, where that is a terminal and there is something to wait for."""
    columns = (TextColumn("embedding"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True, disable=total == 0) as bar:
        task = bar.add_task("embedding", total=total)
        yield lambda count: bar.advance(task, count)
