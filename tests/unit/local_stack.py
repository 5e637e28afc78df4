"""Builder for the description of a local stack."""

from dataclasses import replace
from typing import Any

from tools.local.state import StackInfo


def a_stack(gateway_url: str = "http://127.0.0.1:9", **changes: Any) -> StackInfo:
    """The description of a running stack, with a default for everything."""
    info = StackInfo(
        id="one",
        pid=1,
        provider="whasp",
        agent_id="companion",
        number="+15550100",
        gateway_url=gateway_url,
        webhook_url=f"{gateway_url}/webhooks/whasp",
        endpoint="http://127.0.0.1:1",
        region="us-east-1",
        provider_url="http://127.0.0.1:2",
        model_url="",
        function_url="https://abc.lambda-url.us-east-1.on.aws/",
        outputs={"MessagesTable": "messages"},
        resources={},
        secrets={"webhook_secret": "whsec_x"},
        logs="logs",
    )
    return replace(info, **changes)
