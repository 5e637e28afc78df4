"""The model, as a protocol, and the tools that it may use.

Every method may raise `TransientError` (the call may succeed later). Other errors are named where they can
happen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from whatsapp_agent.memory.arguments import ToolSpec
    from whatsapp_agent.memory.exchange import CompactionAnswer, ModelReply, Prompt
    from whatsapp_agent.memory.profile import FactKey


class Toolbox(Protocol):
    """The tools that the model may use for one reply."""

    @property
    def specs(self) -> Sequence[ToolSpec]:
        """What the model is offered; constant for an agent, so that prompts keep their common beginning."""

    def call(self, name: str, arguments: str) -> str:
        """Runs a tool and returns what the model is told.

        Never raises for what the model did: an unknown name and wrong arguments (`arguments` is whatever the
        model wrote where JSON belongs) are answers too. The same call again has the same effect.
        """


MOST_TOOL_ROUNDS = 4
"""How often a model may call tools for one reply; then it has to answer."""


class Model(Protocol):
    """The language model.

    Raises, from every method:
        ModelUnavailable: Overloaded, rate limited, failing, or slower than the given time.
        ModelRefused: Key wrong, quota used up, model unknown.
        ModelAnswerUnusable: Nothing usable came back, also after one try with more room.
        ContextTooLong: The prompt is larger than the model takes.
    """

    def reply(self, prompt: Prompt, *, seconds: float, tools: Toolbox | None = None) -> ModelReply:
        """Answers the person. `seconds` bounds the whole call, its retries and rounds of tools included.

        With `tools` the model may call them in up to `MOST_TOOL_ROUNDS` rounds, then it answers without.
        """

    def count_tokens(self, prompt: Prompt, *, seconds: float) -> int:
        """The tokens that the service counts for the prompt; nothing is generated."""

    def compact(self, prompt: Prompt, fact_keys: Mapping[str, FactKey], *, seconds: float) -> CompactionAnswer:
        """Asks once for the new summary and the fact changes, as structured output that can only name
        keys of `fact_keys` and `note`.
        """
