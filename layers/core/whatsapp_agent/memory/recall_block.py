"""How recalled passages stand in a prompt: dated, sourced and quoted, and labelled as data."""

from zoneinfo import ZoneInfo

from whatsapp_agent.memory.exchange import PromptItem
from whatsapp_agent.memory.passages import Passage, Recalled
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.quoting import clean, quoted


def recall_item(profile: AgentProfile, recalled: Recalled) -> PromptItem | None:
    """One input item with every passage on a line of its own; None where there is none."""
    passages = [*recalled.knowledge, *recalled.episodes]
    if not passages:
        return None
    lines = (f"- {origin(passage, profile.time_zone)}: {quoted(passage.text)}" for passage in passages)
    return PromptItem("user", "recall", "\n".join((profile.phrases.recall_label, *lines)))


def origin(passage: Passage, time_zone: str) -> str:
    """Where a passage comes from: the day of an exchange, or a document and the headings within it, quoted."""
    if passage.sent_at is not None:
        return passage.sent_at.astimezone(ZoneInfo(time_zone)).date().isoformat()
    return quoted(f"{clean(passage.source)} › {passage.title}" if passage.title else passage.source)
