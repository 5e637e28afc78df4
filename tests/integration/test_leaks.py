"""Nothing that a person said, no phone number and no secret leaves by a side door.

A canary stands in every text that a person or a provider can fill, and the phone numbers and secrets are known.
After a story with everything that can happen, good and bad, they are searched for in all that the handlers
wrote, answered or raised, and in what the queues and the archive show beside their contents.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.builders import PERSON
from tests.integration.deployed import SECRETS, Deployed, deployed
from tests.integration.scenario import ALIAS, FRIEND, MOVED, SILENT, THIRD, Story
from whatsapp_agent.errors import ConfigurationError

pytestmark = pytest.mark.filterwarnings(
    # The handlers keep their connections, as they do on Lambda; here they end with the test.
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

CANARY = "zq7canary4xw"
PHONES = [phone.lstrip("+") for phone in (PERSON, FRIEND, MOVED, SILENT, THIRD, "+4915112345678")]
PRIVATE = [
    CANARY,
    ALIAS,
    *PHONES,
    *(text for texts in SECRETS.values() for text in texts.values() if text),
]


def found_in(text: str) -> list[str]:
    return [private for private in PRIVATE if private in text]


@dataclass
class Told:
    """What a story left behind: what the handlers wrote, and the deployment."""

    written: str
    answers: str
    deployed: Deployed


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    folder: Path = tmp_path_factory.mktemp("leaks")
    capture = pytest.MonkeyPatch()
    written = folder / "written"
    with written.open("w", encoding="utf-8") as stream, pytest.MonkeyPatch.context() as monkeypatch:
        capture.setattr("sys.stdout", stream)
        capture.setattr("sys.stderr", stream)
        try:
            with deployed(
                monkeypatch,
                folder,
                ArchiveDays="30",
                RetentionDays="30",
                EpisodeDays="30",
                WebhookToleranceSeconds="0",
            ) as made:
                story = Story(made, CANARY)
                answers: list[object] = []
                made.answered = answers.append
                story.everything()
                stream.flush()
                yield Told(written.read_text("utf-8"), json.dumps(answers), made)
        finally:
            capture.undo()


def test_the_story_was_told_and_the_canary_was_in_it(told: Told) -> None:
    """A search that finds nothing proves something only where there was something to find."""
    stored = json.dumps(told.deployed.items(), default=str)
    assert CANARY in stored
    for event in ("compaction_failed", "reply_failed", "record_unreadable", "bad_signature", "person_erased"):
        assert f'"{event}"' in told.written
    for metric in ("Compaction", "ModelRefused", "Erased", "StepMilliseconds", "MediaUnreadable"):
        assert f'"{metric}"' in told.written


def test_no_log_line_no_metric_and_no_trace_holds_anything_private(told: Told) -> None:
    guilty = [line[:300] for line in told.written.splitlines() if found_in(line)]

    assert guilty == []


def test_no_answer_of_a_handler_holds_anything_private(told: Told) -> None:
    assert found_in(told.answers) == []


def test_what_the_queues_show_beside_the_body_is_the_person_as_group_and_nothing_else(told: Told) -> None:
    """docs/privacy.md: the message group of the inbound queue is the phone number, that of the compaction queue
    the conversation. Deduplication ids are the provider's event ids.
    """
    told.deployed.send(Story(told.deployed, CANARY).message("queued", event_id="evt_plain"))
    (message,) = told.deployed.queued("InboundQueue")
    attributes = dict(message["Attributes"])
    assert attributes.pop("MessageGroupId") == PERSON
    assert found_in(json.dumps(attributes)) == []
    assert "MessageAttributes" not in message


def test_the_names_of_archived_objects_and_of_erasures_tell_nothing(told: Told) -> None:
    assert told.deployed.objects()
    assert found_in(json.dumps(list(told.deployed.objects()))) == []
    erased = [item["id"]["S"] for item in told.deployed.items()["DirectoryTable"] if "at" in item]
    assert erased
    assert found_in(json.dumps(erased)) == []


@pytest.mark.parametrize("function", ["ingest", "reply", "compact", "erase"])
def test_a_wrong_setting_is_named_without_anything_private(
    told: Told, function: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    told.deployed.restart()
    broken = {name: "" for name in told.deployed.environment(function) if name.endswith(("_URL", "_ARN"))}
    told.deployed.overrides = broken
    try:
        with pytest.raises(ConfigurationError) as error:
            told.deployed.invoke(function, {"Records": []})
    finally:
        told.deployed.overrides = {}
    assert found_in(str(error.value)) == []


@pytest.mark.parametrize("secret", ["ServiceSecretStore", "HashKeyStore"])
def test_a_secret_that_is_no_json_is_not_quoted(told: Told, secret: str) -> None:
    told.deployed.restart()
    arn = told.deployed.physical[secret]
    told.deployed.secrets.put_secret_value(SecretId=arn, SecretString=f"not json {CANARY}")
    try:
        with pytest.raises(ConfigurationError) as error:
            told.deployed.invoke("reply", {"Records": []})
    finally:
        told.deployed.secrets.put_secret_value(SecretId=arn, SecretString=json.dumps(SECRETS[secret]))
    chained: list[BaseException] = []
    step: BaseException | None = error.value
    while step is not None:
        chained.append(step)
        step = step.__cause__ or (None if step.__suppress_context__ else step.__context__)
    assert found_in(" ".join(map(repr, chained))) == []
