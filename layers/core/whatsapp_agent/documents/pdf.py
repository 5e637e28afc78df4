"""The process that reads one PDF: bytes on standard input, text on standard output; where that fails, the exit
status says why.

python -m whatsapp_agent.documents.pdf <most characters>
"""

import io
import resource
import sys

NO_TEXT = 3
ENCRYPTED = 4

MOST_PAGES = 200
MOST_MEMORY = 768 * 1024 * 1024
"""Bytes of address space: a small file can unpack to gigabytes."""


def main() -> int:
    """Reads, writes, and returns the exit status."""
    # Here, so that asking for the exit statuses above loads no PDF library.
    from pypdf import PdfReader  # noqa: PLC0415

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    most = int(sys.argv[1])
    reader = PdfReader(io.BytesIO(sys.stdin.buffer.read()))
    if reader.is_encrypted and not reader.decrypt(""):
        return ENCRYPTED
    text = ""
    for place, page in enumerate(reader.pages):
        if place == MOST_PAGES or len(text) > most:
            break
        text += (page.extract_text() or "").strip() + "\n\n"
    if not text.strip():
        return NO_TEXT
    sys.stdout.buffer.write(text.strip()[:most].encode("utf-8", "replace"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
