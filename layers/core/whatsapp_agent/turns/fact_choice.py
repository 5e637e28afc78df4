"""Chooses the facts of a prompt where there are more than it shows: one call that embeds them, at most."""

from collections.abc import Sequence
from datetime import datetime

from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory.closeness import Shown, candidates, shown, similarity
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Fact
from whatsapp_agent.ports.recall import Embedder
from whatsapp_agent.telemetry import Telemetry

MOST_SECONDS = 3.0
"""What closeness may cost a reply; slower than that, the newest facts do."""

_MOST_CHARS = 2000


class FactChooser:
    """Chooses facts. Without an embedder, or where it fails, the newest ones fill the prompt."""

    def __init__(self, embedder: Embedder | None, telemetry: Telemetry) -> None:
        self._embedder = embedder
        self._telemetry = telemetry

    def choose(self, facts: Sequence[Fact], profile: AgentProfile, said: str, now: datetime) -> Shown:
        """The facts for a prompt that answers `said`.

        The embedder is asked only where facts compete for a place.
        """
        competing = candidates(facts, profile, now)
        if self._embedder is None or not competing or not said.strip():
            return shown(facts, profile, now)
        # What is said last counts, and a wall of text has no one meaning.
        texts = [said[-_MOST_CHARS:], *(f"{fact.key}: {fact.value}" for fact in competing)]
        try:
            asked, *vectors = self._embedder.embed(texts, seconds=MOST_SECONDS)
        except AgentError as error:
            self._telemetry.count("FactChoiceFailed", reason=type(error).__name__)
            self._telemetry.warning("fact_choice_failed", error=type(error).__name__)
            return shown(facts, profile, now)
        near = {
            (fact.key, fact.item): similarity(asked, vector)
            for fact, vector in zip(competing, vectors, strict=True)
        }
        return shown(facts, profile, now, near)
