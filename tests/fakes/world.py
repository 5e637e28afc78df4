"""The whole application on fakes: a queue that delivers, turns, compactions, and a clock that tests move."""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from datetime import datetime, timedelta
from typing import Any

from tests.builders import NOW, inbound, profile
from tests.fakes.keeping import FakeArchive, FakeDeadLetters, FakeRecallStore, FakeRetention
from tests.fakes.model import ScriptedModel
from tests.fakes.provider import FakeProvider
from tests.fakes.queues import FakeCompactionQueue, FakeTurnQueue
from tests.fakes.store import FakeConversationStore, FakeDirectory, FakeFactStore, FakeLedger, FakeTables
from tests.fakes.telemetry import RecordingTelemetry
from whatsapp_agent.compaction.compact import CompactionSettings, Compactor
from whatsapp_agent.erasure import Erasure, ErasureParts
from whatsapp_agent.events import Event
from whatsapp_agent.memory.records import AgentProfile, CompactionJob, Message
from whatsapp_agent.turns.activity import Activity
from whatsapp_agent.turns.agents import AgentFinder
from whatsapp_agent.turns.answer import Answerer, ContextLimits
from whatsapp_agent.turns.batch import Batch
from whatsapp_agent.turns.claim import Claimer
from whatsapp_agent.turns.context import ContextReader
from whatsapp_agent.turns.control import ControlEvents
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.group import Group
from whatsapp_agent.turns.outbox import Outbox
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
        model: ScriptedModel,
        *,
        profiles: Mapping[str, AgentProfile] | None = None,
        limits: ContextLimits = LIMITS,
        compact_at: int = 40,
        keep_messages: int = 20,
        forget_on_opt_out: bool = False,
        retention_days: int = 0,
        archive: bool = False,
        max_receive_count: int = 5,
        executor: Executor | None = None,
        provider: FakeProvider | None = None,
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
        finder = AgentFinder(agents, next(iter(agents)), self.directory)
        side_by_side = executor or InlineExecutor()
        reader = ContextReader(self.conversations, self.facts, self.directory, side_by_side, limits.messages)
        self.archive, self.recall = FakeArchive(), FakeRecallStore()
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
        turns = TurnTaker(
            TurnParts(
                reader=reader,
                claimer=Claimer(self.ledger, reader, self.now),
                answerer=Answerer(model, self.ledger, limits, self.telemetry, self.now),
                outbox=Outbox(self.provider, self.ledger, self.conversations, self.telemetry, self.now),
                ledger=self.ledger,
                conversations=self.conversations,
                compaction_queue=self.compaction_queue,
                provider=self.provider,
                telemetry=self.telemetry,
                executor=side_by_side,
                forget=erasure.erase,
                activity=Activity(
                    FakeRetention(self.tables), self.tables.retention_days, self.telemetry, self.now
                ),
            ),
            TurnSettings(limits, compact_at, forget_on_opt_out),
        )
        control = ControlEvents(
            directory=self.directory,
            conversations=self.conversations,
            ledger=self.ledger,
            agents=finder,
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
