"""Nothing private passes through telemetry, and what is counted can be alarmed on."""

import io
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.fakes.telemetry import RecordingTelemetry
from whatsapp_agent.errors import ConfigurationError, QueueUnavailable, SendRejected
from whatsapp_agent.redaction import FIELDS, redact
from whatsapp_agent.telemetry import NAMESPACE, PowertoolsTelemetry

KEY = b"a key that never changes"


class Writer:
    def __init__(self, name: str) -> None:
        self.stream = io.StringIO()
        self.telemetry = PowertoolsTelemetry("reply", service=name, hash_key=KEY, stream=self.stream)

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]


@pytest.fixture
def writer(request: pytest.FixtureRequest) -> Writer:
    return Writer(request.node.name)


def test_a_line_has_its_event_level_fields_and_the_place_of_its_caller(writer: Writer) -> None:
    writer.telemetry.info("one_thing", kind="voice", seconds=0.12345, known=True, reason=None)
    writer.telemetry.warning("another_thing")
    writer.telemetry.error("third_thing", events=3)
    info, warning, error = writer.lines
    assert (info["level"], info["message"], info["kind"], info["seconds"]) == (
        "INFO",
        "one_thing",
        "voice",
        0.123,
    )
    assert info["location"].startswith("test_a_line_has_its_event")
    assert "reason" not in info
    assert info["function"] == "reply"
    assert (warning["level"], error["level"], error["events"]) == ("WARNING", "ERROR", 3)


@pytest.mark.parametrize(
    "name", ["text", "phone", "address", "number", "secret", "body", "name", "prompt", "value"]
)
def test_a_field_that_could_hold_something_private_is_left_out_and_named(writer: Writer, name: str) -> None:
    assert name not in FIELDS
    writer.telemetry.info("thing", **{name: "xyzzy"})
    assert "xyzzy" not in writer.stream.getvalue()
    assert writer.lines[0]["dropped_fields"] == [name]


def test_the_recording_fake_complains_about_such_a_field() -> None:
    with pytest.raises(AssertionError):
        RecordingTelemetry().info("thing", text="xyzzy")


@pytest.mark.parametrize("name", ["conversation", "person"])
def test_an_identity_is_written_as_its_keyed_hash(writer: Writer, name: str) -> None:
    writer.telemetry.info("thing", **{name: "sales#+34600111222"})
    assert writer.lines[0][name] == writer.telemetry.conversation_hash("sales#+34600111222")
    assert "34600111222" not in writer.stream.getvalue()


def test_the_hash_depends_on_the_key_and_without_one_on_the_process() -> None:
    person = "+34600111222"
    keyed = PowertoolsTelemetry("a", hash_key=KEY).conversation_hash(person)
    assert keyed == PowertoolsTelemetry("b", hash_key=KEY).conversation_hash(person)
    assert keyed != PowertoolsTelemetry("c", hash_key=b"other").conversation_hash(person)
    unkeyed = PowertoolsTelemetry("d")
    assert unkeyed.conversation_hash(person) == unkeyed.conversation_hash(person)
    assert unkeyed.conversation_hash(person) != PowertoolsTelemetry("e").conversation_hash(person)


@pytest.mark.parametrize(
    ("error", "written"),
    [
        (QueueUnavailable("SQS refused 3 messages"), "QueueUnavailable: SQS refused 3 messages"),
        (SendRejected("refused", code="131026"), "131026: refused"),
        (ConfigurationError("AGENT_ID is missing"), "ConfigurationError: AGENT_ID is missing"),
        (ValueError("xyzzy"), "ValueError"),
        (object(), "object"),
        (["xyzzy"], "list"),
        ({"xyzzy": 1}, "dict"),
    ],
)
def test_an_error_of_ours_is_written_with_its_message_and_anothers_without(
    writer: Writer, error: object, written: str
) -> None:
    writer.telemetry.error("thing", error=error)
    assert writer.lines[0]["error"] == written


@pytest.mark.parametrize(
    "private",
    [
        "+34600111222",
        "34600111222",
        "+34 600 111 222",
        "(555) 010-1234 567",
        "sales#+34600111222",
        "٣٤٦٠٠١١١٢٢٢",
        "US.13491208655302741918",
        "US.ENT.11815799212886844830",
        "wamid.HBgLMzQ2MDAxMTEyMjIVAgASGBQzQTdCNTg5RjY1MEMyRjlGMjRGNgA=",
        "sk-proj-abcdefgh12345678",
        "whsec_c2FtcGxlLXNlY3JldA==",
        "Bearer abc.def",
        "EAAGm0PX4ZCpsBAKZCZC1234",
    ],
)
@pytest.mark.parametrize("sentence", ["{}", "call {} now", "x={};", '"{}"'])
def test_numbers_ids_and_secrets_are_masked(private: str, sentence: str) -> None:
    assert private not in redact(sentence.format(private))


@pytest.mark.parametrize(
    "harmless",
    [
        "a later reply answers it",
        "2026-11-29T10:00:00.000Z",
        "HTTP 503 after 12.5 s",
        "inbound.py:102 < ingest.py:88",
        "131026",
        "ThrottlingException",
        "message.received",
    ],
)
def test_what_is_not_private_stays(harmless: str) -> None:
    assert redact(harmless) == harmless


def test_a_value_is_one_short_line() -> None:
    assert redact("a\nb " * 500) == ("a b " * 500)[:300]


def metrics(output: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in output.splitlines() if "_aws" in line]


def test_counts_of_an_invocation_are_added_up_and_written_once(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = PowertoolsTelemetry("reply", service="stack-1")
    telemetry.count("Turn", 2)
    telemetry.count("Turn")
    telemetry.count("Nothing", 0)
    assert metrics(capsys.readouterr().out) == []
    telemetry.flush()
    (line,) = metrics(capsys.readouterr().out)
    assert line["Turn"] == [3.0]
    assert "Nothing" not in line
    (described,) = line["_aws"]["CloudWatchMetrics"]
    assert described["Namespace"] == NAMESPACE
    assert described["Dimensions"] == [["service"]]
    assert line["service"] == "stack-1"
    telemetry.flush()
    assert metrics(capsys.readouterr().out) == []


def test_a_metric_with_dimensions_is_also_kept_without_them(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = PowertoolsTelemetry("reply", service="stack-1")
    telemetry.count("Ignored", 2, reason="blank")
    telemetry.count("Ignored", 1, reason="group")
    telemetry.flush()
    lines = metrics(capsys.readouterr().out)
    assert {line["reason"]: line["Ignored"] for line in lines} == {"blank": [2.0], "group": [1.0]}
    for line in lines:
        assert line["_aws"]["CloudWatchMetrics"][0]["Dimensions"] == [["service"], ["service", "reason"]]


def test_a_dimension_is_masked_like_a_field(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = PowertoolsTelemetry("reply", service="stack-1")
    telemetry.count("Ignored", reason="+34600111222", text="xyzzy")
    telemetry.flush()
    written = capsys.readouterr().out
    assert "34600111222" not in written
    assert "xyzzy" not in written


def test_counting_from_many_threads_loses_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = PowertoolsTelemetry("reply", service="stack-1")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda _: telemetry.count("Turn"), range(1_000)))
    telemetry.flush()
    assert metrics(capsys.readouterr().out)[0]["Turn"] == [1000.0]


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -0.0])
def test_what_is_no_number_is_not_counted(capsys: pytest.CaptureFixture[str], value: float) -> None:
    telemetry = PowertoolsTelemetry("reply", service="stack-1")
    telemetry.count("Turn", value)
    telemetry.flush()
    assert metrics(capsys.readouterr().out) == []


def test_the_stacks_name_is_the_service_of_every_function(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("POWERTOOLS_SERVICE_NAME", "stack-2")
    for function in ("reply", "compact"):
        telemetry = PowertoolsTelemetry(function)
        telemetry.count("Turn")
        telemetry.flush()
    assert [line["service"] for line in metrics(capsys.readouterr().out)] == ["stack-2", "stack-2"]


def test_measurements_are_kept_one_by_one_in_milliseconds(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = PowertoolsTelemetry("reply", service="measured", hash_key=KEY)
    for milliseconds in (10.04, 20, -1, float("nan")):
        telemetry.measure("AnswerMilliseconds", milliseconds)
    with pytest.raises(ValueError, match="inside"), telemetry.step("model"):
        raise ValueError("inside")
    telemetry.count("Turn")
    telemetry.flush()
    telemetry.flush()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 2
    assert lines[0]["AnswerMilliseconds"] == [10.0, 20.0, 0.0]
    assert lines[0]["Turn"] == [1.0]
    units = {metric["Name"]: metric["Unit"] for metric in lines[0]["_aws"]["CloudWatchMetrics"][0]["Metrics"]}
    assert units == {"Turn": "Count", "AnswerMilliseconds": "Milliseconds"}
    assert lines[1]["step"] == "model"
    assert len(lines[1]["StepMilliseconds"]) == 1


def test_more_measurements_than_one_line_holds_are_all_written(capsys: pytest.CaptureFixture[str]) -> None:
    telemetry = PowertoolsTelemetry("reply", service="many", hash_key=KEY)
    for _ in range(250):
        telemetry.measure("StepMilliseconds", 1.0, step="read")
    telemetry.flush()
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert sum(len(line["StepMilliseconds"]) for line in lines) == 250
    assert {line["step"] for line in lines} == {"read"}
