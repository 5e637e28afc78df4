"""Each alarm of docs/operations.md fires when its trouble is there, and keeps quiet when it is not.

For our own metrics the trouble is made by the application itself, on fakes; for AWS's metrics it is the number
that AWS would report. An alarm is judged by the definition in template.yaml, as CloudWatch does.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.architecture.template import ROOT, name_in, resources
from tests.builders import NOW, inbound
from tests.fakes.model import ScriptedModel
from tests.fakes.telemetry import RecordingTelemetry
from tests.fakes.world import World
from whatsapp_agent.compaction.jobs import CompactionJobs
from whatsapp_agent.errors import (
    ConfigurationError,
    InvalidSignature,
    ModelAnswerUnusable,
    ModelRefused,
    WindowClosed,
)
from whatsapp_agent.ingest import HttpRequest, Ingest
from whatsapp_agent.memory.records import CompactionJob
from whatsapp_agent.ports.queues import QueueRecord

ALARMS = resources("AWS::CloudWatch::Alarm")
OPERATIONS = (ROOT / "docs" / "operations.md").read_text("utf-8")
ROWS = re.findall(r"^\| `(\w+Alarm)` \| (.+?) \| (.+?) \|$", OPERATIONS, re.M)
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "GreaterThanThreshold": lambda value, threshold: value > threshold,
    "GreaterThanOrEqualToThreshold": lambda value, threshold: value >= threshold,
}


def fires(alarm: Mapping[str, Any], values: Sequence[float]) -> bool:
    """Whether the values of one period set the alarm off; none at all is as good as quiet."""
    if not values:
        return bool(alarm["TreatMissingData"] == "breaching")
    value = {"Sum": sum, "Maximum": max}[alarm["Statistic"]](values)
    return COMPARISONS[alarm["ComparisonOperator"]](value, alarm["Threshold"])


@dataclass
class Door:
    """A webhook whose check ends as told."""

    error: Exception
    telemetry: RecordingTelemetry = field(default_factory=RecordingTelemetry)

    def verify(self, headers: Mapping[str, str], body: bytes, now: object) -> None:
        raise self.error

    def knock(self, times: int) -> RecordingTelemetry:
        ingest = Ingest(self, "/webhooks/whasp", None, self.telemetry, lambda: NOW)  # type: ignore[arg-type]
        for _ in range(times):
            ingest.handle(HttpRequest("POST", "/webhooks/whasp", body=b"{}"))
        return self.telemetry


def bad_signatures() -> RecordingTelemetry:
    return Door(InvalidSignature("not ours")).knock(3)


def misconfigured() -> RecordingTelemetry:
    return Door(ConfigurationError("no secret")).knock(1)


def model_refuses() -> RecordingTelemetry:
    with ScriptedModel([ModelRefused("no quota", code="insufficient_quota")]) as model:
        world = World(model)
        world.say("evt_1", "hi")
        world.invoke()
    return world.telemetry


def provider_refuses() -> RecordingTelemetry:
    with ScriptedModel(["one", "two", "three"]) as model:
        world = World(model)
        for place in range(3):
            world.provider.fail(WindowClosed("too late", code="window_closed"))
            world.say(f"evt_{place}", "hi")
            world.run()
    return world.telemetry


def unreadable() -> RecordingTelemetry:
    with ScriptedModel() as model:
        world = World(model)
        world.queue.fifo.put("+34600111222", "1", "no event")
        world.invoke()
    return world.telemetry


def compactions_fail() -> RecordingTelemetry:
    with ScriptedModel() as model:
        world = World(model, keep_messages=0)
        model.will_reply("hello")
        world.say("evt_1", "hi")
        world.run()
        conversation = next(iter(world.tables.messages))
        model.will_compact(*[ModelAnswerUnusable("nothing")] * 3)
        jobs = CompactionJobs(world.compactor, lambda _: CompactionJob(conversation, 0), world.telemetry)
        for attempt in range(1, 4):
            jobs.handle([QueueRecord("m1", "r1", "g", "job", attempt, last_attempt=False)], lambda: 60.0)
    return world.telemetry


MADE: dict[str, Callable[[], RecordingTelemetry]] = {
    "BadSignaturesAlarm": bad_signatures,
    "MisconfiguredAlarm": misconfigured,
    "ModelRefusalsAlarm": model_refuses,
    "ProviderRefusalsAlarm": provider_refuses,
    "UnreadableRecordsAlarm": unreadable,
    "CompactionFailuresAlarm": compactions_fail,
}
# What AWS reports: quiet, in trouble; and the resource that it is about.
REPORTED: dict[str, tuple[float, float, str]] = {
    "InboundDeadLettersAlarm": (0, 1, "InboundDeadLetterQueue"),
    "CompactionDeadLettersAlarm": (0, 1, "CompactionDeadLetterQueue"),
    "InboundDelayAlarm": (30, 601, "InboundQueue"),
    "CompactionDelayAlarm": (600, 3601, "CompactionQueue"),
    "IngestFailuresAlarm": (0, 1, "IngestFunction"),
    "ReplyFailuresAlarm": (0, 1, "ReplyFunction"),
    "CompactFailuresAlarm": (0, 1, "CompactFunction"),
}


def test_every_alarm_has_a_row_that_says_what_it_means_and_what_to_type() -> None:
    assert sorted(name for name, _, _ in ROWS) == sorted(ALARMS) == sorted({**MADE, **REPORTED})
    assert all(len(meaning) > 20 and len(remedy) > 10 for _, meaning, remedy in ROWS)


@pytest.mark.parametrize("name", MADE)
def test_an_alarm_on_our_own_metric_fires_when_the_application_meets_the_trouble(name: str) -> None:
    alarm = ALARMS[name]

    assert fires(alarm, [MADE[name]().counts[alarm["MetricName"]]])


@pytest.mark.parametrize("name", MADE)
def test_an_alarm_on_our_own_metric_keeps_quiet_on_a_good_day(name: str) -> None:
    with ScriptedModel(["hello"]) as model:
        world = World(model)
        world.arrive(inbound("evt_1", "hi"))
        world.run()
    counted = world.telemetry.counts.get(ALARMS[name]["MetricName"])

    assert not fires(ALARMS[name], [counted] if counted else [])


@pytest.mark.parametrize("name", REPORTED)
def test_an_alarm_on_a_metric_of_aws_tells_quiet_from_trouble(name: str) -> None:
    quiet, trouble, about = REPORTED[name]
    (dimension,) = ALARMS[name]["Dimensions"]

    assert not fires(ALARMS[name], [quiet])
    assert fires(ALARMS[name], [quiet, trouble])
    assert name_in(dimension["Value"]) == about


def test_the_dashboard_shows_only_metrics_that_are_counted() -> None:
    body, values = resources("AWS::CloudWatch::Dashboard")["Dashboard"]["DashboardBody"]["Fn::Sub"]
    source = "".join(path.read_text("utf-8") for path in (ROOT / "layers" / "core").rglob("*.py"))
    shown = set(re.findall(r'\["WhatsAppAgent", "(\w+)"', body))

    assert values == {"S": {"Ref": "AWS::StackName"}}
    assert shown >= {"Turn", "StepMilliseconds", "ReplyMicrodollars", "ReplyCachedTokens", "Compaction"}
    assert [name for name in shown if f'"{name}"' not in source] == []


def test_every_metric_of_the_documented_list_is_counted_somewhere() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "layers" / "core").rglob("*.py"))
    table = OPERATIONS.split("## Metrics and dashboard")[1].split("\n## ")[0]
    named = {
        name for row in re.findall(r"^\| (`.+?) \|", table, re.M) for name in re.findall(r"`([A-Z]\w+)`", row)
    }

    assert len(named) > 25
    assert [name for name in sorted(named) if f'"{name}"' not in source] == []
