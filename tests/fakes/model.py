"""A model that answers from a script, and complains about whatever the script does not foresee."""

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import TracebackType
from typing import Any, Self, TypeVar

from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory.exchange import CompactionAnswer, ModelReply, Prompt
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.records import Usage
from whatsapp_agent.ports.model import MOST_TOOL_ROUNDS, Toolbox


@dataclass(frozen=True)
class UseTools:
    """A round of tools: `(name, arguments)` of each call; arguments that are no text are written as JSON."""

    calls: tuple[tuple[str, Any], ...]
    usage: Usage = Usage()


def use(name: str, arguments: Any = None, **fields: Any) -> UseTools:
    """A round with one call; its arguments as they are, or by name."""
    return UseTools(((name, fields if arguments is None else arguments),))


Reply = ModelReply | str | AgentError | UseTools | Callable[[Prompt], ModelReply | str | AgentError | UseTools]
Compaction = CompactionAnswer | AgentError | Callable[[Prompt], CompactionAnswer | AgentError]
_Answer = TypeVar("_Answer")


class ScriptedModel:
    """Implements `ports.Model`. Safe to share between threads: each call takes the next answer.

    An answer is the record to return, a text (for a reply), an error to raise, or a function of the prompt
    that returns one of those.

    Attributes:
        replies_asked, compactions_asked: The prompts so far, in the order in which the calls came in.
        seconds: The time that each call was given.
        tools_offered: The names of the tools that came with each reply.
        tool_answers: What the tools answered, in order.
        counts: Where set, tells the tokens of a prompt; without it, a count is not foreseen.
        counted: The prompts of which tokens were counted.
        gate: Where set, every call waits for this event (at most `patience` seconds) before it answers.
        waiting: Released once for each call that has come in, so that a test can wait for calls in flight.
    """

    def __init__(
        self,
        replies: Sequence[Reply] = (),
        compactions: Sequence[Compaction] = (),
        *,
        gate: threading.Event | None = None,
        patience: float = 10.0,
    ) -> None:
        self._lock = threading.Lock()
        self._replies = list(replies)
        self._compactions = list(compactions)
        self._unexpected: list[str] = []
        self._patience = patience
        self.gate = gate
        self.waiting = threading.Semaphore(0)
        self.replies_asked: list[Prompt] = []
        self.compactions_asked: list[Prompt] = []
        self.keys_offered: list[tuple[str, ...]] = []
        self.seconds: list[float] = []
        self.tools_offered: list[tuple[str, ...]] = []
        self.tool_answers: list[str] = []
        self.counts: Callable[[Prompt], int] | None = None
        self.counted: list[Prompt] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.assert_done()

    @property
    def calls(self) -> int:
        """How often the model was asked anything."""
        return len(self.replies_asked) + len(self.compactions_asked)

    def will_reply(self, *replies: Reply) -> None:
        """Adds answers to the script."""
        with self._lock:
            self._replies += replies

    def will_compact(self, *answers: Compaction) -> None:
        """Adds compaction answers to the script."""
        with self._lock:
            self._compactions += answers

    def reply(self, prompt: Prompt, *, seconds: float, tools: Toolbox | None = None) -> ModelReply:
        """The next reply of the script, after the rounds of tools that stand before it."""
        with self._lock:
            self.replies_asked.append(prompt)
            self.seconds.append(seconds)
            self.tools_offered.append(tuple(spec.name for spec in tools.specs) if tools else ())
            answer = self._next(self._replies, "reply")
        self._pass_gate()
        answer = answer(prompt) if callable(answer) else answer
        spent, rounds = Usage(), 0
        while isinstance(answer, UseTools):
            assert tools is not None, "the script uses tools, and none were offered"
            assert rounds < MOST_TOOL_ROUNDS, "the script uses tools after the last round"
            rounds += 1
            spent = total(spent, answer.usage)
            for name, arguments in answer.calls:
                written = arguments if isinstance(arguments, str) else json.dumps(arguments)
                self.tool_answers.append(tools.call(name, written))
            with self._lock:
                answer = self._next(self._replies, "reply")
            answer = answer(prompt) if callable(answer) else answer
        if isinstance(answer, AgentError):
            raise answer
        said = ModelReply(answer) if isinstance(answer, str) else answer
        assert said.text.strip(), "the script answers with nothing, which a model's adapter never does"
        return replace(said, usage=total(spent, said.usage), calls=said.calls + rounds)

    def count_tokens(self, prompt: Prompt, *, seconds: float) -> int:
        """What `counts` says."""
        with self._lock:
            self.counted.append(prompt)
            if self.counts is None:
                self._unexpected.append("count_tokens")
                raise AssertionError("count_tokens() was called, which the script does not foresee")
        return self.counts(prompt)

    def compact(self, prompt: Prompt, fact_keys: Mapping[str, FactKey], *, seconds: float) -> CompactionAnswer:
        """The next compaction answer of the script."""
        with self._lock:
            self.compactions_asked.append(prompt)
            self.keys_offered.append(tuple(fact_keys))
            self.seconds.append(seconds)
            answer = self._next(self._compactions, "compact")
        self._pass_gate()
        answer = answer(prompt) if callable(answer) else answer
        if isinstance(answer, AgentError):
            raise answer
        wrong = {change.key for change in answer.changes} - {*fact_keys, "note"}
        assert not wrong, f"the script answers with keys that were not offered: {sorted(wrong)}"
        return answer

    def assert_done(self) -> None:
        """Fails where the script has answers left, or where calls came that it does not foresee.

        The second matters although such a call fails at once: code under test may have caught that.
        """
        left = [f"{len(self._replies)} replies", f"{len(self._compactions)} compactions"]
        assert not self._unexpected, f"calls that the script does not foresee: {self._unexpected}"
        assert not self._replies, f"never asked for: {left[0]}"
        assert not self._compactions, f"never asked for: {left[1]}"

    def _next(self, script: list[_Answer], name: str) -> _Answer:
        if not script:
            self._unexpected.append(name)
            raise AssertionError(f"{name}() was called once more than the script foresees")
        return script.pop(0)

    def _pass_gate(self) -> None:
        self.waiting.release()
        if self.gate is not None and not self.gate.wait(self._patience):
            raise AssertionError("the gate of the scripted model was never opened")


def total(one: Usage, other: Usage) -> Usage:
    """The tokens of both."""
    return Usage(
        one.input_tokens + other.input_tokens,
        one.cached_tokens + other.cached_tokens,
        one.output_tokens + other.output_tokens,
    )
