"""A provider in memory: records what is sent, keeps idempotency keys, fails on cue."""

import threading
from dataclasses import dataclass, replace

from whatsapp_agent.errors import (
    MediaTooLarge,
    MediaUnreadable,
    NumberRetired,
    RecipientOptedOut,
    WindowClosed,
)
from whatsapp_agent.events import Media, OutboundMessage


@dataclass(frozen=True)
class _Cue:
    error: Exception | None
    accepted: bool


class FakeProvider:
    """`ports.Provider`. With `idempotent=False` it is like Meta: the same key is sent again.

    Attributes:
        sent: Every message that was taken, with the number that carried it.
        media: The bytes of each medium by its id; `fetched` the ids that were asked for.
        typed: `(number, address, message_id)` of each sign that an answer is being written.
    """

    def __init__(self, *, idempotent: bool = True) -> None:
        self.sent: list[OutboundMessage] = []
        self.typed: list[tuple[str, str, str]] = []
        self.attempts = 0
        self._idempotent = idempotent
        self._lock = threading.Lock()
        self._cues: list[_Cue] = []
        self._ids: dict[str, str] = {}
        self._opted_out: set[str] = set()
        self._closed: set[str] = set()
        self._successors: dict[str, str] = {}
        self._typing_fails = False
        self.media: dict[str, bytes] = {}
        self.fetched: list[str] = []
        self._media_failures: list[Exception] = []

    @property
    def texts(self) -> list[str]:
        """The text of everything that was taken, in order."""
        return [message.text for message in self.sent]

    def fail(self, *errors: Exception | None) -> None:
        """Lets the next sends fail with these errors, one each; None lets one pass."""
        self._cues += [_Cue(error, accepted=False) for error in errors]

    def lose_answer(self, error: Exception) -> None:
        """Lets the next send be taken, and fail all the same: the answer is lost on its way."""
        self._cues.append(_Cue(error, accepted=True))

    def fail_typing(self) -> None:
        self._typing_fails = True

    def opt_out(self, address: str) -> None:
        self._opted_out.add(address)

    def close_window(self, address: str) -> None:
        self._closed.add(address)

    def retire(self, number: str, replaced_by: str = "") -> None:
        self._successors[number] = replaced_by

    def leftovers(self) -> int:
        """How many scripted failures did not happen: a test that expects them asserts 0."""
        return len(self._cues)

    def send(self, message: OutboundMessage) -> str:
        with self._lock:
            self.attempts += 1
            cue = self._cues.pop(0) if self._cues else _Cue(None, accepted=True)
            if cue.error is not None and not cue.accepted:
                raise cue.error
            known = self._ids.get(message.idempotency_key) if self._idempotent else None
            provider_id = known or self._take(message)
            if cue.error is not None:
                raise cue.error
            return provider_id

    def fetch(self, number: str, media: Media, *, seconds: float, most_bytes: int) -> bytes:
        with self._lock:
            self.fetched.append(media.id)
            if self._media_failures:
                raise self._media_failures.pop(0)
        data = self.media.get(media.id)
        if data is None:
            raise MediaUnreadable("the medium is no longer there", code="gone")
        if len(data) > most_bytes:
            raise MediaTooLarge("the medium is larger than this deployment reads")
        return data

    def fail_media(self, *errors: Exception) -> None:
        self._media_failures += errors

    def typing(self, number: str, address: str, message_id: str) -> None:
        if not self._typing_fails:
            self.typed.append((number, address, message_id))

    def _take(self, message: OutboundMessage) -> str:
        if message.number in self._successors:
            message = replace(message, number=self._successors[message.number])
        if not message.number or message.number in self._successors:
            raise NumberRetired(
                "the business number is retired", replaced_by=self._successors.get(message.number, "")
            )
        if message.address in self._opted_out:
            raise RecipientOptedOut("the person has opted out of messages", code="opted_out")
        if message.address in self._closed:
            raise WindowClosed("the person wrote more than 24 hours ago", code="131047")
        self.sent.append(message)
        provider_id = f"fake_{len(self.sent)}"
        self._ids[message.idempotency_key] = provider_id
        return provider_id
