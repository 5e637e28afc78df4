"""What may be written to logs and metrics, and how the rest is masked."""

import hashlib
import re

FIELDS = frozenset(
    {
        "added", "age_seconds", "agent", "attempt", "attempts", "batch", "bytes", "cached_tokens", "calls",
        "cause", "changes", "chars", "code", "compacted", "compaction", "conversation", "count", "covered",
        "deleted", "dropped", "error", "event", "event_id", "events", "facts", "failures", "from_state",
        "function",
        "groups", "ignored", "input_tokens", "items", "kind", "known", "last_attempt", "latency_ms",
        "limit", "message_id", "messages", "method", "model", "ms", "operation", "output_tokens", "parts",
        "path", "person", "place", "provider", "provider_id", "queue", "reason", "receive_count", "records",
        "remaining_seconds", "removed", "request_id", "result", "retries", "retry_after", "reused", "role",
        "round_trips", "seconds", "seq", "service", "size", "slices", "stage", "state", "status", "step",
        "table", "through_seq", "tokens", "tool", "trigger", "truncated", "turns", "version",
    }
)  # fmt: skip
"""Names that a log line or a metric's dimension may have. None of them is for what somebody said or for an
address; a name that is not here is left out of the line and named in `dropped_fields`.
"""

HASHED = frozenset({"conversation", "person"})
"""Names whose value is replaced by its keyed hash."""

_LIMIT = 300

# A wamid is base64 over bytes that hold the person's phone number: it is replaced as a whole.
_WAMID = re.compile(r"wamid\.[A-Za-z0-9+/=_-]+")
_USER_ID = re.compile(r"\b[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{6,128}\b")
_SECRET = re.compile(
    r"\b(?:sk|pk|rk|whsec|xox[abp]|EAA|AKIA|ASIA)[-_A-Za-z0-9+/=]{8,}|\bBearer\s+\S+|\beyJ[\w-]{8,}\.[\w.-]+"
)
_DATE = r"\d{4}-\d{2}-\d{2}(?!\d)"
_PHONE = re.compile(rf"(?<![\w.])(?!{_DATE})\+?\d(?:[\s().\-]{{0,2}}\d){{6,}}(?!\w)|(?<=[#+])\d{{7,}}")


def redact(text: str) -> str:
    """The text without phone numbers, user ids, message ids that contain a number, and secrets; one line
    of at most 300 characters. A net under the field names, not a licence to log what somebody said.
    """
    text = _WAMID.sub(lambda match: f"wamid:{hashlib.sha256(match[0].encode()).hexdigest()[:12]}", text)
    text = _SECRET.sub("[secret]", text)
    text = _USER_ID.sub("[user]", text)
    text = _PHONE.sub("[number]", text)
    return " ".join(text.split())[:_LIMIT]
