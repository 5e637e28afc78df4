"""Direct invocation → an erasure in the person's queue: `{"person": "+34600111222", "agent": "sales"}`."""

from functools import cache
from typing import Any

from whatsapp_agent.startup import undisturbed

with undisturbed():
    from whatsapp_agent.bootstrap.erase import EraseFunction, build


@cache
def _function() -> EraseFunction:
    with undisturbed():
        return build()


def handler(event: dict[str, Any], _context: Any) -> dict[str, Any]:
    """Queues the erasure; answers `{"queued": true, "id": …}`, or says what is wrong with the request."""
    function = _function()
    try:
        return function.request.handle(event)
    finally:
        function.telemetry.flush()
