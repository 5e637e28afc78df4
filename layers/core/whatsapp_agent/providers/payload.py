"""Reads payloads of any shape: a wrong type is an empty value, never an exception."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from whatsapp_agent.clock import from_epoch, from_iso
from whatsapp_agent.errors import InvalidPayload
from whatsapp_agent.events import Event
from whatsapp_agent.memory.quoting import is_blank
from whatsapp_agent.ports.provider import Delivery

TEXT_LIMIT = 60_000
"""Characters of one message. WhatsApp's own limit for a text is far below (4,096 when sent through the
Cloud API, 65,536 in the app); the rest of a longer one is cut, visibly.
"""

CUT_MARK = " […]"

_ID = re.compile(r"[!-~]{1,256}")
_EARLIEST = datetime(2009, 1, 1, tzinfo=UTC)
"""WhatsApp was founded in 2009: an earlier time is no time."""

# What JSON can hold and an SQS message or a DynamoDB item cannot, and control characters.
_UNSTORABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufdd0-\ufdef\ufffe\uffff]")
_SURROGATE = re.compile("[\ud800-\udfff]")
_MOST_NAMES = 20
_READ_ERRORS = (TypeError, ValueError, KeyError, AttributeError, LookupError, ArithmeticError, RecursionError)


def read_json(body: bytes) -> Any:
    """The JSON value in `body`.

    Raises:
        InvalidPayload: It is no JSON, is nested too deeply, or holds a number of thousands of digits.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        # Not chained: the cause quotes the body.
        raise InvalidPayload("the webhook's body is no JSON that can be read") from None


def object_of(value: Any) -> dict[str, Any]:
    """The value where it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def items_of(value: Any) -> list[Any]:
    """The value where it is a JSON array, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any, limit: int = TEXT_LIMIT) -> str:
    """A text, storable and of at most `limit` characters; a whole number as its digits."""
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**20:
        return str(value)
    if not isinstance(value, str):
        return ""
    text = _SURROGATE.sub("\ufffd", _UNSTORABLE.sub("", value))
    return text if len(text) <= limit else text[: limit - len(CUT_MARK)] + CUT_MARK


def line_of(value: Any, limit: int = 200) -> str:
    """A text on one line, without blanks around it; empty where nothing of it can be seen."""
    text = " ".join(text_of(value, limit).split())
    return "" if is_blank(text) else text


def id_of(value: Any) -> str:
    """A provider's id: printable ASCII, at most 256 characters; anything else is no id and empty."""
    text = text_of(value).strip()
    return text if _ID.fullmatch(text) else ""


def event_id_of(value: Any, payload: Any) -> str:
    """The provider's id of an event, or where it gives none that can be used, a hash of the payload: the
    same for every retry of the delivery.
    """
    if identifier := id_of(value):
        return identifier
    canonical = json.dumps(payload, sort_keys=True, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(canonical.encode()).hexdigest()


def name_of(value: Any) -> str:
    """A type's name, safe to log and to count by: lower-case letters, digits, `.` and `_`."""
    text = value.lower() if isinstance(value, str) else ""
    return text if re.fullmatch(r"[a-z][a-z0-9_.]{0,39}", text) else "unnamed"


def code_of(value: Any) -> str:
    """An error's code, safe to log and to count by."""
    text = text_of(value, 64)
    return text if re.fullmatch(r"[A-Za-z0-9_.-]+", text) else ""


def moment_of(value: Any, default: datetime) -> datetime:
    """A time as ISO 8601 text or Unix seconds, never after `default`, which stands in for an impossible one.

    `default` is the time of receipt: nothing was sent after it, whatever the sender's clock says.
    """
    try:
        text = text_of(value, 40)
        moment = from_epoch(int(text)) if text.isascii() and text.isdigit() else from_iso(text)
    except (ValueError, OverflowError, OSError):
        return default
    return min(moment, default) if moment >= _EARLIEST else default


class DeliveryBuilder:
    """Collects what one request brought. One item that cannot be read never costs another one."""

    def __init__(self) -> None:
        self._events: list[Event] = []
        self._ignored: Counter[str] = Counter()

    def ignore(self, name: str, times: int = 1) -> None:
        """Counts something passed over; beyond 20 different names, under `other`."""
        known = name in self._ignored or len(self._ignored) < _MOST_NAMES
        self._ignored[name if known else "other"] += times

    def read(self, read: Callable[[Mapping[str, Any]], Iterable[Event] | str], item: Any) -> None:
        """Adds the events that `read` finds in the item, or counts the item under the name it answers."""
        if not isinstance(item, dict):
            self.ignore("malformed")
            return
        try:
            found = read(item)
            events = () if isinstance(found, str) else tuple(found)
        except _READ_ERRORS:
            self.ignore("malformed")
            return
        if isinstance(found, str):
            self.ignore(found)
        self._events.extend(events)

    def build(self) -> Delivery:
        """Everything collected so far, in order."""
        return Delivery(tuple(self._events), dict(self._ignored))
