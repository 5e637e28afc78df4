"""A model that says exactly what it saw, so that a test can tell what reached whom."""

from collections.abc import Callable, Mapping

from tests.faults.services import tokens
from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory.exchange import CompactionAnswer, ModelReply, Prompt
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.records import FactChange
from whatsapp_agent.ports.model import Toolbox


class FaithfulModel:
    """Implements `ports.Model`. A reply names the tokens of the new messages; a summary names every token that
    it stands for; each compacted message of the person becomes a fact.

    Attributes:
        errors: What the next calls raise, one each.
        watch: Is told each prompt before it is answered, and whether it asks for a reply.
    """

    def __init__(self) -> None:
        self.errors: list[AgentError] = []
        self.watch: Callable[[Prompt, bool], None] = lambda _prompt, _replying: None

    def reply(self, prompt: Prompt, *, seconds: float, tools: Toolbox | None = None) -> ModelReply:
        self._called(prompt, replying=True)
        return ModelReply(f"You said {named(new_tokens(prompt))}.")

    def count_tokens(self, prompt: Prompt, *, seconds: float) -> int:
        return prompt.chars // 4

    def compact(self, prompt: Prompt, fact_keys: Mapping[str, FactKey], *, seconds: float) -> CompactionAnswer:
        self._called(prompt, replying=False)
        said = [
            (int(line[1 : line.index("]")]), tokens(line))
            for item in prompt.items
            if item.kind == "new"
            for line in item.text.splitlines()
            if " user: " in line
        ]
        earlier = frozenset[str]().union(
            *(tokens(item.text) for item in prompt.items if item.kind == "summary")
        )
        summary = earlier.union(*(words for _, words in said))
        changes = [FactChange("set", "note", f"likes {named(words)}", evidence_seq=seq) for seq, words in said]
        return CompactionAnswer(f"They said {named(summary)}.", tuple(changes))

    def _called(self, prompt: Prompt, *, replying: bool) -> None:
        self.watch(prompt, replying)
        if self.errors:
            raise self.errors.pop(0)


def new_tokens(prompt: Prompt) -> frozenset[str]:
    """The tokens of what is to be answered."""
    return frozenset[str]().union(*(tokens(item.text) for item in prompt.items if item.kind == "new"))


def prompt_tokens(prompt: Prompt) -> frozenset[str]:
    """Every token that the model sees."""
    return tokens(prompt.instructions).union(*(tokens(item.text) for item in prompt.items))


def named(words: frozenset[str]) -> str:
    return " ".join(sorted(words, key=lambda word: int(word.removeprefix("tok")))) or "nothing"
