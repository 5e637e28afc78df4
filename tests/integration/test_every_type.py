"""Every type of message of both providers, from its file in `events/` through the real handlers."""

import gc
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from moto import mock_aws

from tests.contracts.simulation import simulated_provider
from tests.contracts.test_documents import pdf
from tests.integration.message_path import MessagePath
from tools.local import sample_messages
from tools.local.sign_event import MAYA, SIGNED_AT, USER_ID, events, meta_headers
from tools.local.simulated_model.server import SimulatedModel
from tools.local.simulated_provider.server import SimulatedProvider
from tools.local.simulated_provider.state import Medium

# A function keeps its connections for the next invocation, and nobody tells it that a test was the last.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

EVENTS = Path(__file__).parents[2] / "events"
VOICE = b"OggS\x00\x02TRANSCRIPT:I start the new job on Monday"
PICTURE = b"\xff\xd8\xff\xe0PICTURE:a white desk"
STICKER = b"RIFF\x00\x00\x00\x00WEBPVP8 PICTURE:a waving cat"
OFFER = pdf("The total is 300 euros")
MEDIA = {
    "media_voice_1": VOICE, "media_audio_1": VOICE, "media_photo_1": PICTURE, "media_sticker_1": STICKER,
    "media_document_1": OFFER, "1001": VOICE, "1002": VOICE, "1003": PICTURE, "1005": OFFER, "1006": STICKER,
    "1003383421387256": VOICE,
}  # fmt: skip

# What is remembered of each: (kind, text), or None where nothing is; and the state of its turn.
PLACE = "Location: Plaça de Catalunya, Barcelona (41.3874, 2.1686)"
BOOK = "Contacts: Zoe Ruiz +34 600 333 444, No phone"
DOCUMENT = '(The document "offer.pdf" says:)\nThe total is 300 euros'
SHARED = {
    "video": ("video", "From the top\n(A video; videos are not watched)"),
    "audio": ("audio", "I start the new job on Monday"),
    "voice": ("voice", "I start the new job on Monday"),
    "sticker": ("sticker", "(The picture shows: a waving cat)"),
    "location": ("location", PLACE),
    "contacts": ("contacts", BOOK),
    "reaction": None,
    "button": ("button", "Yes, please"),
    "list": ("list", "The second plan"),
    "quoted": ("text", "I meant this one"),
    "edited": ("edited", "I start the new job on Tuesday"),
    "deleted": None,
    "text": ("text", "I start the new job on Monday"),
}
PHOTO = ("image", "My new desk\n(The picture shows: a white desk)")
WHASP = {
    **SHARED,
    "photo": PHOTO,
    "document": ("document", f"Your offer\n{DOCUMENT}"),
    "unsupported": ("unsupported", "[unsupported message: poll]"),
}
META = {
    **SHARED,
    "image": PHOTO,
    "document": ("document", f"Offer\n{DOCUMENT}"),
    "template-button": ("button", "Yes, please"),
    "form": ("button", "Form: city: Lima"),
    "order": ("text", "Order: 2 × tea-01 (3.5 EUR each). Please gift wrap"),
    "forwarded-ad": ("text", "Is it still there?"),
    "unsupported": ("unsupported", "[unsupported message]"),
    "unknown": ("unsupported", "[unsupported message]"),
}
SILENT = {"reaction", "edited", "deleted"}
NO_TURN = {"group", "number-changed"}


@pytest.fixture(scope="module")
def simulation() -> Iterator[tuple[SimulatedProvider, str]]:
    with simulated_provider() as (provider, url):
        yield provider, url


@pytest.fixture(scope="module")
def warm(
    simulation: tuple[SimulatedProvider, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, MessagePath]]:
    """Both deployments, started once: a cold start is most of what a test would take."""
    model = SimulatedModel()
    with pytest.MonkeyPatch.context() as monkeypatch, mock_aws():
        for name, value in {
            "AWS_ACCESS_KEY_ID": "x",
            "AWS_SECRET_ACCESS_KEY": "x",
            "AWS_DEFAULT_REGION": "eu-west-1",
            "POWERTOOLS_SERVICE_NAME": "stack-1",
        }.items():
            monkeypatch.setenv(name, value)
        paths = {
            kind: MessagePath(
                monkeypatch,
                tmp_path_factory.mktemp(kind),
                provider=kind,
                provider_url=simulation[1],
                model_url=model.url,
            )
            for kind in ("whasp", "meta")
        }
        yield paths
        paths.clear()
        # Here and not in another test, which would fail by it.
        gc.collect()
    model.close()


@pytest.fixture
def provider(simulation: tuple[SimulatedProvider, str]) -> SimulatedProvider:
    simulation[0].state.reset()
    for identifier, data in MEDIA.items():
        simulation[0].state.media[identifier] = Medium(identifier, "application/octet-stream", data)
    return simulation[0]


@pytest.fixture
def deploy(warm: dict[str, MessagePath], provider: SimulatedProvider) -> Callable[[str], MessagePath]:
    def clean(kind: str) -> MessagePath:
        warm[kind].forget()
        return warm[kind]

    return clean


def sample(name: str, **replaced: str) -> dict[str, Any]:
    """A file of `events/`. Meta's are sent now, and signed again: its window is 24 hours."""
    event: dict[str, Any] = json.loads((EVENTS / name).read_text("utf-8"))
    if "-meta-" in name:
        body = (
            event["body"]
            .replace(str(SIGNED_AT - 2), str(int(time.time())))
            .replace(str(SIGNED_AT - 1), str(int(time.time())))
        )
        for old, new in replaced.items():
            body = body.replace(old, new)
        event |= {"body": body, "headers": {**event["headers"], **meta_headers(body.encode())}}
    return event


@pytest.mark.parametrize(
    ("kind", "name", "expected"),
    [("whasp", name, expected) for name, expected in WHASP.items()]
    + [("meta", name, expected) for name, expected in META.items()],
)
def test_a_message_of_each_type_is_remembered_as_text_and_answered(
    deploy: Any, provider: SimulatedProvider, kind: str, name: str, expected: tuple[str, str] | None
) -> None:
    path = deploy(kind)
    assert path.deliver(sample(f"ingest-{kind}-{name}.json"))["statusCode"] == 200
    said = [(message.kind, message.text) for message in path.messages(MAYA) if message.role == "user"]
    assert said == ([expected] if expected else [])
    sent = provider.state.sent
    event_id = f"evt_{name}" if kind == "whasp" else f"wamid.sample-{name}"
    if name in SILENT:
        assert sent == []
        assert path.state(MAYA, event_id) == "silent"
    else:
        assert [message.person for message in sent] == [MAYA if kind == "whasp" else MAYA.removeprefix("+")]
        assert sent[0].text.strip()
        assert path.state(MAYA, event_id) == "sent"


def test_every_type_that_has_a_file_is_in_one_of_the_tables() -> None:
    assert {*sample_messages.WHASP} - {*WHASP} == set()
    assert {*sample_messages.META} - {*META} == NO_TURN


def test_stop_is_confirmed_and_a_replaced_number_changes_nobodys_memory(
    deploy: Any, provider: SimulatedProvider
) -> None:
    path = deploy("whasp")
    for name in ("text", "number-replaced", "stop", "unknown", "failed"):
        assert path.deliver(sample(f"ingest-whasp-{name}.json"))["statusCode"] == 200
    sent = [message.text for message in provider.state.sent]
    assert len(sent) == 2
    assert "not write to you again" in sent[1]
    assert path.conversations.summary(f"sales#{MAYA}").opted_out_at is not None


def test_a_batch_of_two_people_gets_one_answer_each(deploy: Any, provider: SimulatedProvider) -> None:
    path = deploy("meta")
    path.deliver(sample("ingest-meta-batch.json"))
    assert sorted(message.person for message in provider.state.sent) == ["34600111222", "5511987654321"]
    assert [m.kind for m in path.messages(MAYA)] == ["text", "text", "voice", "text"]


def test_a_person_without_a_phone_is_answered_under_their_user_id(
    deploy: Any, provider: SimulatedProvider
) -> None:
    path = deploy("meta")
    path.deliver(sample("ingest-meta-user-id.json"))
    assert [message.person for message in provider.state.sent] == [USER_ID]
    assert len(path.messages(USER_ID)) == 2


def test_the_owners_echo_is_remembered_and_keeps_the_agent_quiet(
    deploy: Any, provider: SimulatedProvider
) -> None:
    path = deploy("meta")
    path.deliver(sample("ingest-meta-echo.json"))
    assert [(m.role, m.text) for m in path.messages(MAYA)] == [("owner", "This is Ana, I take over")]
    assert provider.state.sent == []


def test_a_changed_number_keeps_its_memory(deploy: Any) -> None:
    path = deploy("meta")
    path.deliver(sample("ingest-meta-text.json"))
    path.deliver(sample("ingest-meta-number-changed.json"))
    changed = {"34600111222": "34600111333", "wamid.sample-text": "wamid.later"}
    path.deliver(sample("ingest-meta-text.json", **changed))
    assert len(path.messages(MAYA)) == 4


@pytest.mark.parametrize("name", ["group", "read", "failed"])
def test_what_is_no_message_to_the_agent_leaves_nothing(
    deploy: Any, provider: SimulatedProvider, name: str
) -> None:
    path = deploy("meta")
    assert path.deliver(sample(f"ingest-meta-{name}.json"))["statusCode"] == 200
    assert path.messages(MAYA) == []
    assert provider.state.sent == []


def test_a_quote_an_edit_and_a_deletion_reach_the_message_that_they_are_about(deploy: Any) -> None:
    path = deploy("whasp")
    for name in ("text", "quoted", "edited"):
        path.deliver(sample(f"ingest-whasp-{name}.json"))
    first, _, quoting, _ = path.messages(MAYA)
    assert first.text == "I start the new job on Tuesday"
    assert quoting.quote == "I start the new job on Monday"
    path.deliver(sample("ingest-whasp-deleted.json"))
    assert (path.messages(MAYA)[0].kind, path.messages(MAYA)[0].text) == ("deleted", "")


def test_a_message_that_comes_a_day_late_is_remembered_and_not_answered(
    deploy: Any, provider: SimulatedProvider
) -> None:
    path = deploy("meta")
    path.deliver(json.loads((EVENTS / "ingest-meta-text.json").read_text("utf-8")))
    assert path.state(MAYA, "wamid.sample-text") == "undelivered"
    assert len(path.messages(MAYA)) == 1
    assert provider.state.sent == []


def test_the_samples_are_those_of_the_script() -> None:
    assert {f"ingest-whasp-{name}.json" for name in WHASP} <= set(events())
