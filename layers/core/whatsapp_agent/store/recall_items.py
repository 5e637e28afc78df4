"""Passages and an agent's catalogue as items, and back.

Ids: `text#<key>` for what a passage says, `vector#<key>` for its vector, `source#<key>` for a document's entry,
`catalogue`. Text and vector are two items: DynamoDB charges a read for the whole item, and a vector is several
times as large as its text (docs/adr/0011-two-items-per-passage.md).
"""

from whatsapp_agent.clock import from_iso, to_epoch, to_iso
from whatsapp_agent.memory.passages import Passage, Source, Vector, source_key
from whatsapp_agent.store.wire import Item

TEXT = "text#"
VECTOR = "vector#"
SOURCE = "source#"
CATALOGUE = "catalogue"

_NEXT_TO_NOTHING = 1e-20


def text_item(passage: Passage) -> Item:
    """What a passage says."""
    return {
        "owner": passage.owner,
        "id": TEXT + passage.key,
        "text": passage.text,
        "title": passage.title,
        "source": passage.source,
        "place": passage.place,
        "sent_at": to_iso(passage.sent_at) if passage.sent_at else None,
        "vector_model": passage.model,
        "expires_at": _expiry(passage),
    }


def vector_item(passage: Passage) -> Item:
    """A passage's vector, as the index takes it."""
    return {
        "owner": passage.owner,
        "id": VECTOR + passage.key,
        "model": passage.model,
        "embedding": [_rounded(value) for value in passage.embedding],
        "expires_at": _expiry(passage),
    }


def numbers(vector: Vector) -> list[str]:
    """A vector as DynamoDB writes numbers."""
    return [f"{_rounded(value):.5g}" for value in vector]


def _rounded(value: float) -> float:
    # Five digits cost two bytes less per number than a float's own seven, and change a cosine by 1e-5. What is
    # next to nothing would be more digits than DynamoDB can place.
    return float(f"{value:.5g}") if abs(value) > _NEXT_TO_NOTHING else 0.0


def _expiry(passage: Passage) -> int | None:
    return to_epoch(passage.expires_at) if passage.expires_at else None


def passage_from(item: Item) -> Passage:
    """The passage of a text item; its vector stays in the store."""
    return Passage(
        owner=item["owner"],
        place=int(item.get("place", 0)),
        text=item.get("text", ""),
        source=item.get("source", ""),
        title=item.get("title", ""),
        sent_at=from_iso(item["sent_at"]) if "sent_at" in item else None,
        model=item.get("vector_model", ""),
    )


def vector_from(item: Item) -> Vector:
    """The vector of a vector item."""
    return tuple(float(value) for value in item["embedding"])


def source_item(source: Source) -> Item:
    """A document's entry."""
    return {
        "owner": source.owner,
        "id": SOURCE + source_key(source.name),
        "source": source.name,
        "chunks": source.chunks,
        "chars": source.chars,
        "vector_model": source.model,
        "added_at": to_iso(source.added_at),
        "complete": source.complete,
    }


def source_from(item: Item) -> Source:
    """The entry of an item."""
    return Source(
        owner=item["owner"],
        name=item.get("source", ""),
        chunks=int(item.get("chunks", 0)),
        chars=int(item.get("chars", 0)),
        model=item.get("vector_model", ""),
        added_at=from_iso(item["added_at"]),
        complete=bool(item.get("complete", True)),
    )
