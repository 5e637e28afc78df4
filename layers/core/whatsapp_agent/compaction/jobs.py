"""A batch of compaction jobs, and which of them the queue must keep."""

from collections.abc import Callable, Sequence

from whatsapp_agent.compaction.compact import Compactor
from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.ports.queues import QueueRecord
from whatsapp_agent.telemetry import Telemetry

COMMIT_RESERVE = 20.0
"""Seconds of the invocation kept back for the commit and the deletion."""


class CompactionJobs:
    """Runs jobs one after another."""

    def __init__(
        self, compactor: Compactor, decode: Callable[[str], CompactionJob], telemetry: Telemetry
    ) -> None:
        self._compactor = compactor
        self._decode = decode
        self._telemetry = telemetry

    def handle(self, records: Sequence[QueueRecord], remaining: Callable[[], float]) -> list[str]:
        """Returns the queue's ids of the jobs that failed; nothing that they were to compact is lost."""
        return [record.message_id for record in records if not self._run(record, remaining)]

    def _run(self, record: QueueRecord, remaining: Callable[[], float]) -> bool:
        try:
            job = self._decode(record.body)
        except InvalidPayload:
            self._telemetry.count("UnreadableRecord")
            self._telemetry.error("record_unreadable")
            return False
        try:
            self._compactor.compact(job, seconds=max(1.0, remaining() - COMMIT_RESERVE))
        except Exception as error:  # noqa: BLE001 - whatever it was, messages and summary stand as they were
            self._telemetry.count("CompactionFailed", reason=type(error).__name__)
            self._telemetry.error("compaction_failed", error=type(error).__name__)
            return False
        return True
