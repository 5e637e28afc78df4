"""Each function may do what it does, and nothing else: its policies against the calls that it really makes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.architecture.template import resources
from tests.integration.deployed import FUNCTIONS, Deployed, Permission, deployed
from tests.integration.scenario import Story

pytestmark = pytest.mark.filterwarnings(
    # The handlers keep their connections, as they do on Lambda; here they end with the test.
    "ignore::ResourceWarning",
    "ignore::pytest.PytestUnraisableExceptionWarning",
)

# What the service does on a function's behalf: it takes from the queue, and it writes the log.
TAKEN_BY_LAMBDA = {
    (f"sqs:{action}", queue)
    for action in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
    for queue in ("InboundQueue", "CompactionQueue")
}


def resource_of(value: Any) -> str:
    """The logical name behind an ARN of the template."""
    match value:
        case {"Ref": name} | {"Fn::GetAtt": [name, *_]}:
            return str(name)
        case {"Fn::Sub": text}:
            return str(text).split("${")[1].split(".")[0].split("}")[0]
    raise AssertionError(f"{value!r} points at no resource")


def granted(function: str) -> set[Permission]:
    """Every permission that the template gives a function, but those that Lambda itself uses."""
    role = FUNCTIONS[function].replace("Function", "Role")
    documents = [policy["PolicyDocument"] for policy in resources("AWS::IAM::Role")[role]["Policies"]]
    documents += [
        policy["PolicyDocument"]
        for policy in resources("AWS::IAM::Policy").values()
        if {"Ref": role} in policy["Roles"]
    ]
    found = set()
    for statement in (statement for document in documents for statement in document["Statement"]):
        actions, targets = statement["Action"], statement["Resource"]
        for action in actions if isinstance(actions, list) else [actions]:
            for target in targets if isinstance(targets, list) else [targets]:
                if not action.startswith("logs:"):
                    found.add((action, resource_of(target)))
    return found - TAKEN_BY_LAMBDA


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployed]:
    """A deployment in which the whole story was told."""
    folder: Path = tmp_path_factory.mktemp("permissions")
    with (
        pytest.MonkeyPatch.context() as monkeypatch,
        deployed(
            monkeypatch,
            folder,
            ArchiveDays="30",
            RetentionDays="30",
            EpisodeDays="30",
            WebhookToleranceSeconds="0",
        ) as made,
    ):
        Story(made).everything()
        yield made


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_everything_that_it_does(played: Deployed, function: str) -> None:
    missing = sorted(played.used[function] - granted(function))

    assert not missing, f"called and not allowed in template.yaml: {missing}"


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_may_do_nothing_that_it_does_not(played: Deployed, function: str) -> None:
    unused = sorted(granted(function) - played.used[function])

    assert not unused, f"allowed in template.yaml and never called: {unused}"
