"""Samples of media are what they say they are."""

import pytest

from tools.local.errors import LocalError
from tools.local.playground import media
from tools.local.simulated_model.transcribe import transcribe
from whatsapp_agent.media import file_type


@pytest.mark.parametrize(
    ("kind", "mime_type"), [("voice", "audio/ogg"), ("image", "image/png"), ("document", "text/plain")]
)
def test_a_sample_is_recognised_by_its_bytes(kind: str, mime_type: str):
    found = file_type(media.file_of(kind, "Hola", None).data)
    assert (found.mime_type, found.readable) == (mime_type, True)


def test_the_simulated_model_hears_what_a_voice_note_says():
    assert transcribe(media.file_of("voice", "Me llamo Maya", None).data) == "Me llamo Maya"


def test_a_file_that_is_not_encoded_is_refused():
    with pytest.raises(LocalError, match="base64"):
        media.file_of("image", "", {"name": "x.png", "type": "image/png", "data": "%%%"})


@pytest.mark.parametrize("provider", ["whasp", "meta"])
def test_a_kind_that_the_page_does_not_send_is_refused(provider: str):
    with pytest.raises(LocalError, match="sends no sticker"):
        media.message_of(provider, "sticker", "media_1", media.file_of("image", "", None), "")
