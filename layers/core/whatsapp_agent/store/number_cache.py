"""Which agent a business number belongs to, remembered by this process for a short while."""

from collections import OrderedDict
from datetime import datetime, timedelta
from threading import Lock

from whatsapp_agent.clock import Clock


class NumberCache:
    """The agents of the numbers used last; safe to use from several threads.

    Business numbers are few and hardly ever change hands. Persons' addresses are never kept here.
    """

    def __init__(self, now: Clock, seconds: float, size: int) -> None:
        self._now = now
        self._lifetime = timedelta(seconds=seconds)
        self._size = size
        self._agents: OrderedDict[str, tuple[str, datetime]] = OrderedDict()
        self._lock = Lock()

    def get(self, number: str) -> str | None:
        """The agent of a number, empty where the number has none; None where that is not known here."""
        with self._lock:
            agent, until = self._agents.get(number, ("", None))
            return agent if until and self._now() < until else None

    def put(self, number: str, agent: str) -> None:
        """Remembers; the number that was put in longest ago makes room."""
        with self._lock:
            self._agents[number] = (agent, self._now() + self._lifetime)
            self._agents.move_to_end(number)
            while len(self._agents) > self._size:
                self._agents.popitem(last=False)

    def clear(self) -> None:
        """Forgets everything: a number has changed hands."""
        with self._lock:
            self._agents.clear()
