"""Which of the memory model's proposals become facts, and which facts a prompt shows.

A proposal is judged against what is on record and against what the person really wrote. Whatever the model
answers, the result is at most one update per fact, and nothing that `refusals` knows is kept.
"""

from collections.abc import Sequence
from datetime import datetime

from whatsapp_agent.memory.evidence import Evidence
from whatsapp_agent.memory.merge import Merge, Verdict, expired
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import Fact, FactChange, Message

UNCONFIRMED_BELOW = 0.7
"""A fact with less confidence is marked as unconfirmed in prompts."""


def judge(  # noqa: PLR0917 - the inputs of one decision
    changes: Sequence[FactChange],
    facts: Sequence[Fact],
    profile: AgentProfile,
    conversation: str,
    messages: Sequence[Message],
    now: datetime,
) -> Verdict:
    """Turns the memory model's proposed changes into updates of the store.

    Of several changes for one `single` key the one with the newest evidence wins, and of equals the last.
    Expired facts may be among `facts`: they are replaced, never built upon. A fact's times are those of the
    message, among `messages`, that shows it.
    """
    return Merge(facts, profile.fact_keys, conversation, Evidence(messages, now), now).verdict(changes)


def for_prompt(facts: Sequence[Fact], profile: AgentProfile, now: datetime, limit: int = 30) -> list[Fact]:
    """The facts that a prompt shows, none expired: pinned keys first, then `single` ones, then the newest.

    They come in an order in which a change moves as little as possible of what a provider has cached: a
    `single` key has its place in the agent's schema, and what is added to a list comes last.
    """
    places = {key: place for place, key in enumerate(profile.fact_keys)}

    def rank(fact: Fact) -> tuple[bool, bool]:
        key = profile.fact_keys.get(fact.key)
        return (not (key is not None and key.pinned), not (key is not None and key.kind == "single"))

    def newest(fact: Fact) -> tuple[bool, bool, float, str, str]:
        return (*rank(fact), -fact.updated_at.timestamp(), fact.key, fact.item)

    def lasting(fact: Fact) -> tuple[bool, bool, float, str, str]:
        listed = rank(fact)[1]
        return (*rank(fact), fact.created_at.timestamp() if listed else places[fact.key], fact.key, fact.item)

    current = sorted((fact for fact in facts if not expired(fact, now)), key=newest)
    return sorted(current[: max(0, limit)], key=lasting)
