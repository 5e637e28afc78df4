"""One batch of the inbound queue: people side by side, each person in order."""

from collections.abc import Sequence
from concurrent.futures import Executor

from whatsapp_agent.ports.queues import QueueRecord, TurnQueue
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns.deadline import Deadline
from whatsapp_agent.turns.group import Group
from whatsapp_agent.turns.received import Failure

FIRST_PAUSE = 5
"""Seconds before the first retry of a failed record; each further retry waits three times as long."""

LONGEST_PAUSE = 900


class Batch:
    """Runs the groups of a batch concurrently and says which records the queue must keep."""

    def __init__(self, group: Group, queue: TurnQueue, executor: Executor, telemetry: Telemetry) -> None:
        self._group = group
        self._queue = queue
        self._executor = executor
        self._telemetry = telemetry

    def handle(self, records: Sequence[QueueRecord], deadline: Deadline) -> list[str]:
        """Handles every record; never raises for one of them.

        Returns:
            The queue's ids of the records that are to be handed out again, after a pause that grows with
            each attempt. Nobody's failure returns somebody else's records.
        """
        groups: dict[str, list[QueueRecord]] = {}
        for record in records:
            groups.setdefault(record.group, []).append(record)
        runs = [self._executor.submit(self._run, group, deadline) for group in groups.values()]
        return [message_id for run in runs for message_id in run.result()]

    def _run(self, records: Sequence[QueueRecord], deadline: Deadline) -> list[str]:
        try:
            failures = self._group.handle(records, deadline)
        except Exception as error:  # noqa: BLE001 - a defect met by one person must not fail the others
            self._telemetry.error("group_failed", error=type(error).__name__)
            failures = [Failure(record) for record in records]
        if failures:
            self._telemetry.count("RecordFailed", len(failures))
            handles = [failure.record.receipt_handle for failure in failures]
            self._queue.retry_later(handles, pause(failures))
        return [failure.record.message_id for failure in failures]


def pause(failures: Sequence[Failure]) -> int:
    """Seconds until the records of one group are handed out again: 5, 15, 45, …, at most 900.

    A longer wait that an outside system asked for is kept. A record on its last attempt is released at
    once: the queue moves it away only when it is asked for again, and others may be waiting behind it.
    """
    if all(failure.record.last_attempt for failure in failures):
        return 0
    attempts = max(failure.record.receive_count for failure in failures)
    asked = max((failure.retry_after or 0) for failure in failures)
    return int(min(LONGEST_PAUSE, max(FIRST_PAUSE * 3 ** min(attempts - 1, 6), asked)))
