"""The tool by which the model looks something up while it answers, beyond what was looked up for it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from whatsapp_agent.memory.arguments import ToolSpec
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.quoting import clean
from whatsapp_agent.memory.recall_block import origin
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.recall import Recaller
from whatsapp_agent.turns.tools import Tool

SEARCH = "search_knowledge"

SPEC = ToolSpec(
    SEARCH,
    "Searches the documents that you know and what was said in earlier talks with this person. Use it when "
    "what was looked up for the message does not answer it; ask with other words.",
    {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for, in the words of the documents."}
        },
        "required": ["query"],
        "additionalProperties": False,
    },
)


class KnowledgeTools:
    """Makes `search_knowledge` for a turn; a `tools.ToolFamily`."""

    def __init__(self, recaller: Recaller) -> None:
        self._recaller = recaller

    def __call__(self, context: Context, profile: AgentProfile) -> Sequence[Tool]:
        """The tool, where the agent may use it."""
        if SEARCH not in profile.tools:
            return []
        return [_Search(SPEC, context.conversation, profile, self._recaller)]


@dataclass(frozen=True, slots=True)
class _Search:
    spec: ToolSpec
    conversation: str
    profile: AgentProfile
    recaller: Recaller

    def run(self, arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        found = self.recaller.search(self.conversation, self.profile, arguments["query"])
        passages = [*found.knowledge, *found.episodes]
        zone = self.profile.time_zone
        return {"passages": [{"from": origin(each, zone), "text": clean(each.text)} for each in passages]}
