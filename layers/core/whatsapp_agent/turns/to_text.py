"""Turns voice messages, pictures and documents into text, before anything is remembered.

Whatever happens to a medium, the message goes on: one that cannot be read becomes a note in the conversation,
and the model tells the person. Only what may succeed later is tried again, some times.
"""

from collections.abc import Sequence
from concurrent.futures import Executor, Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from time import monotonic

from whatsapp_agent.errors import MediaTooLarge, MediaUnreadable, ModelRefused, ModelUnavailable, TransientError
from whatsapp_agent.events import InboundMessage, Media
from whatsapp_agent.media import DocumentReader, FileType, MediaStore, Senses, file_type
from whatsapp_agent.memory.profile import AgentProfile
from whatsapp_agent.telemetry import Telemetry
from whatsapp_agent.turns import media_notes
from whatsapp_agent.turns.claim import SILENCE
from whatsapp_agent.turns.received import ReceivedMessage

READ = frozenset({"voice", "audio", "image", "sticker", "document"})
"""Kinds that are fetched and read; a video is known by its caption."""

ATTEMPTS = 3
"""How often a medium is tried before it becomes a note. The queue gives a message more attempts than that, and
those that are left are for the reply."""

_MEGABYTE = 1024 * 1024
_MOST_BYTES = {"voice": 16, "audio": 16, "image": 10, "sticker": 1, "document": 20}
"""Megabytes. WhatsApp's own limits are 16 for audio, 5 for pictures, 0.5 for stickers and 100 for documents;
ten people's media must fit the function's memory at once."""

_ACCOUNT = frozenset({"unauthorized", "insufficient_quota", "model_not_found"})
"""Refusals that say nothing about the medium."""

_GRACE = 2.0


class ToText:
    """Reads the media of one person's waiting messages, side by side."""

    def __init__(
        self,
        store: MediaStore,
        senses: Senses,
        documents: DocumentReader,
        executor: Executor,
        telemetry: Telemetry,
    ) -> None:
        self._store = store
        self._senses = senses
        self._documents = documents
        self._executor = executor
        self._telemetry = telemetry

    def read(
        self, messages: Sequence[ReceivedMessage], profile: AgentProfile, seconds: float
    ) -> list[InboundMessage | TransientError]:
        """The messages as text, in order; in a place of its own the error for which one is to come again.

        Args:
            messages: Of the kinds in `READ`.
            profile: Whose language descriptions are written in.
            seconds: For all of them together.
        """
        deadline = monotonic() + seconds
        started = [self._executor.submit(self._one, message.event, profile, seconds) for message in messages]
        return [
            self._result(message, future, deadline) for message, future in zip(messages, started, strict=True)
        ]

    def _result(
        self, message: ReceivedMessage, future: Future[InboundMessage], deadline: float
    ) -> InboundMessage | TransientError:
        event, record = message.event, message.record
        try:
            return future.result(timeout=max(0.0, deadline - monotonic()) + _GRACE)
        except (TransientError, FutureTimeout, ModelRefused) as error:
            known = error if isinstance(error, TransientError) else ModelUnavailable("a medium was not read")
            lasting = isinstance(error, ModelRefused) and error.code not in _ACCOUNT
            if not lasting and record.receive_count < ATTEMPTS and not record.last_attempt:
                self._telemetry.count("MediaPostponed", kind=event.kind)
                return known
            code = error.code if isinstance(error, ModelRefused) else type(known).__name__
            return self._noted(event, code)
        except MediaUnreadable as error:
            return self._noted(event, error.code)
        except Exception as error:  # noqa: BLE001 - a file that somebody made must not be able to stop a talk
            self._telemetry.error("medium_failed", error=type(error).__name__)
            return self._noted(event, "failed")

    def _noted(self, event: InboundMessage, code: str) -> InboundMessage:
        self._telemetry.count("MediaUnreadable", kind=event.kind, reason=code)
        return replace(event, text=media_notes.unread(event, code))

    def _one(self, event: InboundMessage, profile: AgentProfile, seconds: float) -> InboundMessage:
        if event.media is None:
            raise MediaUnreadable("the message names no medium that can be fetched", code="no_medium")
        deadline = monotonic() + seconds
        data = self._fetch(event, event.media, seconds)
        self._telemetry.count("MediaBytes", len(data))
        return self._as_text(event, data, file_type(data), profile, max(1.0, deadline - monotonic()))

    def _fetch(self, event: InboundMessage, media: Media, seconds: float) -> bytes:
        most = _MOST_BYTES[event.kind] * _MEGABYTE
        if media.size > most:
            raise MediaTooLarge("the medium is larger than this deployment reads")
        # Half of the time at most: a download that trickles in must leave time to read it.
        data = self._store.fetch(event.number, media, seconds=seconds / 2, most_bytes=most)
        if not data:
            raise MediaUnreadable("the medium is empty", code="empty")
        return data

    def _as_text(
        self, event: InboundMessage, data: bytes, found: FileType, profile: AgentProfile, seconds: float
    ) -> InboundMessage:
        if event.kind == "document" and found.sort not in ("audio", "image"):
            return replace(event, text=self._document(event, data, found, seconds))
        if not found.readable or found.sort not in ("audio", "image"):
            raise MediaUnreadable("the medium is of a kind that cannot be read", code="unknown_format")
        if found.sort == "image":
            description = self._senses.describe(
                data, found.mime_type, language=profile.language, caption=event.text, seconds=seconds
            )
            return replace(event, text=media_notes.seen(event, description))
        transcript = self._senses.transcribe(
            data, f"voice.{found.extension}", model=profile.transcription_model, seconds=seconds
        )
        if not transcript.silent and transcript.text.strip():
            return replace(event, text=media_notes.heard(event, transcript.text))
        self._telemetry.count("MediaSilent")
        return event if event.text.strip() else replace(event, kind=SILENCE, text="")

    def _document(self, event: InboundMessage, data: bytes, found: FileType, seconds: float) -> str:
        if found.sort == "text":
            return media_notes.read(event, data.decode("utf-8-sig"))
        if found.sort == "pdf":
            most = media_notes.DOCUMENT_CHARACTERS + 1
            text = self._documents.pdf_text(data, seconds=seconds, most_characters=most)
            return media_notes.read(event, text)
        return media_notes.named(event)
