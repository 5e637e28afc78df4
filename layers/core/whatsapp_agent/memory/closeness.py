"""Which of many facts a prompt shows: those that always count, and those close to what is being said.

A prompt shows at most `PROMPT_FACTS`. While there are no more, all of them stand in the memory block. Beyond
that the block keeps what does not depend on the message, so that consecutive prompts still begin alike, and the
facts that are close to the message go with this turn's notes.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from whatsapp_agent.memory.facts import for_prompt
from whatsapp_agent.memory.merge import expired
from whatsapp_agent.memory.passages import Vector
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Fact

PROMPT_FACTS = 30
"""Facts that a prompt shows at most."""

MOST_COMPARED = 300
"""Facts that are compared with a message at most, the newest: one call embeds them all."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The facts of one prompt: those in the memory block, and those of this turn only."""

    lasting: tuple[Fact, ...]
    close: tuple[Fact, ...] = ()


def candidates(facts: Sequence[Fact], profile: AgentProfile, now: datetime) -> list[Fact]:
    """The facts that compete for a place by their closeness; none while the prompt has room for all."""
    current = [fact for fact in facts if not expired(fact, now)]
    if len(current) <= PROMPT_FACTS:
        return []
    lasting = set(_always(current, profile, now))
    if len(lasting) == PROMPT_FACTS:
        return []
    others = [fact for fact in current if fact not in lasting]
    return sorted(others, key=_newest_first)[:MOST_COMPARED]


def shown(
    facts: Sequence[Fact],
    profile: AgentProfile,
    now: datetime,
    similarities: Mapping[tuple[str, str], float] | None = None,
) -> Shown:
    """What a prompt shows. Without `similarities` (by key and item, of the candidates) the newest fill up."""
    if not similarities:
        return Shown(tuple(for_prompt(facts, profile, now, PROMPT_FACTS)))
    lasting = _always(facts, profile, now)
    compared = [fact for fact in candidates(facts, profile, now) if (fact.key, fact.item) in similarities]
    closest = sorted(compared, key=lambda fact: (-similarities[fact.key, fact.item], _newest_first(fact)))
    return Shown(tuple(lasting), tuple(closest[: PROMPT_FACTS - len(lasting)]))


def similarity(one: Vector, other: Vector) -> float:
    """Cosine similarity; 0 for a vector without direction."""
    lengths = math.hypot(*one) * math.hypot(*other)
    return math.fsum(a * b for a, b in zip(one, other, strict=True)) / lengths if lengths else 0.0


def _always(facts: Sequence[Fact], profile: AgentProfile, now: datetime) -> list[Fact]:
    """The pinned facts and the `single` ones, as far as places go."""
    kinds = profile.fact_keys
    counting = [fact for fact in facts if (key := kinds.get(fact.key)) and (key.pinned or key.kind == "single")]
    return for_prompt(counting, profile, now, PROMPT_FACTS)


def _newest_first(fact: Fact) -> tuple[float, str, str]:
    return (-fact.updated_at.timestamp(), fact.key, fact.item)
