"""What is said to the model, and what it answers."""

from dataclasses import dataclass
from typing import Literal

from whatsapp_agent.memory.records import FactChange, Usage

PromptKind = Literal["facts", "summary", "message", "recall", "notes", "new"]


@dataclass(frozen=True, slots=True)
class PromptItem:
    """One input item of a model call: `kind` says where it came from, `role` who speaks."""

    role: Literal["user", "assistant"]
    kind: PromptKind
    text: str


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the model sees: standing instructions, then items in order."""

    instructions: str
    items: tuple[PromptItem, ...]

    @property
    def chars(self) -> int:
        """Characters of the whole prompt."""
        return len(self.instructions) + sum(len(item.text) for item in self.items)


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The model's answer to a person; `text` is never empty.

    Attributes:
        usage: The tokens of all the calls that it took.
        calls: How many those were: one, and one more per round of tools or try with more room.
    """

    text: str
    usage: Usage = Usage()
    refused: bool = False
    calls: int = 1


@dataclass(frozen=True, slots=True)
class CompactionAnswer:
    """The memory model's answer: the new summary, and the fact changes that it proposes."""

    summary: str
    changes: tuple[FactChange, ...]
    usage: Usage = Usage()
