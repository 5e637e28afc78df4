"""Fits the window to a budget in tokens: estimated, and counted by the service where the estimate is close."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory import window
from whatsapp_agent.memory.prompt import talk_prompt
from whatsapp_agent.memory.records import Message
from whatsapp_agent.ports.model import Model
from whatsapp_agent.telemetry import Telemetry

NEAR = 0.9
"""Share of the limit from which on an estimate is not good enough."""

MOST_COUNTS = 3
"""Round trips that counting may cost a reply."""

MOST_SECONDS = 3.0
"""Of each count."""


@dataclass(frozen=True, slots=True)
class ContextLimits:
    """How much of a conversation the model sees: characters and messages; with `tokens` > 0 those tokens of
    messages instead of the characters.
    """

    chars: int
    messages: int
    tokens: int = 0

    def shared(self, share: int) -> "ContextLimits":
        """A part of the limits: half of them for a share of 2."""
        return ContextLimits(self.chars // share, self.messages // share, self.tokens // share)


class Fitter:
    """Chooses the window of a prompt."""

    def __init__(self, model: Model, telemetry: Telemetry) -> None:
        self._model = model
        self._telemetry = telemetry

    def fit(self, messages: Sequence[Message], limits: ContextLimits) -> list[Message]:
        """The newest messages that the limits hold.

        With a limit in tokens the window is counted by the model's service when it may be within a tenth of
        the limit, and shrunk until it fits. A service that cannot count leaves a margin of a tenth instead.
        """
        budget = window.budget_for(limits.chars, limits.messages, limits.tokens, messages)
        chosen = window.choose(messages, budget)
        if limits.tokens <= 0:
            return chosen
        for _ in range(MOST_COUNTS):
            if window.tokens_at_most(chosen, messages) < NEAR * limits.tokens:
                return chosen
            try:
                counted = self._model.count_tokens(talk_prompt(chosen), seconds=MOST_SECONDS)
            except AgentError as error:
                self._telemetry.count("TokenCountFailed", reason=type(error).__name__)
                return window.choose(messages, _times(budget, NEAR))
            self._telemetry.count("TokensCounted")
            if counted <= limits.tokens:
                return chosen
            budget = _times(window.filled(chosen, budget), NEAR * limits.tokens / counted)
            chosen = window.choose(messages, budget)
        return chosen


def _times(budget: window.Budget, factor: float) -> window.Budget:
    return replace(budget, chars=max(1, int(budget.chars * factor)))
