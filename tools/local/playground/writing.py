"""What the person does: write, send media, repeat, lose, travel. Everything goes through the provider."""

import base64
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any
from uuid import uuid4

from tools.local.errors import LocalError
from tools.local.playground import media
from tools.local.playground.bubbles import Bubble
from tools.local.playground.room import Room
from tools.local.playground.stage import Stage
from tools.local.talk import poll
from whatsapp_agent.clock import to_iso, utc_now

_NOWHERE = "http://127.0.0.1:9/"
"""The discard port: nobody listens there."""
_LOST_SECONDS = 1.2
_ATTEMPTS = 6
_PATIENCE_SECONDS = 30.0


class Writing:
    """Writes as a person of the page."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._talk = stage.connection.talk
        self._one_at_a_time = threading.Lock()

    def texts(self, room: Room, texts: Sequence[str], **options: Any) -> list[str]:
        """Sends messages one right after another; returns the ids of their events.

        Args:
            options: Of the simulated provider's control API, for example `duplicates`.
        """
        return self._send(room, [{"text": text} for text in texts], [("text", text) for text in texts], options)

    def medium(self, room: Room, kind: str, words: str, given: Mapping[str, Any] | None) -> list[str]:
        """Sends a voice note, a picture, a document or a location."""
        provider = self._stage.connection.info.provider
        file, media_id = None, ""
        if kind != "location":
            file = media.file_of(kind, words, given)
            fields = {"data": base64.b64encode(file.data).decode(), "mime_type": file.mime_type}
            media_id = self._talk.control("media", fields)["id"]
        message = media.message_of(provider, kind, media_id, file, words)
        name = file.name if file and kind == "document" else ""
        label = "\n".join(part for part in (name, words) if part)
        return self._send(room, [{"message": message}], [(kind, label)], {})

    def lost_then_retried(self, room: Room, text: str) -> list[str]:
        """The first delivery reaches nobody; the provider tries again by itself until it does."""
        webhook = self._stage.connection.info.webhook_url
        with self._one_at_a_time:
            self._talk.control("webhook", {"url": _NOWHERE})
            try:
                ids = self.texts(room, [text], wait=False, attempts=_ATTEMPTS)
                room.mark(ids[0], "lost")
                time.sleep(_LOST_SECONDS)
            finally:
                self._talk.control("webhook", {"url": webhook})
        return ids

    def travel(self, room: Room, days: int) -> None:
        """What the person has said so far becomes so many days older.

        Raises:
            LocalError: Something of theirs stays on its way.
        """
        if not poll(lambda: not room.busy, _PATIENCE_SECONDS):
            raise LocalError("something of this person is still on its way: try again when it is answered")
        room.grow_older(days)
        room.say(f"travel-{uuid4().hex}", text="travel", days=days)
        self._stage.wake()

    def _send(
        self,
        room: Room,
        messages: list[dict[str, Any]],
        looks: Sequence[tuple[str, str]],
        options: Mapping[str, Any],
    ) -> list[str]:
        ids = [f"evt_page_{uuid4().hex[:16]}" for _ in messages]
        now = utc_now()
        for place, (event_id, (kind, text)) in enumerate(zip(ids, looks, strict=True)):
            at = to_iso(now)
            order = int(now.timestamp() * 1000) + place
            room.write(Bubble(event_id, "me", text, kind, at, order, state="sending"))
        self._stage.wake()
        for message, event_id in zip(messages, ids, strict=True):
            message["event_id"] = message["message_id"] = event_id
        fields = {
            "person": room.phone,
            "number": self._stage.number,
            "contact_name": room.name,
            "sent_at": to_iso(now),
            "messages": messages,
            **options,
        }
        answer = self._talk.control("inbound", fields)
        for delivery in answer["deliveries"]:
            if "status" in delivery:
                good = 200 <= delivery["status"] < 300
                room.mark(delivery["event_id"], "queued" if good else "lost")
        self._stage.wake()
        return ids


def in_background(work: Callable[[], object]) -> None:
    """Runs something that takes a while; what goes wrong in it shows on the page by itself."""
    threading.Thread(target=work, daemon=True).start()
