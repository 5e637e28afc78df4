"""The application on fakes, grown to a history of any length by taking its own turns and compactions."""

from datetime import datetime, timedelta
from pathlib import Path

from tests.fakes.world import World
from tools.bench.made_model import MadeModel
from tools.bench.talk import exchange
from whatsapp_agent.agents import load_agents
from whatsapp_agent.memory.records import conversation_key

ROOT = Path(__file__).resolve().parents[2]
AGENT = "companion"
MODEL = "gpt-6-luna"
PERSON = "+34600111222"
CONVERSATION = conversation_key(AGENT, PERSON)
MINUTES = 30
"""Between one turn and the next."""


class Grown:
    """One person's conversation. `turn` takes the next turn, and the compaction that it makes due.

    Args:
        messages: How many messages it has had already.
        ending: When the last of them was answered; by default, the first turn is on a fixed day.
        keep: Whether the model keeps what it is asked.
    """

    def __init__(self, messages: int = 0, *, ending: datetime | None = None, keep: bool = False) -> None:
        self.model = MadeModel(MODEL, lambda _: exchange(self.turns)[1], keep=keep)
        profiles = {AGENT: load_agents(ROOT / "layers" / "agents")[AGENT]}
        self.world = World(self.model, profiles=profiles)
        self.turns = 0
        self.compacted: list[int] = []
        if ending is not None:
            self.world.clock = ending - timedelta(minutes=MINUTES) * (messages // 2)
        self.grow(messages)

    def turn(self) -> None:
        """One message and its answer."""
        self.world.wait(minutes=MINUTES)
        self.world.say(
            f"wamid.HBgLMzQ2MDAx{self.turns:012}", exchange(self.turns)[0], person=PERSON, address=PERSON
        )
        self.world.invoke()
        self.turns += 1
        if self.world.compact():
            self.compacted.append(self.turns)

    def grow(self, messages: int) -> None:
        """Goes on until the person and the agent have exchanged so many messages."""
        while 2 * self.turns < messages:
            self.turn()
