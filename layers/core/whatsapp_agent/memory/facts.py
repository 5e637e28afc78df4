"""Which of the memory model's proposals become facts, and which facts a prompt shows.

A proposal is judged against what is on record and against what the person really wrote. Whatever the model
answers, the result is at most one update per fact, and nothing that `refusals` knows is kept.
"""

from collections.abc import Sequence
from datetime import datetime

from whatsapp_agent.memory.evidence import Evidence
from whatsapp_agent.memory.merge import Merge, Verdict, expired
from whatsapp_agent.memory.records import AgentProfile, Fact, FactChange, Message

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
    """The facts that a prompt shows, none expired: pinned keys first, then `single` ones, then the newest."""

    def rank(fact: Fact) -> tuple[bool, bool, float, str, str]:
        key = profile.fact_keys.get(fact.key)
        single = key is not None and key.kind == "single"
        pinned = key is not None and key.pinned
        return (not pinned, not single, -fact.updated_at.timestamp(), fact.key, fact.item)

    return sorted((fact for fact in facts if not expired(fact, now)), key=rank)[: max(0, limit)]
