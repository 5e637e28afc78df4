"""Function URL: takes the provider's webhooks in."""

from functools import cache
from typing import Any

from whatsapp_agent.startup import undisturbed

with undisturbed():
    from whatsapp_agent.bootstrap.ingest import IngestFunction, build
    from whatsapp_agent.function_url import request_of, response_of


@cache
def _function() -> IngestFunction:
    """Built on the first invocation and kept; one that failed is built again."""
    with undisturbed():
        return build()


def handler(event: dict[str, Any], _context: object) -> dict[str, Any]:
    """Answers one HTTP request."""
    function = _function()
    try:
        return response_of(function.ingest.handle(request_of(event)))
    finally:
        function.telemetry.flush()
