"""What an agent knows from documents, kept in the process: read once, and again when it has changed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import TransientError
from whatsapp_agent.memory.keywords import KeywordIndex
from whatsapp_agent.memory.passages import KNOWLEDGE, Passage
from whatsapp_agent.ports.recall import KnowledgeCatalogue, RecallStore
from whatsapp_agent.telemetry import Telemetry

MOST_CHUNKS = 1000
"""Chunks that are ranked by their words; what is beyond them is found by its vector only. A megabyte to read,
and about a second to index, once per process and change."""

FRESH = timedelta(seconds=30)
"""How long a process goes by the catalogue that it has read."""


@dataclass(frozen=True, slots=True)
class Known:
    """An agent's knowledge as this process has it."""

    version: str = ""
    passages: Mapping[str, Passage] = field(default_factory=dict)
    index: KeywordIndex = field(default_factory=lambda: KeywordIndex({}))
    complete: bool = True


@dataclass(slots=True)
class _Held:
    known: Known
    until: datetime
    lock: Lock = field(default_factory=Lock)


class Knowledge:
    """Hands out what an agent knows. Safe to share between threads; what it hands out is read-only."""

    def __init__(
        self, store: RecallStore, catalogue: KnowledgeCatalogue, telemetry: Telemetry, now: Clock
    ) -> None:
        self._store = store
        self._catalogue = catalogue
        self._telemetry = telemetry
        self._now = now
        self._held: dict[str, _Held] = {}
        self._lock = Lock()

    def of(self, agent: str, model: str) -> Known:
        """The agent's knowledge; empty where it has none. Costs one read unit a minute while it stays so.

        Vectors that another model than `model` made are counted when they are met: they are not compared.

        Raises:
            TransientError: It could not be read, and was never read before.
        """
        with self._lock:
            held = self._held.setdefault(agent, _Held(Known(), self._now() - FRESH))
        with held.lock:
            if self._now() >= held.until:
                self._refresh(agent, held, model)
            return held.known

    def stale(self, agent: str) -> bool:
        """Whether asking for the agent's knowledge would ask the store."""
        held = self._held.get(agent)
        return held is None or self._now() >= held.until

    def _refresh(self, agent: str, held: _Held, model: str) -> None:
        try:
            catalogue = self._catalogue.catalogue(agent)
            if catalogue.version != held.known.version:
                held.known = self._load(agent, catalogue.version, model)
        except TransientError as error:
            if not held.known.version:
                raise
            self._telemetry.count("RecallFailed", reason=type(error).__name__)
        held.until = self._now() + FRESH

    def _load(self, agent: str, version: str, model: str) -> Known:
        found = self._store.passages(agent, KNOWLEDGE, MOST_CHUNKS)
        passages = {passage.key: passage for passage in found}
        others = sum(passage.model not in ("", model) for passage in found)
        self._telemetry.count("VectorsOfAnotherModel", others)
        index = KeywordIndex({key: passage.searchable for key, passage in passages.items()})
        return Known(version, passages, index, complete=len(found) < MOST_CHUNKS)
