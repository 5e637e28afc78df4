"""What a running stack remembers about a person, read with the product's own code."""

from dataclasses import dataclass

from tools.local.clients import client
from tools.local.state import StackInfo
from whatsapp_agent.clock import utc_now
from whatsapp_agent.memory.records import Fact, Message, Summary, conversation_key
from whatsapp_agent.phones import canonical
from whatsapp_agent.store.conversations import DynamoConversationStore
from whatsapp_agent.store.facts import DynamoFactStore

_MOST_MESSAGES = 1000


@dataclass(frozen=True, slots=True)
class Remembered:
    """Everything that is kept about one person for one agent; messages oldest first."""

    facts: list[Fact]
    summary: Summary
    messages: list[Message]

    @property
    def empty(self) -> bool:
        return not (self.facts or self.summary.version or self.messages)

    def values(self, key: str) -> list[str]:
        """The current values of one kind of fact."""
        return [fact.value for fact in self.facts if fact.key == key]


def remembered(info: StackInfo, person: str) -> Remembered:
    """Reads the tables of the running stack."""
    dynamodb = client("dynamodb", info.endpoint)
    tables = info.outputs
    conversations = DynamoConversationStore(
        dynamodb,
        messages=tables["MessagesTable"],
        turns=tables["TurnsTable"],
        summaries=tables["SummariesTable"],
        facts=tables["FactsTable"],
        now=utc_now,
        retention_days=0,
    )
    facts = DynamoFactStore(dynamodb, facts=tables["FactsTable"], now=utc_now)
    conversation = conversation_key(info.agent_id, canonical(person))
    return Remembered(
        facts=facts.facts(conversation),
        summary=conversations.summary(conversation),
        messages=conversations.newest_messages(conversation, _MOST_MESSAGES),
    )


def fact_lines(kept: Remembered) -> list[str]:
    """One line per fact, for people to read."""
    return [
        f"{fact.key}: {fact.value}" + ("" if fact.confidence >= 1 else f" (confidence {fact.confidence:g})")
        for fact in kept.facts
    ]
