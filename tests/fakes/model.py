"""A model that answers from a script, and complains about whatever the script does not foresee."""

import threading
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Self, TypeVar

from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory.records import CompactionAnswer, FactKey, ModelReply, Prompt

Reply = ModelReply | str | AgentError | Callable[[Prompt], ModelReply | str | AgentError]
Compaction = CompactionAnswer | AgentError | Callable[[Prompt], CompactionAnswer | AgentError]
_Answer = TypeVar("_Answer")


class ScriptedModel:
    """Implements `ports.Model`. Safe to share between threads: each call takes the next answer.

    An answer is the record to return, a text (for a reply), an error to raise, or a function of the prompt
    that returns one of those.

    Attributes:
        replies_asked, compactions_asked: The prompts so far, in the order in which the calls came in.
        seconds: The time that each call was given.
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

    def reply(self, prompt: Prompt, *, seconds: float) -> ModelReply:
        """The next reply of the script."""
        with self._lock:
            self.replies_asked.append(prompt)
            self.seconds.append(seconds)
            answer = self._next(self._replies, "reply")
        self._pass_gate()
        answer = answer(prompt) if callable(answer) else answer
        if isinstance(answer, AgentError):
            raise answer
        said = ModelReply(answer) if isinstance(answer, str) else answer
        assert said.text.strip(), "the script answers with nothing, which a model's adapter never does"
        return said

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
