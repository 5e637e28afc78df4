"""Inbound queue → turns: one batch, people side by side, each person in order."""

from functools import cache
from typing import Any

from whatsapp_agent.startup import undisturbed

with undisturbed():
    from whatsapp_agent.bootstrap.reply import ReplyFunction, build
    from whatsapp_agent.queues.lambda_event import failed, records
    from whatsapp_agent.turns.deadline import Deadline


@cache
def _function() -> ReplyFunction:
    with undisturbed():
        return build()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Takes the turns of a batch; the answer names the records that the queue must hand out again."""
    function = _function()
    deadline = Deadline(lambda: context.get_remaining_time_in_millis() / 1000)
    try:
        return failed(function.batch.handle(records(event, function.max_receive_count), deadline))
    finally:
        function.telemetry.flush()
