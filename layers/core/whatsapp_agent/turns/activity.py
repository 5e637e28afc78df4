"""Keeps what is remembered alive while its person is active, where a retention is set."""

from datetime import timedelta

from whatsapp_agent.clock import Clock
from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory.records import Summary
from whatsapp_agent.ports.privacy import Retention
from whatsapp_agent.telemetry import Telemetry

ONCE_IN = timedelta(days=1)
SHARE = 10
"""A short retention is refreshed more often: each tenth of it."""


class Activity:
    """Notes that a person is active, at most once a day, after their reply was sent."""

    def __init__(self, retention: Retention, retention_days: int, telemetry: Telemetry, now: Clock) -> None:
        self._retention = retention
        self._interval = min(ONCE_IN, timedelta(days=retention_days) / SHARE)
        self._enabled = retention_days > 0
        self._telemetry = telemetry
        self._now = now

    def note(self, summary: Summary) -> None:
        """Moves the end of everything that is kept about the conversation of `summary`. Never fails a turn:
        what could not be moved is moved with the next message.
        """
        now = self._now()
        if not self._enabled or (summary.active_at and now - summary.active_at < self._interval):
            return
        try:
            moved = self._retention.refresh(summary.conversation)
        except AgentError as error:
            self._telemetry.warning("retention_not_refreshed", error=type(error).__name__)
            self._telemetry.count("RetentionNotRefreshed")
            return
        self._telemetry.count("RetentionRefreshed")
        self._telemetry.info("retention_refreshed", items=moved)
