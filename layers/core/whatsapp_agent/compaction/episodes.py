"""Keeps the exchanges that a compaction is about to fold into the summary, so that they can be recalled."""

from collections.abc import Sequence
from dataclasses import replace

from whatsapp_agent.errors import AgentError, PermanentError
from whatsapp_agent.memory.episodes import episodes
from whatsapp_agent.memory.passages import Passage
from whatsapp_agent.memory.records import Message
from whatsapp_agent.ports.recall import Embedder, RecallStore
from whatsapp_agent.telemetry import Telemetry

EMBEDDING_SECONDS = 20.0


class EpisodeKeeper:
    """Writes exchanges as passages. Repeating it writes the same ones again: their keys come from the messages.

    Args:
        days: How long an exchange can be recalled.
        retention_days: How long anything is remembered; 0 for ever.
        embedder: None: exchanges are found by their words only.
    """

    def __init__(
        self,
        store: RecallStore,
        embedder: Embedder | None,
        telemetry: Telemetry,
        *,
        days: int,
        retention_days: int = 0,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._telemetry = telemetry
        self._days = days
        self._retention_days = retention_days

    def keep(self, messages: Sequence[Message]) -> None:
        """Keeps the messages' exchanges; holds only while the newest of them is still there.

        Comes before the commit that lets the messages go: a run that stops in between is repeated, and finds
        them all. Exchanges that could not be embedded are kept without a vector, and counted.

        Raises:
            MessagesGone: The person was erased meanwhile.
            TransientError: The store is away; nothing is lost.
        """
        passages = episodes(messages, self._days, self._retention_days)
        if not passages:
            return
        embedded = self._embedded(passages)
        try:
            self._store.put(embedded, while_there=messages[-1])
        except PermanentError as error:
            self._telemetry.error("vectors_refused", error=error)
            self._telemetry.count("EpisodeWithoutVector", len(passages))
            self._store.put(passages, while_there=messages[-1])
        self._telemetry.count("EpisodeKept", len(passages))

    def _embedded(self, passages: Sequence[Passage]) -> Sequence[Passage]:
        if self._embedder is None:
            return passages
        model = self._embedder.model
        try:
            vectors = self._embedder.embed(
                [passage.searchable for passage in passages], seconds=EMBEDDING_SECONDS
            )
        except AgentError as error:
            self._telemetry.count("EpisodeWithoutVector", len(passages), reason=type(error).__name__)
            return passages
        return [
            replace(passage, model=model, embedding=vector)
            for passage, vector in zip(passages, vectors, strict=True)
        ]
