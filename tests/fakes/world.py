"""The whole application on fakes: a queue that delivers, turns, compactions, and a clock that tests move."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from datetime import datetime, timedelta
from typing import Any

from tests.builders import NOW, inbound, profile
from tests.fakes.keeping import FakeArchive, FakeDeadLetters, FakeRetention
from tests.fakes.media import FakeDocumentReader, FakeSenses
from tests.fakes.provider import FakeProvider
from tests.fakes.queues import FakeCompactionQueue, FakeTurnQueue
from tests.fakes.recall import FakeKnowledgeCatalogue, FakeRecallStore
from tests.fakes.store import FakeConversationStore, FakeDirectory, FakeFactStore, FakeLedger, FakeTables
from tests.fakes.telemetry import RecordingTelemetry
from whatsapp_agent.compaction.compact import CompactionSettings, Compactor
from whatsapp_agent.compaction.episodes import EpisodeKeeper
from whatsapp_agent.erasure import Erasure, ErasureParts
from whatsapp_agent.events import Event
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.memory.records import CompactionJob, Message
from whatsapp_agent.ports.model import Model
from whatsapp_agent.ports.recall import Embedder
from whatsapp_agent.prices import ModelPrice
from whatsapp_agent.turns.activity import Activity
from whatsapp_agent.turns.agents import AgentFinder
from whatsapp_agent.turns.answer import Answerer
from whatsapp_agent.turns.batch import Batch
from whatsapp_agent.turns.claim import Claimer
from whatsapp_agent.turns.context import ContextReader
from whatsapp_agent.turns.control import ControlEvents
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.delivery import Delivery
from whatsapp_agent.turns.fact_tools import FactTools
from whatsapp_agent.turns.farewell import Farewell
from whatsapp_agent.turns.fitting import ContextLimits
from whatsapp_agent.turns.group import Group
from whatsapp_agent.turns.intake import Intake
from whatsapp_agent.turns.knowledge import Knowledge
from whatsapp_agent.turns.knowledge_tools import KnowledgeTools
from whatsapp_agent.turns.outbox import Outbox
from whatsapp_agent.turns.owner import OwnerMessages
from whatsapp_agent.turns.recall import Recaller
from whatsapp_agent.turns.to_text import ToText
from whatsapp_agent.turns.tools import maker
from whatsapp_agent.turns.turn import TurnParts, TurnSettings, TurnTaker

LIMITS = ContextLimits(chars=12_000, messages=60)


class InlineExecutor(Executor):
    """Runs what it is given at once, in the caller's thread: tests see one order of things."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001 - a future keeps whatever its work raised
            future.set_exception(error)
        return future


class World:
    """One deployment. `arrive` queues events, `run` lets the reply function work until nothing is visible.

    Attributes:
        clock: The time everything here goes by.
        remaining: Seconds that an invocation has left.
    """

    def __init__(
        self,
        model: Model,
        *,
        profiles: Mapping[str, AgentProfile] | None = None,
        limits: ContextLimits = LIMITS,
        compact_at: int = 40,
        keep_messages: int = 20,
        forget_on_opt_out: bool = False,
        retention_days: int = 0,
        archive: bool = False,
        price: ModelPrice | None = None,
        max_receive_count: int = 5,
        executor: Executor | None = None,
        provider: FakeProvider | None = None,
        embedder: Embedder | None = None,
        provider_window: timedelta | None = None,
        episode_days: int = 0,
    ) -> None:
        self.clock = NOW
        self.remaining = 80.0
        self.model = model
        self.telemetry = RecordingTelemetry()
        self.tables = FakeTables(self.now, retention_days)
        self.ledger = FakeLedger(self.tables)
        self.conversations = FakeConversationStore(self.tables)
        self.facts = FakeFactStore(self.tables)
        self.directory = FakeDirectory(self.tables)
        self.provider = provider or FakeProvider()
        self.queue = FakeTurnQueue(self.now, max_receive_count=max_receive_count)
        self.compaction_queue = FakeCompactionQueue(self.now)
        agents = dict(profiles or {"sales": profile()})
        finder = AgentFinder(agents, next(iter(agents)), self.directory, self.conversations)
        side_by_side = executor or InlineExecutor()
        reader = ContextReader(self.conversations, self.facts, self.directory, side_by_side, limits.messages)
        self.archive, self.recall = FakeArchive(), FakeRecallStore(self.now, self.tables)
        self.catalogue = FakeKnowledgeCatalogue()
        recaller = Recaller(
            self.recall,
            Knowledge(self.recall, self.catalogue, self.telemetry, self.now),
            embedder,
            side_by_side,
            self.telemetry,
            episodes=episode_days > 0,
        )
        erasure = Erasure(
            ErasureParts(
                conversations=self.conversations,
                facts=self.facts,
                recall=self.recall,
                directory=self.directory,
                dead_letters=FakeDeadLetters(self.queue, self.compaction_queue),
                compaction_queue=self.compaction_queue,
                agents=tuple(agents),
            ),
            self.telemetry,
            self.now,
        )
        self.senses, self.documents = FakeSenses(), FakeDocumentReader()
        claimer = Claimer(self.ledger, self.conversations, reader, self.now)
        outbox = Outbox(
            self.provider, self.ledger, self.conversations, self.telemetry, self.now, window=provider_window
        )
        to_text = ToText(self.provider, self.senses, self.documents, side_by_side, self.telemetry)
        turns = TurnTaker(
            TurnParts(
                reader=reader,
                claimer=claimer,
                answerer=Answerer(
                    model,
                    self.ledger,
                    limits,
                    self.telemetry,
                    self.now,
                    embedder=embedder,
                    price=price,
                    tools=maker(
                        [FactTools(self.facts, self.telemetry, self.now), KnowledgeTools(recaller)],
                        self.telemetry,
                    ),
                ),
                outbox=outbox,
                delivery=Delivery(
                    outbox=outbox,
                    ledger=self.ledger,
                    conversations=self.conversations,
                    executor=side_by_side,
                    telemetry=self.telemetry,
                    now=self.now,
                ),
                ledger=self.ledger,
                conversations=self.conversations,
                compaction_queue=self.compaction_queue,
                provider=self.provider,
                telemetry=self.telemetry,
                executor=side_by_side,
                farewell=Farewell(
                    erasure.erase,
                    outbox,
                    self.telemetry,
                    erased_at=self.directory.erased_at,
                    forget_on_opt_out=forget_on_opt_out,
                ),
                intake=Intake(self.ledger, to_text, self.telemetry, self.now),
                activity=Activity(
                    FakeRetention(self.tables), self.tables.retention_days, self.telemetry, self.now
                ),
                recaller=recaller,
            ),
            TurnSettings(limits, compact_at),
        )
        control = ControlEvents(
            directory=self.directory,
            conversations=self.conversations,
            ledger=self.ledger,
            agents=finder,
            owner=OwnerMessages(
                agents=finder,
                reader=reader,
                claimer=claimer,
                conversations=self.conversations,
                telemetry=self.telemetry,
                now=self.now,
            ),
            erase=erasure.erase,
            telemetry=self.telemetry,
            now=self.now,
        )
        self.batch = Batch(
            Group(turns, control, finder, self.telemetry), self.queue, side_by_side, self.telemetry
        )
        self.compactor = Compactor(
            conversations=self.conversations,
            facts=self.facts,
            model=model,
            profiles=agents,
            settings=CompactionSettings(keep_messages, limits.chars, limits.messages),
            telemetry=self.telemetry,
            now=self.now,
            recall=self.recall,
            archive=self.archive if archive else None,
            episodes=EpisodeKeeper(
                self.recall,
                embedder,
                self.telemetry,
                days=episode_days,
                retention_days=self.tables.retention_days,
            )
            if episode_days
            else None,
        )

    def now(self) -> datetime:
        return self.clock

    def wait(self, **span: float) -> None:
        self.clock += timedelta(**span)

    def arrive(self, *events: Event) -> None:
        self.queue.send(events)

    def say(self, event_id: str, text: str, **changes: Any) -> None:
        """A message that was sent and received now."""
        self.arrive(inbound(event_id, text, sent_at=self.clock, received_at=self.clock, **changes))

    def invoke(self) -> list[str]:
        """One invocation of the reply function; returns the ids of the records that it gave back."""
        records = self.queue.fifo.receive()
        failed = self.batch.handle(records, Deadline(lambda: self.remaining)) if records else []
        for record in records:
            if record.message_id not in failed:
                self.queue.fifo.delete(record.receipt_handle)
        return failed

    def run(self, *, hours: float = 3) -> None:
        """Invocations until the queue is empty or `hours` have passed; waits out every pause."""
        until = self.clock + timedelta(hours=hours)
        while self.queue.fifo.bodies and self.clock < until:
            self.invoke()
            if self.queue.fifo.bodies:
                self.wait(seconds=5)

    def compact(self) -> list[CompactionJob]:
        """Runs the compaction jobs that are queued; returns them."""
        records = self.compaction_queue.fifo.receive()
        jobs = [self.compaction_queue.job(record.body) for record in records]
        for record, job in zip(records, jobs, strict=True):
            self.compactor.compact(job, seconds=60)
            self.compaction_queue.fifo.delete(record.receipt_handle)
        return jobs

    def messages(self, conversation: str) -> list[Message]:
        return self.conversations.messages_after(conversation, 0, 10_000)
