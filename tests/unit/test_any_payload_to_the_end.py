"""Payloads of any shape, from the webhook to the reply: nothing raises, sticks or is empty."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import profile
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from tests.unit.test_ingest_webhook_fuzz import (
    META_TYPES,
    NAMES,
    PROFILE,
    WHASP_TYPES,
    answered,
    anything,
    scalars,
)
from tests.unit.webhook_payloads import change, env, envelope, text, typed, value_of, whasp_event
from whatsapp_agent.events import Event, InboundMessage
from whatsapp_agent.memory.allowance import Limits
from whatsapp_agent.memory.records import conversation_key

UNEXPECTED = {
    "group_failed",
    "claim_failed",
    "turn_failed",
    "record_unreadable",
    "limiter_failed",
    "medium_failed",
}
MAGIC = [
    b"", b"OggS\x00\x02", b"\xff\xd8\xff\xe0", b"%PDF-1.7\n", b"RIFF\x00\x00\x00\x00WEBPVP8X", b"PK\x03\x04",
    b"hello ", b"#!AMR\n", b"\x00", b"\x1a\x45\xdf\xa3",
]  # fmt: skip
files = st.builds(lambda head, rest: head + rest, st.sampled_from(MAGIC), st.binary(max_size=30))


def live(provider: str, payload: Any, data: bytes = b"OggS\x00\x02hello") -> World:
    """Lets everything that the payload brings run to its end, and checks what must always hold."""
    _, queue = answered(provider, payload)
    model = ScriptedModel([lambda _prompt: "answer"] * 40)
    agent = profile(limits=Limits(), erase_words=("forget me",))
    world = World(model, profiles={"sales": agent}, forget_on_opt_out=True)
    events = queue.events
    world.clock = max([world.clock, *(event.received_at for event in events)])
    for event in events:
        if isinstance(event, InboundMessage) and event.media is not None:
            world.provider.media[event.media.id] = data
    world.arrive(*events)
    world.run()
    check(world, model, events)
    return world


def check(world: World, model: ScriptedModel, events: list[Event]) -> None:
    assert world.queue.fifo.bodies == []
    assert world.queue.fifo.dead == []
    assert not UNEXPECTED & set(world.telemetry.events())
    assert world.telemetry.counted("ReplyFailed") == 0
    for prompt in model.replies_asked:
        assert any(item.kind == "new" for item in prompt.items), "the model was asked about nothing"
        assert all(item.text.strip() for item in prompt.items), "an empty item"
    for sent in world.provider.sent:
        assert sent.text.strip()
        assert sent.address
    for event in events:
        if not isinstance(event, InboundMessage):
            continue
        conversation = conversation_key("sales", world.directory.resolve("", event.person).person)
        turn = world.ledger.turn(conversation, event.event_id)
        assert turn is None or turn.state not in ("claimed", "replied", "failed")
        for message in world.messages(conversation):
            spoken = message.role != "user" or message.kind == "text"
            assert message.text.strip() or not spoken or message.kind == "unsent", "an empty turn"


@pytest.mark.parametrize("provider", ["whasp", "meta"])
@PROFILE
@given(payload=anything)
def test_any_payload_comes_to_its_end(provider: str, payload: Any) -> None:
    live(provider, payload)


@PROFILE
@given(
    kind=st.sampled_from(WHASP_TYPES) | scalars,
    fields=st.dictionaries(st.sampled_from(NAMES), anything),
    data=files,
)
def test_any_content_of_a_whasp_message_comes_to_its_end(
    kind: Any, fields: dict[str, Any], data: bytes
) -> None:
    live("whasp", whasp_event({"media": {"id": "media_1"}, **fields, "type": kind}), data)


@PROFILE
@given(
    kind=st.sampled_from(META_TYPES),
    content=anything,
    fields=st.dictionaries(st.sampled_from(NAMES), anything),
    data=files,
)
def test_any_content_of_a_meta_message_comes_to_its_end_and_costs_no_other(
    kind: str, content: Any, fields: dict[str, Any], data: bytes
) -> None:
    bad = {**typed(kind, {"id": "1", **content} if isinstance(content, dict) else content), **fields}
    world = live("meta", env(text("first", "a"), bad, text("last", "b")), data)
    assert [sent.text for sent in world.provider.sent][:1] == ["answer"]


@PROFILE
@given(
    kind=st.sampled_from(META_TYPES), content=anything, fields=st.dictionaries(st.sampled_from(NAMES), anything)
)
def test_any_echo_comes_to_its_end(kind: str, content: Any, fields: dict[str, Any]) -> None:
    echo = {"to": "15550001111", **typed(kind, content), **fields}
    live("meta", envelope(change(value_of(message_echoes=[echo]), "smb_message_echoes")))


@PROFILE
@given(
    words=st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(["STOP", "forget me"])
)
def test_any_words_come_to_their_end(words: str) -> None:
    live("whasp", whasp_event({"text": words}))
