"""Starts the process that reads a PDF, and ends it in time."""

import subprocess
import sys

from whatsapp_agent.documents import pdf
from whatsapp_agent.errors import MediaUnreadable

LEAST_SECONDS = 0.5
_CODES = {pdf.NO_TEXT: "no_text", pdf.ENCRYPTED: "encrypted"}


class ChildDocumentReader:
    """Implements `media.DocumentReader`.

    Args:
        library_path: Where the system's loader finds Python's own libraries, where that is not a usual place
            (`LD_LIBRARY_PATH` of this process).
    """

    def __init__(self, library_path: str = "") -> None:
        # Where libraries lie; and nothing else of this process's surroundings, least of all its keys.
        self._environment = {"LD_LIBRARY_PATH": library_path} if library_path else {}

    def pdf_text(self, data: bytes, *, seconds: float, most_characters: int) -> str:
        """See `media.DocumentReader.pdf_text`."""
        command = [sys.executable, "-P", "-m", pdf.__name__, str(most_characters)]
        try:
            run = subprocess.run(  # noqa: S603 - see the import
                command,
                input=data,
                capture_output=True,
                timeout=max(LEAST_SECONDS, seconds),
                check=False,
                env={**self._environment, "PYTHONPATH": ":".join(path for path in sys.path if path)},
            )
        except subprocess.TimeoutExpired:
            raise MediaUnreadable("the document took too long to read", code="too_slow") from None
        if run.returncode:
            raise MediaUnreadable("the document cannot be read", code=_CODES.get(run.returncode, "broken"))
        return run.stdout.decode("utf-8", "replace")
