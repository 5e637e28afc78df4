"""What a file is, by its bytes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from whatsapp_agent.media import FileType, file_type


@pytest.mark.parametrize(
    ("data", "sort", "extension", "readable"),
    [
        (b"OggS\x00\x02OpusHead", "audio", "ogg", True),
        (b"ID3\x03\x00", "audio", "mp3", True),
        (b"\xff\xfb\x90\x00", "audio", "mp3", True),
        (b"\x00\x00\x00\x20ftypM4A \x00", "audio", "m4a", True),
        (b"\x00\x00\x00\x20ftypisom\x00", "audio", "mp4", True),
        (b"RIFF\x24\x00\x00\x00WAVEfmt ", "audio", "wav", True),
        (b"fLaC\x00", "audio", "flac", True),
        (b"\x1a\x45\xdf\xa3\x01", "audio", "webm", True),
        (b"#!AMR\n", "audio", "amr", False),
        (b"\xff\xf1\x50\x80", "audio", "aac", False),
        (b"\xff\xd8\xff\xe0\x00\x10JFIF", "image", "jpg", True),
        (b"\x89PNG\r\n\x1a\n", "image", "png", True),
        (b"GIF89a", "image", "gif", True),
        (b"RIFF\x24\x00\x00\x00WEBPVP8 ", "image", "webp", True),
        (b"RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00", "image", "webp", True),
        (b"RIFF\x24\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x12\x00\x00\x00", "image", "webp", False),
        (b"%PDF-1.7", "pdf", "pdf", True),
        (b"junk before it\n%PDF-1.4", "pdf", "pdf", True),
        ("añadido".encode(), "text", "txt", True),
        (b"PK\x03\x04\x14\x00", "other", "zip", False),
        (b"MZ\x90\x00", "other", "", False),
        (b"caf\xe9 in another code page", "other", "", False),
        (b"", "other", "", False),
    ],
)
def test_the_bytes_decide(data: bytes, sort: str, extension: str, readable: bool) -> None:
    found = file_type(data)
    assert (found.sort, found.extension, found.readable) == (sort, extension, readable)


@given(st.binary(max_size=200))
def test_no_bytes_raise(data: bytes) -> None:
    assert isinstance(file_type(data), FileType)
