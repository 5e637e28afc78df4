"""The same talk in what others offer for DynamoDB: LangChain's chat history and LangGraph's checkpoints.

Each does what its documentation shows for a turn: read what there is, add the person's message and the answer.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import boto3
from langchain_community.chat_message_histories import DynamoDBChatMessageHistory
from langchain_core.messages import AIMessage, HumanMessage
from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph_checkpoint_aws import DynamoDBSaver

from tests.contracts.units import Meter
from tools.bench.talk import exchange

if TYPE_CHECKING:
    from tools.bench.deployment import Deployment

ITEM_LIMIT = 400 * 1024
HELD_UP = 0.06
_LONGEST = 20_000


class Peer(ABC):
    """One of them, on a table of its own."""

    name: str
    package: str
    keys: tuple[str, ...]

    def __init__(self, deployed: "Deployment") -> None:
        self.dynamodb = deployed.dynamodb
        self.session = boto3.Session()
        self.meter = Meter(self.session, delay=HELD_UP, looking=deployed.dynamodb)
        self.table = f"peer-{uuid4().hex[:8]}"
        self.dynamodb.create_table(
            TableName=self.table,
            KeySchema=[
                {"AttributeName": key, "KeyType": kind}
                for key, kind in zip(self.keys, ("HASH", "RANGE"), strict=False)
            ],
            AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in self.keys],
            BillingMode="PAY_PER_REQUEST",
        )

    @abstractmethod
    def fill(self, messages: int) -> None:
        """Begins a conversation anew with so many messages."""

    @abstractmethod
    def turn(self, number: int) -> None:
        """Reads what there is, and adds the person's message and the answer."""


class ChatHistory(Peer):
    """LangChain's DynamoDBChatMessageHistory: one item holds the whole talk."""

    name = "LangChain DynamoDBChatMessageHistory"
    package = "langchain-community"
    keys = ("SessionId",)

    def fill(self, messages: int) -> None:
        self._history = DynamoDBChatMessageHistory(self.table, uuid4().hex, boto3_session=self.session)
        pairs = [self._pair(number) for number in range(messages // 2)]
        self._history.add_messages([message for pair in pairs for message in pair])

    def turn(self, number: int) -> None:
        assert self._history.messages
        self._history.add_messages(self._pair(number))

    def _pair(self, number: int) -> list[Any]:
        said, replied = exchange(number)
        return [HumanMessage(content=said), AIMessage(content=replied)]


class Checkpoints(Peer):
    """LangGraph's DynamoDBSaver under a graph of one node: two checkpoints a turn, each with all of it."""

    name = "LangGraph DynamoDBSaver"
    package = "langgraph-checkpoint-aws"
    keys = ("PK", "SK")

    def __init__(self, deployed: "Deployment") -> None:
        super().__init__(deployed)
        self._number = 0
        saver = DynamoDBSaver(self.table, session=self.session)
        graph = StateGraph(MessagesState)
        graph.add_node("answer", lambda _: {"messages": [("ai", exchange(self._number)[1])]})
        graph.add_edge(START, "answer")
        graph.add_edge("answer", END)
        self._graph: Any = graph.compile(checkpointer=saver)

    def fill(self, messages: int) -> None:
        self._thread = {"configurable": {"thread_id": uuid4().hex}}
        pairs = [exchange(number) for number in range(messages // 2)]
        talk = [said for one, other in pairs for said in (("human", one), ("ai", other))]
        self._graph.update_state(self._thread, {"messages": talk}, as_node="answer")

    def turn(self, number: int) -> None:
        self._number = number
        self._graph.invoke({"messages": [("human", exchange(number)[0])]}, self._thread)


_BEYOND = {
    ChatHistory.name: "`history_size` drops older ones instead, and nothing stands for them then",
    Checkpoints.name: "with a bucket given, larger checkpoints go to S3",
}
# They write down each refusal, which is what is looked for here.
logging.getLogger("langgraph_checkpoint_aws").setLevel(logging.CRITICAL)

PEERS: tuple[type[Peer], ...] = (ChatHistory, Checkpoints)


def measure(deployed: "Deployment", histories: Sequence[int]) -> dict[str, Any]:
    """One turn of each peer at each history, and the longest history that it can keep at all."""
    found: dict[str, Any] = {}
    for kind in PEERS:
        peer = kind(deployed)
        found[kind.name] = {
            "package": f"{kind.package} {version(kind.package)}",
            "histories": {str(history): _turn(peer, history) for history in histories},
            "longest_history_messages": _longest(peer),
        }
    return found


def _turn(peer: Peer, history: int) -> dict[str, Any]:
    if not _fits(lambda: peer.fill(history)):
        return {"broken": True}
    peer.meter.reset()
    if not _fits(lambda: peer.turn(history // 2)):
        return {"broken": True}
    made = peer.meter.made
    return {
        "calls": len(made),
        "chain": peer.meter.longest_chain(),
        "request_bytes": sum(call.request_bytes for call in made),
        "response_bytes": sum(call.response_bytes for call in made),
        "read_units": peer.meter.units["read"],
        "write_units": peer.meter.units["write"],
    }


def _longest(peer: Peer) -> int:
    """By halving; in steps of two messages, which are one exchange."""
    fits, breaks = 2, _LONGEST
    while breaks - fits > 2:
        middle = (fits + breaks) // 4 * 2
        if _fits(lambda: peer.fill(middle)):  # noqa: B023 - called at once
            fits = middle
        else:
            breaks = middle
    return fits


def _fits(write: Callable[[], None]) -> bool:
    """Whether the emulator, which holds DynamoDB's limit of 400 KB, takes it."""
    try:
        write()
    except Exception as error:
        if "maximum allowed size" in str(error):
            return False
        raise
    return True


def page(figures: Mapping[str, Any]) -> str:
    """The table beside ours."""
    lines = [
        "The same messages in what others offer for DynamoDB, one turn on the same emulator:",
        "",
        "| | messages before | calls | round trips | bytes sent | bytes received | read units | write units |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for name, peer in figures.items():
        for history, row in peer["histories"].items():
            if row.get("broken"):
                lines.append(f"| {name} | {int(history):,} | refused: an item would be over 400 KB | | | | | |")
                continue
            lines.append(
                f"| {name} | {int(history):,} | {row['calls']} | {row['chain']} | {row['request_bytes']:,} "
                f"| {row['response_bytes']:,} | {row['read_units']:,.1f} | {row['write_units']:,.0f} |"
            )
    lines += ["", *(_ends(name, peer) for name, peer in figures.items())]
    return "\n".join(lines)


def _ends(name: str, peer: Mapping[str, Any]) -> str:
    most = f"{peer['longest_history_messages']:,}"
    return (
        f"- {name} ({peer['package']}) keeps at most {most} of these messages at its defaults; {_BEYOND[name]}."
    )
