"""Hearing, seeing and reading from a script: by what the bytes hold."""

from threading import Lock

from whatsapp_agent.errors import AgentError, MediaUnreadable
from whatsapp_agent.media import Heard

OGG = b"OggS\x00\x02"
JPEG = b"\xff\xd8\xff\xe0"
PDF = b"%PDF-1.7\n"


def recording(words: str) -> bytes:
    return OGG + words.encode()


def picture(shows: str) -> bytes:
    return JPEG + shows.encode()


def document(text: str) -> bytes:
    return PDF + text.encode()


class FakeSenses:
    """`media.Senses`: a recording says, and a picture shows, what stands behind its first bytes.

    Attributes:
        heard: `(file name, model)` of each transcription that was paid for.
        seen: `(media type, language, caption)` of each description.
    """

    def __init__(self) -> None:
        self.heard: list[tuple[str, str]] = []
        self.seen: list[tuple[str, str, str]] = []
        self.seconds: list[float] = []
        self._failures: list[AgentError | Exception] = []
        self._lock = Lock()

    def fail(self, *errors: AgentError | Exception) -> None:
        """Lets the next calls fail with these errors, one each."""
        self._failures += errors

    def transcribe(self, audio: bytes, filename: str, *, model: str, seconds: float) -> Heard:
        with self._lock:
            self.heard.append((filename, model))
            self.seconds.append(seconds)
            self._fail()
        words = audio.removeprefix(OGG).decode()
        return Heard(words, silent=not words or words == "Thank you.")

    def describe(self, picture: bytes, mime_type: str, *, language: str, caption: str, seconds: float) -> str:
        with self._lock:
            self.seen.append((mime_type, language, caption))
            self.seconds.append(seconds)
            self._fail()
        return picture.removeprefix(JPEG).decode("utf-8", "replace") or "something"

    def _fail(self) -> None:
        if self._failures:
            raise self._failures.pop(0)


class FakeDocumentReader:
    """`media.DocumentReader`: a PDF says what stands behind its first line."""

    def pdf_text(self, data: bytes, *, seconds: float, most_characters: int) -> str:
        text = data.removeprefix(PDF).decode("utf-8", "replace")[:most_characters]
        if not text.strip():
            raise MediaUnreadable("the document holds no text", code="no_text")
        return text
