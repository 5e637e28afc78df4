"""All people of the page, and the thread that watches the stack for those who are looked at."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from time import monotonic
from typing import Any
from urllib.parse import urlencode

from botocore.exceptions import BotoCoreError, ClientError

from tools.local import http_json
from tools.local.errors import LocalError
from tools.local.playground import queues
from tools.local.playground.board import Board
from tools.local.playground.connection import Connection
from tools.local.playground.prompts import Asked, asked_of
from tools.local.playground.room import Room
from whatsapp_agent.clock import to_iso, utc_now
from whatsapp_agent.errors import AgentError
from whatsapp_agent.memory.records import split_conversation
from whatsapp_agent.prices import AS_OF

PEOPLE = (("+34600111222", "Maya"), ("+393331234567", "Marco"), ("+447700900123", "Emma"))
"""Who is there before anybody is added. The British number is one that is kept for fiction."""

_BUSY_SECONDS, _IDLE_SECONDS = 0.35, 1.5
_BUSY_ROUNDS = 12
_MEET_SECONDS = 10.0
_KEPT_CALLS = 200
_OFFERED_AGAIN = timedelta(seconds=15)


class Stage:
    """Rooms by phone number; the board that every page shows; the business number in use."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.board = Board()
        self.number = connection.info.number
        self._lock = threading.RLock()
        self._rooms: dict[str, Room] = {}
        self._looks: dict[str, int] = {}
        self._calls: dict[int, Asked] = {}
        self._met_at = monotonic()
        self._wake = threading.Event()
        self._over = threading.Event()
        for phone, name in PEOPLE:
            self.add(phone, name)
        self._meet(connection.deployment.census.conversations())
        self.describe()

    def add(self, phone: str, name: str) -> Room:
        """The person's room; a new one where there is none yet.

        Raises:
            LocalError: That is no phone number.
        """
        with self._lock:
            key = split_conversation(self.connection.conversation(phone))[1]
            if key not in self._rooms:
                self._rooms[key] = Room(self.connection, key, name.strip())
                self._show_people()
            return self._rooms[key]

    def room(self, phone: str) -> Room:
        """A person's room.

        Raises:
            LocalError: Nobody of that number is there, or has written.
        """
        if phone not in self._rooms:
            self._meet_who_wrote()
        with self._lock:
            if phone not in self._rooms:
                raise LocalError(f"nobody with the number {phone} is here: add them first")
            return self._rooms[phone]

    def describe(self) -> None:
        """Shows what does not belong to one person: agent, numbers, settings."""
        connection = self.connection
        profile, price = connection.profile, connection.price()
        prices = {"input": price.input, "cached": price.cached, "output": price.output} if price else None
        self.board.put(
            "stack",
            "about",
            {
                "agent": profile.name,
                "agent_id": profile.agent_id,
                "language": profile.language,
                "provider": connection.info.provider,
                "number": self.number,
                "model": connection.deployment.models["reply"],
                "simulated": bool(connection.info.model_url),
                "compact_at": connection.compact_at,
                "keep_messages": connection.keep_messages,
                "burst_seconds": connection.burst_seconds,
                "context_chars": connection.budget.chars,
                "context_messages": connection.budget.messages,
                "keys": [[key.key, key.kind, key.description] for key in profile.fact_keys.values()],
                "price": prices,
                "prices_as_of": AS_OF.isoformat(),
            },
        )

    def wake(self) -> None:
        """Something is about to happen: look at once, and often for a while."""
        self._wake.set()

    @contextmanager
    def looking(self, phone: str) -> Iterator[Room]:
        """Keeps a person watched while a page shows them."""
        room = self.room(phone)
        with self._lock:
            self._looks[phone] = self._looks.get(phone, 0) + 1
        self.wake()
        try:
            yield room
        finally:
            with self._lock:
                self._looks[phone] -= 1

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watches the stack while the `with` block runs."""
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            self._wake.set()
            thread.join(5)

    def _watch(self) -> None:
        often = 0
        while not self._over.is_set():
            try:
                busy = self._look()
                self.board.put("stack", "trouble", None)
            except (LocalError, AgentError, BotoCoreError, ClientError) as error:
                # A server of the stack is away for a moment, or for good: then `make run` ends as well.
                self.board.put("stack", "trouble", type(error).__name__)
                busy = False
            if self._wake.is_set() or busy:
                often = _BUSY_ROUNDS
            self._wake.clear()
            often = max(0, often - 1)
            self._wake.wait(_BUSY_SECONDS if often else _IDLE_SECONDS)

    def _look(self) -> bool:
        with self._lock:
            watched = [self._rooms[phone] for phone, looks in self._looks.items() if looks > 0]
        if not watched:
            return False
        if monotonic() > self._met_at + _MEET_SECONDS:
            self._meet_who_wrote()
        waiting = queues.counts(self.connection)
        self.board.put("stack", "queues", waiting)
        typed = self._typing()
        for room in watched:
            room.refresh()
        self._read_calls()
        for room in watched:
            # A message can be seen later than the call that answers it, so the newest calls are offered again.
            room.take_calls(self._newest_calls() if room.caught_up else list(self._calls.values()))
            room.typing(typed.count(room.phone.removeprefix("+")))
        moving = sum(queue[kind] for queue in waiting.values() for kind in ("visible", "taken", "delayed"))
        return bool(moving) or any(room.busy for room in watched)

    def _meet_who_wrote(self) -> None:
        """Adds those who wrote from elsewhere: `make chat`, a signed request by hand."""
        self._met_at = monotonic()
        self._meet({turn.conversation for turn in self.connection.deployment.census.turns()})

    def _meet(self, conversations: Iterable[str]) -> None:
        for conversation in sorted(conversations):
            agent, person = split_conversation(conversation)
            if agent == self.connection.deployment.agent_id and person not in self._rooms:
                self.add(person, "")

    def _newest_calls(self) -> list[Asked]:
        since = to_iso(utc_now() - _OFFERED_AGAIN)
        return [call for call in self._calls.values() if not call.ended_at or call.ended_at >= since]

    def _read_calls(self) -> None:
        """Reads what the simulated model was asked since, and the answers that were missing."""
        url = self.connection.info.model_url
        if not url:
            return
        open_ones = [number for number, call in self._calls.items() if not call.ended_at]
        after = min(open_ones, default=max(self._calls, default=0) + 1) - 1
        entries: list[dict[str, Any]] = http_json.get(f"{url}/_control/requests?{urlencode({'after': after})}")[
            "requests"
        ]
        for entry in entries:
            asked = asked_of(entry, self.connection.profile)
            if asked is not None:
                self._calls[asked.number] = asked
        for number in sorted(self._calls)[:-_KEPT_CALLS]:
            del self._calls[number]

    def _typing(self) -> list[str]:
        """For whom the provider was told that an answer is being written, once for each time."""
        log = http_json.get(f"{self.connection.info.provider_url}/_control/log")
        return [str(entry["person"]).removeprefix("+") for entry in log["typing"]]

    def _show_people(self) -> None:
        people = [{"phone": room.phone, "name": room.name} for room in self._rooms.values()]
        self.board.put("stack", "people", people)
