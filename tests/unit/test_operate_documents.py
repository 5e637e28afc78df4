"""Documents as the operator's command line reads and cuts them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pypdf import PdfWriter

from tests.unit.pdf_files import pdf
from tools.operate.chunks import MOST_CHARS, Chunk, Section, chunks_of
from tools.operate.documents import UnreadableDocument, markdown_sections, read_document


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_markdown_is_cut_along_its_headings_with_the_way_to_them():
    sections = markdown_sections(
        "Intro.\n\n# Shop\n\n## Returns\n\n45 days.\n\n- bring the *box*\n- and the `code`\n\n"
        "## Lamps\n\nDry cloth."
    )

    assert sections == [
        Section((), "Intro."),
        Section(("Shop", "Returns"), "45 days.\n\nbring the box\n\nand the code"),
        Section(("Shop", "Lamps"), "Dry cloth."),
    ]


def test_a_table_in_markdown_keeps_its_rows_together():
    (section,) = markdown_sections("| lamp | price |\n|---|---|\n| blue | 42 |\n")

    assert section.text == "lamp | price\n\nblue | 42"


def test_html_gives_its_text_without_scripts_menus_and_footers(tmp_path: Path):
    path = write(
        tmp_path,
        "page.html",
        "<html><head><title>Shop</title><style>p{}</style></head><body><nav>Home</nav><main><h2>Returns</h2>"
        "<p>45 <b>days</b>.</p><script>steal()</script><ul><li>box</li></ul>loose <i>words</i>"
        "<table><tr><th>lamp</th><td>42</td></tr></table></main><footer>legal</footer></body></html>",
    )

    (section,) = read_document(path)

    assert section.headings == ("Shop", "Returns")
    assert section.text.split("\n\n") == ["45 days .", "box", "loose words", "lamp | 42"]


def test_a_pdf_is_read_by_pages(tmp_path: Path):
    path = write(tmp_path, "prices.pdf", pdf("The blue lamp costs 42 euros.", "Second page."))

    first, second = read_document(path)

    assert first.headings == ("prices", "p. 1")
    assert "42 euros" in first.text
    assert second.headings[-1] == "p. 2"


def test_text_is_read_in_the_encodings_that_people_have(tmp_path: Path):
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "cp1252"):
        (section,) = read_document(write(tmp_path, "a.txt", "café".encode(encoding)))
        assert section.text == "café"


def locked() -> bytes:
    import io

    writer, out = PdfWriter(), io.BytesIO()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret")
    writer.write(out)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("photo.png", b"\x89PNG", "no reader"),
        ("noending", b"text", "no reader"),
        ("empty.md", b"", "no text"),
        ("blank.txt", b" \n\n ", "no text"),
        ("broken.pdf", b"%PDF-1.7 nothing", "damaged"),
        ("blank.pdf", pdf(""), "no text"),
        ("binary.txt", b"\xff\x00\x01\x02" * 9, "no text file"),
        ("locked.pdf", locked(), "locked"),
    ],
)
def test_a_file_that_gives_no_text_says_why(tmp_path: Path, name: str, content: bytes, why: str):
    with pytest.raises(UnreadableDocument, match=why):
        read_document(write(tmp_path, name, content))


def test_short_paragraphs_stay_together_and_long_ones_are_cut_after_sentences():
    sentence = "The quick brown fox jumps over the lazy dog again. "
    chunks = chunks_of([Section(("A", "B"), "Short.\n\nAlso short."), Section(("C",), sentence * 50)])

    assert chunks[0] == Chunk("A › B", "Short.\nAlso short.")
    assert {chunk.title for chunk in chunks[1:]} == {"C"}
    assert all(chunk.text.endswith("again.") for chunk in chunks[1:])


@given(st.lists(st.tuples(st.sampled_from(["A", "B"]), st.text(max_size=3000)), max_size=4))
def test_chunks_are_bounded_and_lose_no_word(sections: list[tuple[str, str]]):
    chunks = chunks_of(Section((title,), text) for title, text in sections)

    assert all(0 < len(chunk.text) <= MOST_CHARS for chunk in chunks)
    told = "".join("".join(chunk.text.split()) for chunk in chunks)
    closing = set("\"'”’»)]")
    expected = "".join("".join(text.split()) for _, text in sections)
    assert [char for char in told if char not in closing] == [char for char in expected if char not in closing]
