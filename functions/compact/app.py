"""Compaction queue → compaction: one conversation at a time."""

from functools import cache
from typing import Any

from whatsapp_agent.startup import undisturbed

with undisturbed():
    from whatsapp_agent.bootstrap.compact import CompactFunction, build
    from whatsapp_agent.queues.lambda_event import failed, records


@cache
def _function() -> CompactFunction:
    with undisturbed():
        return build()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Compacts what the batch asks for; the answer names the jobs that the queue must hand out again."""
    function = _function()
    try:
        jobs = records(event)
        return failed(function.jobs.handle(jobs, lambda: context.get_remaining_time_in_millis() / 1000))
    finally:
        function.telemetry.flush()
