"""Signs a webhook request as the provider does, to be sent by hand."""

import shlex
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from tools.local.simulated_provider import meta, whasp
from tools.local.simulated_provider.state import iso
from tools.local.state import StackInfo


def signed_request(info: StackInfo, person: str, text: str) -> tuple[bytes, dict[str, str]]:
    """Body and headers of a text message for the stack's provider."""
    now, unique, secret = datetime.now(UTC), uuid4().hex[:12], info.secrets["webhook_secret"]
    if info.provider == meta.NAME:
        message: dict[str, Any] = {
            "id": f"wamid.{unique}",
            "timestamp": str(int(now.timestamp())),
            "type": "text",
            "text": {"body": text},
        }
        entry = meta.received(message=message, person=person, contact_name="")
        body = meta.body_of(meta.envelope(info.number, [entry]))
        signature = meta.signature_headers(secret, body)
    else:
        message = {"id": f"msg_{unique}", "type": "text", "sent_at": iso(now), "text": text, "reply_to": None}
        event = whasp.message_received(
            event_id=f"evt_{unique}",
            message=message,
            person=person,
            number=info.number,
            created_at=iso(now),
            label="",
            contact_name="",
        )
        body = whasp.body_of(event)
        signature = whasp.signature_headers(secret, event["id"], body, now)
    return body, {"Content-Type": "application/json", **signature}


def curl(url: str, body: bytes, headers: Mapping[str, str]) -> str:
    """A command line that sends the request, ready to paste into a shell."""
    parts = ["curl", "-sS", "-i", url]
    for name, value in headers.items():
        parts += ["-H", f"{name}: {value}"]
    parts += ["--data-binary", body.decode()]
    return " ".join(map(shlex.quote, parts))
