"""What agents know from documents: put in, taken out, embedded again, searched; over the functions' ports."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from tools.operate.chunks import Chunk
from tools.operate.target import Target
from whatsapp_agent.clock import utc_now
from whatsapp_agent.memory import recall
from whatsapp_agent.memory.passages import (
    KNOWLEDGE,
    Candidates,
    Found,
    Passage,
    RecallRules,
    Source,
    Vector,
    source_key,
)
from whatsapp_agent.model.embeddings import OpenAIEmbedder
from whatsapp_agent.ports.recall import Embedder, KnowledgeCatalogue, RecallStore
from whatsapp_agent.store.knowledge import DynamoKnowledgeCatalogue
from whatsapp_agent.store.recall import DynamoRecallStore
from whatsapp_agent.turns.knowledge import MOST_CHUNKS
from whatsapp_agent.turns.recall import NEAREST

BATCH = 64
"""Chunks that are embedded in one call."""

EMBEDDING_SECONDS = 60.0
_ALL = 1_000_000

Progress = Callable[[int], None]
"""Told how many chunks were embedded."""


@dataclass(frozen=True, slots=True)
class Added:
    """What adding a document did: chunks in all, newly embedded, taken over, and old ones removed."""

    name: str
    chunks: int
    embedded: int
    kept: int
    removed: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A passage that a search found, and whether it would stand in a prompt."""

    ranked: recall.Ranked
    shown: bool


class Library:
    """The documents of the agents of one deployment.

    Args:
        embedder: None where the deployment has no embedding model: chunks are then found by their words only.
    """

    def __init__(
        self,
        store: RecallStore,
        catalogue: KnowledgeCatalogue,
        embedder: Embedder | None,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._embedder = embedder
        self._now = now

    @property
    def model(self) -> str:
        """The embedding model of the deployment; empty where it has none."""
        return self._embedder.model if self._embedder else ""

    def sources(self, owner: str) -> list[Source]:
        """The agent's documents, by name."""
        return self._catalogue.sources(owner)

    def to_embed(self, owner: str, name: str, chunks: Sequence[Chunk]) -> int:
        """How many of the chunks have to be embedded."""
        if self._embedder is None:
            return 0
        known = self._vectors(owner, self._old(owner, name))
        return sum(_searchable(chunk) not in known for chunk in chunks)

    def add(self, owner: str, name: str, chunks: Sequence[Chunk], progress: Progress) -> Added:
        """Lets the agent know exactly these chunks under the document's name.

        A run that stops half way is finished by the same call again: the document is marked until then.
        """
        old = self._old(owner, name)
        known = self._vectors(owner, old)
        passages = [
            Passage(owner, place, chunk.text, source=name, title=chunk.title)
            for place, chunk in enumerate(chunks)
        ]
        chars = sum(len(chunk.text) for chunk in chunks)
        entry = Source(owner, name, len(passages), chars, self.model, self._now(), complete=False)
        self._catalogue.put_source(entry)
        missing = [each for each in passages if self._embedder and each.searchable not in known]
        for start in range(0, len(missing), BATCH):
            batch = [each.searchable for each in missing[start : start + BATCH]]
            known |= dict(zip(batch, self._embed(batch), strict=True))
            progress(len(batch))
        before = {each.key: each for each in old}
        changed = [each for each in passages if not self._same(before.get(each.key), each)]
        self._store.put([self._with_vector(each, known) for each in changed])
        gone = before.keys() - {each.key for each in passages}
        self._store.delete(owner, sorted(gone))
        self._catalogue.put_source(replace(entry, complete=True))
        return Added(name, len(passages), len(missing), len(passages) - len(missing), len(gone))

    def remove(self, owner: str, name: str) -> int:
        """Lets the agent forget a document; returns how many chunks it had."""
        keys = [each.key for each in self._old(owner, name)]
        entry = next((each for each in self.sources(owner) if each.name == name), None)
        if entry is not None:
            self._catalogue.put_source(replace(entry, complete=False))
        self._store.delete(owner, keys)
        self._catalogue.delete_source(owner, name)
        return len(keys)

    def publish(self, owner: str) -> int:
        """Lets every process read the knowledge again, within a minute; returns how many chunks there are."""
        chunks = sum(source.chunks for source in self.sources(owner))
        self._catalogue.publish(owner, chunks)
        return chunks

    def stale(self, owner: str) -> list[Passage]:
        """The chunks whose vectors another model than the deployment's made, or that have none."""
        passages = self._store.passages(owner, KNOWLEDGE, _ALL, consistent=True)
        return [each for each in passages if each.model != self.model]

    def reindex(self, owner: str, progress: Progress) -> int:
        """Makes the vectors of every stale chunk anew; returns how many that were."""
        stale = self.stale(owner)
        for start in range(0, len(stale), BATCH):
            batch = stale[start : start + BATCH]
            vectors = self._embed([each.searchable for each in batch]) if self._embedder else [()] * len(batch)
            self._store.put(
                [
                    replace(each, model=self.model, embedding=vector)
                    for each, vector in zip(batch, vectors, strict=True)
                ]
            )
            progress(len(batch))
        for source in self.sources(owner):
            self._catalogue.put_source(replace(source, model=self.model))
        return len(stale)

    def search(self, owner: str, rules: RecallRules, question: str, most: int) -> list[Hit]:
        """What the agent would find, the best first; those that its prompt would show are marked."""
        found = self._store.passages(owner, KNOWLEDGE, MOST_CHUNKS)
        near: dict[str, float] = {}
        if self._embedder is not None and found:
            (vector,) = self._embed([question])
            near = self._store.nearest(owner, vector, self.model, NEAREST)
        beyond = self._store.get(owner, [key for key in near if key not in {each.key for each in found}])
        candidates = Candidates({each.key: each for each in [*found, *beyond]}, near)
        chosen = recall.choose(Found(knowledge=candidates), rules, question).knowledge
        shown = {each.key for each in chosen}
        ranked = recall.rank(candidates, question)
        return [Hit(each, each.passage.key in shown) for each in ranked[:most]]

    def _old(self, owner: str, name: str) -> list[Passage]:
        return self._store.passages(owner, source_key(name), _ALL, consistent=True)

    def _vectors(self, owner: str, passages: Iterable[Passage]) -> dict[str, Vector]:
        """The vectors that can be taken over, by what was embedded."""
        passages = list(passages)
        if self._embedder is None or not passages:
            return {}
        stored = self._store.vectors(owner, source_key(passages[0].source))
        mine = {key: vector for key, (model, vector) in stored.items() if model == self.model}
        return {each.searchable: mine[each.key] for each in passages if each.key in mine}

    def _same(self, before: Passage | None, after: Passage) -> bool:
        return before is not None and replace(before, model="") == after and before.model == self.model

    def _with_vector(self, passage: Passage, known: dict[str, Vector]) -> Passage:
        if self._embedder is None:
            return passage
        return replace(passage, model=self.model, embedding=known[passage.searchable])

    def _embed(self, texts: Sequence[str]) -> list[Vector]:
        assert self._embedder is not None
        return self._embedder.embed(texts, seconds=EMBEDDING_SECONDS)


def _searchable(chunk: Chunk) -> str:
    return Passage("", 0, chunk.text, title=chunk.title).searchable


def open_library(target: Target) -> Library:
    """The library of a stack, with the stack's own embedding model and key."""
    dynamodb, table = target.client("dynamodb"), target.outputs["RecallTable"]
    model = target.parameters.get("EmbeddingModel", "")
    embedder = None
    if model:
        secret = target.client("secretsmanager").get_secret_value(
            SecretId=target.resources["ServiceSecretStore"]
        )
        embedder = OpenAIEmbedder(
            json.loads(secret["SecretString"])["openai_api_key"],
            model,
            dimensions=_dimensions(dynamodb, table),
            base_url=target.parameters.get("OpenAIBaseUrl", ""),
        )
    return Library(
        DynamoRecallStore(dynamodb, recall=table, now=utc_now),
        DynamoKnowledgeCatalogue(dynamodb, recall=table),
        embedder,
    )


def _dimensions(dynamodb: object, table: str) -> int:
    """Of the table's vector index: what is stored must fit it."""
    described = dynamodb.describe_table(TableName=table)["Table"]  # type: ignore[attr-defined]
    indexes = described.get("VectorIndexes", ())
    return int(indexes[0]["Dimensions"]) if indexes else 512
