"""What the page looks at and steers: the deployment, as `operate` opens it, and the two simulators."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.local.errors import LocalError
from tools.local.state import StackInfo
from tools.local.talk import Talk
from tools.operate.deployment import Deployment, connect
from tools.operate.metrics import NoFigures
from tools.operate.target import Options, find_target
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.memory.window import Budget
from whatsapp_agent.phones import canonical
from whatsapp_agent.prices import ModelPrice, model_price


@dataclass(frozen=True, slots=True)
class Connection:
    """A running stack.

    Attributes:
        parameters: What the template was deployed with.
        sqs: A client for the figures that no port gives: how many messages a queue holds back, and the time
            after which it hands a message out again.
    """

    info: StackInfo
    talk: Talk
    deployment: Deployment
    parameters: dict[str, str]
    sqs: Any

    @property
    def profile(self) -> AgentProfile:
        """The agent that answers."""
        return self.deployment.profiles[self.deployment.agent_id]

    @property
    def budget(self) -> Budget:
        """How much of a conversation a prompt shows."""
        return Budget(self._number("ContextChars", 12_000), self._number("ContextMessages", 60))

    @property
    def compact_at(self) -> int:
        return self._number("CompactAt", 40)

    @property
    def keep_messages(self) -> int:
        return self._number("KeepMessages", 20)

    @property
    def burst_seconds(self) -> int:
        return self._number("BurstSeconds", 2)

    def price(self, *, memory: bool = False) -> ModelPrice | None:
        """What the model costs; None for one that is not in the list."""
        return model_price(self.deployment.models["memory" if memory else "reply"])

    def conversation(self, phone: str) -> str:
        """The key of a person's conversation, other addresses of theirs followed.

        Raises:
            LocalError: That is no phone number.
        """
        try:
            key = canonical(phone)
        except ValueError as error:
            raise LocalError(f"{phone!r} is {error}") from error
        person = self.deployment.directory.resolve("", key).person
        return conversation_key(self.deployment.agent_id, person)

    def _number(self, name: str, default: int) -> int:
        text = self.parameters.get(name, "")
        return int(text) if text.isdecimal() else default


def connection_to(info: StackInfo, state: Path) -> Connection:
    """Opens the stack that runs with this folder, with the composition of `operate`."""
    target = find_target(Options(state=state))
    return Connection(
        info=info,
        talk=Talk(info),
        deployment=connect(target, NoFigures()),
        parameters=dict(target.parameters),
        sqs=target.client("sqs"),
    )
