"""PDFs to text in a process of its own, and what hostile ones cannot do."""

import io
import zlib

import pytest
from pypdf import PdfReader, PdfWriter

from tests.fakes.media import FakeDocumentReader, document
from whatsapp_agent.documents.reader import ChildDocumentReader
from whatsapp_agent.errors import MediaUnreadable
from whatsapp_agent.media import DocumentReader


def pdf(*pages: str, content: bytes | None = None) -> bytes:
    """A PDF with a line of text per page, written out by hand."""
    objects = ["<< /Type /Catalog /Pages 2 0 R >>", ""]
    kids = []
    for text in pages:
        escaped = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        stream = content or f"BT /F1 12 Tf 50 700 Td ({escaped}) Tj ET".encode("latin-1")
        packed = zlib.compress(stream).decode("latin-1")
        objects.append(f"<< /Length {len(packed)} /Filter /FlateDecode >>\nstream\n{packed}\nendstream")
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {len(objects)} 0 R /Resources "
            "<< /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}"
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    return out + end.encode() + trailer.encode()


def locked(password: str) -> bytes:
    writer = PdfWriter(clone_from=PdfReader(io.BytesIO(pdf("secret"))))
    writer.encrypt(password, algorithm="RC4-128")
    out = io.BytesIO()
    writer.write(out)
    return out.getvalue()


def read(reader: DocumentReader, data: bytes, *, seconds: float = 30, most_characters: int = 1_000) -> str:
    return reader.pdf_text(data, seconds=seconds, most_characters=most_characters)


@pytest.fixture(params=["fake", "child"])
def either(request: pytest.FixtureRequest) -> tuple[DocumentReader, bytes, bytes]:
    """The port, a PDF that says "The total is 300", and one without text."""
    if request.param == "fake":
        return FakeDocumentReader(), document("The total is 300"), document("")
    return ChildDocumentReader(), pdf("The total is 300"), pdf("")


def test_the_text_comes_out_cut_to_its_most_and_a_scan_has_none(
    either: tuple[DocumentReader, bytes, bytes],
) -> None:
    reader, offer, scan = either
    assert read(reader, offer).strip() == "The total is 300"
    assert read(reader, offer, most_characters=9) == "The total"
    with pytest.raises(MediaUnreadable) as raised:
        read(reader, scan)
    assert raised.value.code == "no_text"


def test_pages_follow_one_another() -> None:
    text = read(ChildDocumentReader(), pdf("first", "second", "third"))
    assert text.split() == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"%PDF-1.7\nnothing else", "broken"),
        (b"%PDF-1.7" + bytes(range(256)) * 10, "broken"),
        (locked("1234"), "encrypted"),
    ],
)
def test_what_cannot_be_read_is_an_error_of_its_own(data: bytes, code: str) -> None:
    with pytest.raises(MediaUnreadable) as raised:
        read(ChildDocumentReader(), data)
    assert raised.value.code == code


def test_a_password_that_is_empty_is_none() -> None:
    assert read(ChildDocumentReader(), locked("")).strip() == "secret"


def test_a_document_that_takes_too_long_is_given_up() -> None:
    minutes_of_work = pdf(*["x"] * 100, content=b"BT /F1 12 Tf " + b"(a) Tj\n" * 100_000 + b"ET")
    with pytest.raises(MediaUnreadable) as raised:
        read(ChildDocumentReader(), minutes_of_work, seconds=0.01, most_characters=10**9)
    assert raised.value.code == "too_slow"


def test_a_small_file_that_unpacks_to_gigabytes_harms_nobody() -> None:
    bomb = pdf("x", content=b"0" * 400_000_000)
    assert len(bomb) < 1_000_000
    with pytest.raises(MediaUnreadable):
        read(ChildDocumentReader(), bomb)


def test_the_process_knows_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    assert "canary" not in repr(ChildDocumentReader("/var/lang/lib")._environment)
