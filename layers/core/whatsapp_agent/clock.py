"""UTC time as the application writes it, and ids."""

import uuid
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Something that tells the current time, aware and in UTC. Passed in, so that tests can move it."""


def utc_now() -> datetime:
    """The current time, aware, in UTC."""
    return datetime.now(UTC)


def to_iso(moment: datetime) -> str:
    """`2026-11-29T10:00:00.000Z`: fixed width, so that text order is time order.

    Raises:
        ValueError: The moment has no time zone.
    """
    if moment.tzinfo is None:
        raise ValueError("a moment without a time zone cannot be written down")
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def from_iso(text: str) -> datetime:
    """Reads an ISO 8601 moment; one without a time zone is taken as UTC.

    Raises:
        ValueError: The text is no ISO 8601 moment.
    """
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def from_epoch(seconds: float) -> datetime:
    """The moment that lies `seconds` after 1970-01-01T00:00:00Z."""
    return datetime.fromtimestamp(seconds, UTC)


def to_epoch(moment: datetime) -> int:
    """Whole seconds since 1970-01-01T00:00:00Z, as DynamoDB's time to live wants them."""
    return int(moment.timestamp())


def new_id(prefix: str) -> str:
    """A random id, for example `erase_5f1c…`."""
    return f"{prefix}_{uuid.uuid4().hex}"
