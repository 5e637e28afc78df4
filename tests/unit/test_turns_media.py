"""Voice messages, pictures and documents become text before they are remembered; nothing stops the talk."""

from typing import Any

import pytest

from tests.builders import CONVERSATION, profile
from tests.fakes.media import OGG, document, picture, recording
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.errors import (
    MediaUnreadable,
    ModelAnswerUnusable,
    ModelRefused,
    ModelUnavailable,
    ProviderUnavailable,
    StoreUnavailable,
)
from whatsapp_agent.events import Media
from whatsapp_agent.memory.allowance import Limits
from whatsapp_agent.memory.exchange import Prompt

MEGABYTE = 1024 * 1024


def send(world: World, event_id: str, kind: str, data: bytes | None, text: str = "", **media: Any) -> None:
    identifier = f"media_{event_id}"
    if data is not None:
        world.provider.media[identifier] = data
    world.say(event_id, text, kind=kind, media=Media(identifier, **media))


def remembered(world: World) -> list[tuple[str, str]]:
    return [(message.kind, message.text) for message in world.messages(CONVERSATION) if message.role == "user"]


def new(prompt: Prompt) -> list[str]:
    return [item.text for item in prompt.items if item.kind == "new"]


@pytest.mark.parametrize("mime_type", ["audio/ogg; codecs=opus", "audio/mpeg", "", "application/octet-stream"])
def test_a_voice_message_becomes_its_words_by_its_bytes_whatever_its_type_says(mime_type: str) -> None:
    with ScriptedModel(["Good luck!"]) as model:
        world = World(model)
        send(world, "evt_1", "voice", recording("I start on Monday"), mime_type=mime_type, filename="x.exe")
        world.run()
    assert world.senses.heard == [("voice.ogg", "gpt-transcribe")]
    assert remembered(world) == [("voice", "I start on Monday")]
    assert new(model.replies_asked[0]) == ["[voice] I start on Monday"]
    assert world.provider.texts == ["Good luck!"]


def test_a_picture_is_described_in_the_agents_language_with_its_caption() -> None:
    with ScriptedModel(["Nice desk"]) as model:
        world = World(model, profiles={"sales": profile(language="it")})
        send(world, "evt_1", "image", picture("una scrivania\n\nbianca"), "My new desk")
        world.run()
    assert world.senses.seen == [("image/jpeg", "it", "My new desk")]
    assert remembered(world) == [("image", "My new desk\n(The picture shows: una scrivania bianca)")]


def test_an_album_with_words_between_is_one_turn_in_order() -> None:
    with ScriptedModel(["All four are lovely"]) as model:
        world = World(model)
        world.say("evt_0", "Look at these")
        for place in range(1, 5):
            send(world, f"evt_{place}", "image", picture(f"picture {place}"), "my cats" if place == 1 else "")
        world.say("evt_5", "Which one?")
        world.run()
    said = new(model.replies_asked[0])
    assert said[0] == "Look at these"
    assert [text[-len("picture 1)") :] for text in said[1:5]] == [f"picture {n})" for n in range(1, 5)]
    assert said[5] == "Which one?"
    assert world.provider.texts == ["All four are lovely"]


def test_a_pdf_and_a_text_are_read_and_another_document_is_named() -> None:
    with ScriptedModel(["I have read them"]) as model:
        world = World(model)
        send(world, "evt_1", "document", document("Total: 300"), "the offer", filename="offer.pdf")
        send(world, "evt_2", "document", "añadido".encode(), filename="notes.txt")
        send(world, "evt_3", "document", b"PK\x03\x04\x00\x00", filename="sheet.xlsx")
        world.run()
    assert [text for _, text in remembered(world)] == [
        'the offer\n(The document "offer.pdf" says:)\nTotal: 300',
        '(The document "notes.txt" says:)\nañadido',
        '(The document "sheet.xlsx": files of this kind cannot be opened)',
    ]


def test_a_long_document_is_cut_and_says_so() -> None:
    with ScriptedModel(["long"]) as model:
        world = World(model)
        send(world, "evt_1", "document", b"word " * 20_000, filename="book.txt")
        world.run()
    ((_, text),) = remembered(world)
    assert len(text) < 21_000
    assert text.endswith("[…]")


def test_a_video_is_known_by_its_caption_and_not_fetched() -> None:
    with ScriptedModel(["Great view"]) as model:
        world = World(model)
        send(world, "evt_1", "video", b"ftyp", "from the top")
        world.run()
    assert world.provider.fetched == []
    assert remembered(world) == [("video", "from the top\n(A video; videos are not watched)")]


@pytest.mark.parametrize("words", ["", "Thank you."])
def test_silence_becomes_no_words_and_is_said_to_be_unheard_once(words: str) -> None:
    with ScriptedModel() as model:
        world = World(model)
        for place in range(3):
            send(world, f"evt_{place}", "voice", recording(words))
            world.run()
            world.wait(minutes=1)
    assert remembered(world) == [("silence", "")] * 3
    assert world.provider.texts == [profile().phrases.unheard]


def test_silence_beside_words_is_not_mentioned_and_the_words_are_answered() -> None:
    with ScriptedModel(["Hello!"]) as model:
        world = World(model)
        send(world, "evt_1", "voice", recording(""))
        world.say("evt_2", "sorry, pocket")
        world.run()
    assert new(model.replies_asked[0]) == ["[silence] ", "sorry, pocket"]
    assert world.provider.texts == ["Hello!"]


@pytest.mark.parametrize(
    ("kind", "data", "size", "why"),
    [
        ("voice", None, 0, "no longer there"),
        ("voice", OGG + b"x" * 17 * MEGABYTE, 0, "too large"),
        ("document", b"", 100 * MEGABYTE, "too large"),
        ("voice", b"#!AMR\nxxxx", 0, "could not be read"),
        ("image", b"<svg/>\x00", 0, "could not be read"),
        ("sticker", b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x02\x00\x00\x00", 0, "could not be read"),
        ("image", recording("not a picture")[:0], 0, "could not be read"),
    ],
)
def test_a_medium_that_cannot_be_read_becomes_a_note_that_is_answered(
    kind: str, data: bytes | None, size: int, why: str
) -> None:
    with ScriptedModel(["Could you write it?"]) as model:
        world = World(model)
        send(world, "evt_1", kind, data, size=size)
        world.run()
    ((_, text),) = remembered(world)
    assert why in text
    assert text.startswith("(The ")
    assert world.queue.fifo.dead == []
    assert world.provider.texts == ["Could you write it?"]


def test_an_oversized_document_is_not_even_fetched() -> None:
    world = World(ScriptedModel(["too big"]))
    send(world, "evt_1", "document", b"x", size=100 * MEGABYTE)
    world.run()
    assert world.provider.fetched == []


def test_a_medium_without_an_id_becomes_a_note() -> None:
    with ScriptedModel(["What was it?"]) as model:
        world = World(model)
        world.say("evt_1", "", kind="image", media=None)
        world.run()
    assert remembered(world) == [("image", "(The image could not be opened: it could not be read)")]


@pytest.mark.parametrize(
    "error",
    [ModelUnavailable("busy"), ModelRefused("no quota", code="insufficient_quota"), ModelAnswerUnusable("x")],
)
def test_a_passing_failure_is_tried_again_before_it_becomes_a_note(error: Exception) -> None:
    with ScriptedModel(["Heard you"]) as model:
        world = World(model)
        world.senses.fail(error)
        send(world, "evt_1", "voice", recording("hello there"))
        assert len(world.invoke()) == 1
        assert world.messages(CONVERSATION) == []
        world.run()
    assert remembered(world) == [("voice", "hello there")]


def test_a_lasting_failure_becomes_a_note_while_the_reply_still_has_attempts_left() -> None:
    with ScriptedModel(["Could you write?"]) as model:
        world = World(model)
        world.provider.fail_media(*[ProviderUnavailable("down")] * 3)
        send(world, "evt_1", "voice", recording("never heard"))
        world.run()
    assert len(world.provider.fetched) == 3
    assert "could not be opened" in remembered(world)[0][1]
    assert world.queue.fifo.dead == []


def test_audio_that_the_service_refuses_is_paid_for_once() -> None:
    with ScriptedModel(["Could you write?"]) as model:
        world = World(model)
        world.senses.fail(ModelRefused("cannot decode", code="invalid_request"))
        send(world, "evt_1", "voice", OGG + b"broken")
        world.run()
    assert len(world.senses.heard) == 1


def test_a_file_that_breaks_a_reader_is_no_poison_message() -> None:
    with ScriptedModel(["Could you write?"]) as model:
        world = World(model)
        world.senses.fail(ZeroDivisionError("a defect"))
        send(world, "evt_1", "image", picture("x"))
        world.run()
    assert world.queue.fifo.dead == []
    assert world.telemetry.counted("MediaUnreadable") == 1


def test_a_message_behind_a_postponed_medium_waits_for_it_and_one_before_it_does_not() -> None:
    with ScriptedModel(["first", "the rest"]) as model:
        world = World(model)
        world.provider.fail_media(ProviderUnavailable("down"))
        world.say("evt_1", "one")
        send(world, "evt_2", "voice", recording("two"))
        world.say("evt_3", "three")
        world.run()
    assert [text for _, text in remembered(world)] == ["one", "two", "three"]
    assert world.provider.texts == ["first", "the rest"]


def test_what_was_heard_and_remembered_is_not_paid_for_again() -> None:
    with ScriptedModel([ModelUnavailable("busy"), "answered"]) as model:
        world = World(model)
        send(world, "evt_1", "voice", recording("hello"))
        world.run()
        world.wait(minutes=10)
        send(world, "evt_1", "voice", recording("hello"))
        world.run()
    assert len(world.senses.heard) == 1
    assert world.provider.texts == ["answered"]


def test_a_redelivery_after_compaction_finds_the_turn_and_reads_nothing() -> None:
    with ScriptedModel(["answered"]) as model:
        world = World(model)
        send(world, "evt_1", "voice", recording("hello"))
        world.run()
        world.conversations.delete_messages(CONVERSATION, 2)
        world.wait(minutes=10)
        send(world, "evt_1", "voice", recording("hello"))
        world.run()
    assert len(world.senses.heard) == 1
    assert world.provider.texts == ["answered"]


def test_a_claim_that_fails_for_a_moment_loses_no_medium() -> None:
    with ScriptedModel(["answered"]) as model:
        world = World(model)
        world.tables.fail_next("claim", StoreUnavailable("throttled"))
        send(world, "evt_1", "voice", recording("hello"))
        world.run()
    assert remembered(world) == [("voice", "hello")]


def test_too_little_time_for_media_comes_again_without_fetching() -> None:
    with ScriptedModel(["answered"]) as model:
        world = World(model)
        world.remaining = 30.0
        send(world, "evt_1", "voice", recording("hello"))
        assert len(world.invoke()) == 1
        assert world.provider.fetched == []
        world.remaining = 80.0
        world.run()
    assert world.senses.seconds[0] <= 35.0


def test_media_beyond_the_limit_are_not_fetched() -> None:
    with ScriptedModel(["one", "two"]) as model:
        world = World(model, profiles={"sales": profile(limits=Limits(media=2))})
        for place in range(4):
            send(world, f"evt_{place}", "voice", recording(f"note {place}"))
            world.run()
            world.wait(minutes=2)
    assert len(world.provider.fetched) == 2
    assert "too many were sent" in remembered(world)[2][1]
    assert world.provider.texts == ["one", "two", profile().phrases.limited]


def test_a_provider_that_refuses_a_medium_says_why_in_the_metric() -> None:
    world = World(ScriptedModel(["sorry"]))
    world.provider.fail_media(MediaUnreadable("elsewhere", code="foreign_host"))
    send(world, "evt_1", "image", picture("x"))
    world.run()
    assert world.telemetry.counted("MediaUnreadable", kind="image", reason="foreign_host") == 1
