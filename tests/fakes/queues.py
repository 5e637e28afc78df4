"""The two FIFO queues in memory, with SQS's rules where a caller can see them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from whatsapp_agent.clock import utc_now
from whatsapp_agent.errors import QueueUnavailable
from whatsapp_agent.events import Event, decode, encode, group_of
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.ports.queues import QueueRecord

DEDUPLICATION = timedelta(minutes=5)


@dataclass
class _Held:
    message_id: str
    group: str
    body: str
    visible_at: datetime
    receive_count: int = 0
    receipt_handle: str = ""


class FakeFifo:
    """One FIFO queue: five minutes of deduplication, a group locked while one of its messages is out."""

    def __init__(
        self, now: Callable[[], datetime] = utc_now, *, visibility_seconds: int = 30, max_receive_count: int = 5
    ) -> None:
        self._now = now
        self._visibility = timedelta(seconds=visibility_seconds)
        self._max_receive_count = max_receive_count
        self._held: list[_Held] = []
        self._seen: dict[tuple[str, str], datetime] = {}
        self._ids = 0
        self.dead: list[str] = []

    def put(self, group: str, dedup: str, body: str) -> None:
        seen = self._seen.get((group, dedup))
        if seen is not None and self._now() - seen < DEDUPLICATION:
            return
        self._ids += 1
        self._seen[group, dedup] = self._now()
        self._held.append(_Held(f"m{self._ids}", group, body, self._now()))

    @property
    def bodies(self) -> list[str]:
        """Everything that is not deleted, in the order in which it was sent."""
        return [held.body for held in self._held]

    def receive(self, most: int = 10) -> list[QueueRecord]:
        """Up to `most` messages, in order; nothing of a group that still has a message out.

        A message that was handed out `max_receive_count` times goes to `dead` instead.
        """
        now = self._now()
        locked = {held.group for held in self._held if held.receipt_handle and held.visible_at > now}
        out: list[QueueRecord] = []
        for held in list(self._held):
            if len(out) == most:
                break
            if held.group in locked:
                continue
            if held.receive_count >= self._max_receive_count:
                self._held.remove(held)
                self.dead.append(held.body)
                continue
            held.receive_count += 1
            held.receipt_handle = f"{held.message_id}.{held.receive_count}"
            held.visible_at = now + self._visibility
            out.append(
                QueueRecord(
                    message_id=held.message_id,
                    receipt_handle=held.receipt_handle,
                    group=held.group,
                    body=held.body,
                    receive_count=held.receive_count,
                    last_attempt=held.receive_count >= self._max_receive_count,
                )
            )
        return out

    def delete(self, receipt_handle: str) -> None:
        self._held = [held for held in self._held if held.receipt_handle != receipt_handle]

    def change_visibility(self, receipt_handle: str, seconds: int) -> None:
        for held in self._held:
            if held.receipt_handle == receipt_handle:
                held.visible_at = self._now() + timedelta(seconds=seconds)


class FakeTurnQueue:
    """`ports.TurnQueue` on a `FakeFifo`. `fail(n)`: the next n sends fail after `queued` of their events."""

    def __init__(self, now: Callable[[], datetime] = utc_now, *, max_receive_count: int = 5) -> None:
        self.fifo = FakeFifo(now, max_receive_count=max_receive_count)
        self.postponed: list[tuple[str, int]] = []
        self._failures: list[int] = []

    @property
    def events(self) -> list[Event]:
        """What is queued, in order."""
        return [decode(body) for body in self.fifo.bodies]

    def fail(self, times: int = 1, *, queued: int = 0) -> None:
        self._failures += [queued] * times

    def send(self, events: Sequence[Event]) -> None:
        most = self._failures.pop(0) if self._failures else len(events)
        for event in events[:most]:
            self.fifo.put(group_of(event), event.event_id, encode(event))
        if most < len(events):
            raise QueueUnavailable(f"{len(events) - most} of {len(events)} events were not queued, as scripted")

    def retry_later(self, receipt_handles: Sequence[str], seconds: int) -> None:
        for handle in receipt_handles:
            self.postponed.append((handle, seconds))
            self.fifo.change_visibility(handle, max(0, min(seconds, 43_200)))


class FakeCompactionQueue:
    """`ports.CompactionQueue` in memory. `fail(n)` makes the next n sends fail."""

    def __init__(self, now: Callable[[], datetime] = utc_now) -> None:
        self.fifo = FakeFifo(now)
        self._jobs: dict[str, CompactionJob] = {}
        self._failures = 0

    @property
    def jobs(self) -> list[CompactionJob]:
        """What is queued, in order."""
        return [self._jobs[body] for body in self.fifo.bodies]

    def job(self, body: str) -> CompactionJob:
        """The job that a received record asks for."""
        return self._jobs[body]

    def fail(self, times: int = 1) -> None:
        self._failures += times

    def send(self, job: CompactionJob) -> None:
        if self._failures:
            self._failures -= 1
            raise QueueUnavailable("the job was not queued, as scripted")
        key = f"{job.conversation}|{job.through_seq}|{job.erased_at or ''}"
        self._jobs[key] = job
        self.fifo.put(job.conversation, key, key)
