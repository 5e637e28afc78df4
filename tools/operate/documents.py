"""Reads documents into sections: Markdown, text, HTML and PDF, told apart by their names."""

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

from bs4 import BeautifulSoup, Tag
from markdown_it import MarkdownIt
from pypdf import PdfReader
from pypdf.errors import PyPdfError

from tools.operate.chunks import Section

MOST_BYTES = 50 * 1024 * 1024

_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_BLOCKS = ("p", "li", "td", "th", "pre", "blockquote", "dt", "dd", "figcaption", "caption", "div")
_NOT_READ = ("script", "style", "noscript", "template", "nav", "footer", "aside", "form", "svg", "iframe")


class UnreadableDocument(Exception):
    """A file that gives no text; the message says why."""


def read_document(path: Path) -> list[Section]:
    """The sections of a file, in order; every one has text.

    Raises:
        UnreadableDocument: Unknown kind, too large, damaged, locked, or without text (a scanned PDF, say).
    """
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise UnreadableDocument(f"no reader for {path.suffix or 'files without an ending'}")
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UnreadableDocument(f"larger than {MOST_BYTES // 1024 // 1024} MB")
        sections = [section for section in reader(path) if section.text.strip()]
    except OSError as error:
        raise UnreadableDocument(error.strerror or "cannot be opened") from error
    if not sections:
        raise UnreadableDocument("no text in it")
    return sections


class _Outline:
    """Collects text under the headings that stand above it."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []
        self._paragraphs: list[str] = []
        self.sections: list[Section] = []

    def heading(self, level: int, text: str) -> None:
        self.end()
        self._open = [each for each in self._open if each[0] < level]
        if text.strip():
            self._open.append((level, text.strip()))

    def paragraph(self, text: str) -> None:
        if text.strip():
            self._paragraphs.append(text.strip())

    def end(self) -> list[Section]:
        if self._paragraphs:
            headings = tuple(text for _, text in self._open)
            self.sections.append(Section(headings, "\n\n".join(self._paragraphs)))
            self._paragraphs = []
        return self.sections


def _text(path: Path) -> str:
    raw = path.read_bytes()
    for encoding in ("utf-8-sig", "utf-16") if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ("utf-8-sig",):
        try:
            return raw.decode(encoding)
        except UnicodeDecodeError:
            continue
    if b"\0" in raw:
        raise UnreadableDocument("it is no text file")
    return raw.decode("cp1252", "replace")


def _plain(path: Path) -> list[Section]:
    return [Section((path.stem,), _text(path))]


def _markdown(path: Path) -> list[Section]:
    return markdown_sections(_text(path))


def markdown_sections(text: str) -> list[Section]:
    """The sections of a Markdown text."""
    outline = _Outline()
    level, rows = 0, list[str]()
    for token in MarkdownIt("commonmark").enable("table").parse(text):
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "inline":
            words = "".join(_inline(token.children or []))
            if level:
                outline.heading(level, words)
            elif rows:
                rows.append(words)
            else:
                outline.paragraph(words)
        elif token.type == "heading_close":
            level = 0
        elif token.type in ("fence", "code_block"):
            outline.paragraph(token.content)
        elif token.type == "tr_open":
            rows = [""]
        elif token.type == "tr_close":
            outline.paragraph(" | ".join(rows[1:]))
            rows = []
    return outline.end()


def _inline(tokens: list) -> Iterator[str]:  # type: ignore[type-arg]
    for token in tokens:
        if token.type in ("text", "code_inline"):
            yield token.content
        elif token.type in ("softbreak", "hardbreak"):
            yield "\n"
        elif token.type == "image":
            yield token.content


def _html(path: Path) -> list[Section]:
    soup = BeautifulSoup(path.read_bytes(), "html.parser")
    for tag in soup.find_all(_NOT_READ):
        tag.decompose()
    outline = _Outline()
    body = soup.find("main") or soup.body or soup
    if isinstance(body, Tag):
        if soup.title and soup.title.get_text(strip=True) and not body.find("h1"):
            outline.heading(1, soup.title.get_text(" ", strip=True))
        _walk(body, outline)
    return outline.end()


def _walk(tag: Tag, outline: _Outline) -> None:
    """Headings and the innermost blocks, in order; what stands outside any block counts as one."""
    loose: list[str] = []
    for child in tag.children:
        if not isinstance(child, Tag):
            loose.append(str(child) if type(child).__name__ == "NavigableString" else "")
            continue
        nested = child.find([*_HEADINGS, *_BLOCKS, "tr"]) is not None
        if not (nested or child.name in _HEADINGS or child.name in _BLOCKS or child.name == "tr"):
            loose.append(child.get_text(" "))
            continue
        outline.paragraph(_one_line("".join(loose)))
        loose = []
        if child.name in _HEADINGS:
            outline.heading(_HEADINGS[child.name], _one_line(child.get_text(" ")))
        elif child.name == "tr":
            cells = child.find_all(["td", "th"])
            outline.paragraph(" | ".join(_one_line(cell.get_text(" ")) for cell in cells))
        elif nested:
            _walk(child, outline)
        else:
            outline.paragraph(_one_line(child.get_text(" ")))
    outline.paragraph(_one_line("".join(loose)))


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _locked() -> list[Section]:
    raise UnreadableDocument("it is locked with a password")


def _pdf(path: Path) -> list[Section]:
    # What is wrong inside a file is said in the report; the library's own lines would stand between.
    logging.getLogger("pypdf").setLevel(logging.CRITICAL)
    try:
        reader = PdfReader(path)
        locked = reader.is_encrypted and not reader.decrypt("")
        if locked:
            return _locked()
        title = (reader.metadata.title if reader.metadata else "") or path.stem
        pages = [page.extract_text() for page in reader.pages]
    except (PyPdfError, ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise UnreadableDocument(f"damaged PDF ({type(error).__name__})") from error
    return [Section((str(title), f"p. {number}"), text) for number, text in enumerate(pages, 1)]


READERS: dict[str, Callable[[Path], list[Section]]] = {
    ".md": _markdown,
    ".markdown": _markdown,
    ".txt": _plain,
    ".text": _plain,
    ".html": _html,
    ".htm": _html,
    ".pdf": _pdf,
}
