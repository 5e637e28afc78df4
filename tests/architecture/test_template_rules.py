"""What every queue, function, policy and table of template.yaml has to keep to."""

import re
from typing import Any

import pytest

from tests.architecture.template import ROOT, functions, name_in, resources, template

QUEUES = resources("AWS::SQS::Queue")
DEAD_LETTERS = {
    name: name_in(queue["RedrivePolicy"]["deadLetterTargetArn"])
    for name, queue in QUEUES.items()
    if "RedrivePolicy" in queue
}
ALARMS = resources("AWS::CloudWatch::Alarm")
ROLES = resources("AWS::IAM::Role")
TABLES = resources("AWS::DynamoDB::Table")
KEPT = {*TABLES, "ArchiveBucket", "HashKeyStore"}


def queue_events() -> list[tuple[str, dict[str, Any], dict[str, Any]]]:
    """Every SQS event: function, its properties, the event's properties."""
    return [
        (name, function, event["Properties"])
        for name, function in functions().items()
        for event in function.get("Events", {}).values()
        if event["Type"] == "SQS"
    ]


def watched(queue: str, metric: str) -> list[dict[str, Any]]:
    return [
        alarm
        for alarm in ALARMS.values()
        if alarm["MetricName"] == metric
        and alarm["Dimensions"][0]["Value"] == {"Fn::GetAtt": [queue, "QueueName"]}
    ]


def test_every_queue_event_reports_failures_record_by_record() -> None:
    events = queue_events()

    assert {name for name, _, _ in events} == {"ReplyFunction", "CompactFunction"}
    assert all(event["FunctionResponseTypes"] == ["ReportBatchItemFailures"] for _, _, event in events)


def test_a_fifo_event_has_no_batching_window() -> None:
    assert not any("MaximumBatchingWindowInSeconds" in event for _, _, event in queue_events())


def test_a_message_stays_hidden_six_times_as_long_as_its_function_may_run() -> None:
    for _, function, event in queue_events():
        assert QUEUES[name_in(event["Queue"])]["VisibilityTimeout"] >= 6 * function["Timeout"]


def test_every_queue_is_fifo_encrypted_and_scales_by_person() -> None:
    for queue in QUEUES.values():
        assert queue["FifoQueue"] is True
        assert queue["FifoThroughputLimit"] == "perMessageGroupId"
        assert queue["DeduplicationScope"] == "messageGroup"
        assert queue["SqsManagedSseEnabled"] is True
        assert queue.get("ContentBasedDeduplication", False) is False


def test_every_working_queue_has_a_dead_letter_queue_that_keeps_longest() -> None:
    assert set(DEAD_LETTERS) | set(DEAD_LETTERS.values()) == set(QUEUES)
    assert not set(DEAD_LETTERS) & set(DEAD_LETTERS.values())
    for queue, dead_letters in DEAD_LETTERS.items():
        assert QUEUES[dead_letters]["MessageRetentionPeriod"] == 14 * 86_400
        assert QUEUES[queue]["MessageRetentionPeriod"] >= 4 * 86_400


def test_burst_delay_is_the_queue_s_own() -> None:
    assert QUEUES["InboundQueue"]["DelaySeconds"] == {"Ref": "BurstSeconds"}


@pytest.mark.parametrize("queue", DEAD_LETTERS)
def test_dead_letters_and_waiting_raise_an_alarm(queue: str) -> None:
    (depth,) = watched(DEAD_LETTERS[queue], "ApproximateNumberOfMessagesVisible")
    (age,) = watched(queue, "ApproximateAgeOfOldestMessage")

    assert (depth["Threshold"], depth["ComparisonOperator"]) == (0, "GreaterThanThreshold")
    assert age["Threshold"] > 0


def test_every_alarm_says_what_is_wrong_and_goes_where_the_user_said() -> None:
    for alarm in ALARMS.values():
        assert alarm["AlarmDescription"].endswith((".", "?"))
        assert alarm["AlarmActions"] == {
            "Fn::If": ["HasAlarmEmail", [{"Ref": "AlarmTopic"}], {"Ref": "AWS::NoValue"}]
        }
        assert alarm["TreatMissingData"] == "notBreaching"


def test_every_alarm_of_our_own_metrics_watches_one_that_is_counted() -> None:
    source = "".join(path.read_text("utf-8") for path in (ROOT / "layers" / "core").rglob("*.py"))
    own = {alarm["MetricName"]: alarm for alarm in ALARMS.values() if alarm["Namespace"] == "WhatsAppAgent"}

    assert set(own) == {
        "BadSignature",
        "CompactionFailed",
        "Misconfigured",
        "ModelRefused",
        "ProviderRefused",
        "UnreadableRecord",
    }
    for metric, alarm in own.items():
        assert re.search(rf'\.count\(\s*"{metric}"', source)
        assert alarm["Dimensions"] == [{"Name": "service", "Value": {"Ref": "AWS::StackName"}}]


def test_every_function_counts_under_the_stack_s_name() -> None:
    shared = template()["Globals"]["Function"]["Environment"]["Variables"]

    assert shared == {"POWERTOOLS_SERVICE_NAME": {"Ref": "AWS::StackName"}}


@pytest.mark.parametrize("name", functions())
def test_a_function_has_its_own_role_and_its_own_log_group_with_retention(name: str) -> None:
    function = functions()[name]
    logs = name_in(function["LoggingConfig"]["LogGroup"])

    assert (name_in(function["Role"]), logs) == (
        name.replace("Function", "Role"),
        name.replace("Function", "Logs"),
    )
    assert template()["Resources"][logs]["Properties"]["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("name", ROLES)
def test_a_policy_names_single_actions_on_single_resources(name: str) -> None:
    role = ROLES[name]
    assert "ManagedPolicyArns" not in role
    for statement in role["Policies"][0]["PolicyDocument"]["Statement"]:
        actions, targets = statement["Action"], statement["Resource"]
        for action in [actions] if isinstance(actions, str) else actions:
            assert re.fullmatch(r"[a-z]+:[A-Za-z]+", action)
        for target in targets if isinstance(targets, list) else [targets]:
            assert name_in(target) in template()["Resources"]


def test_ingest_can_read_nothing_but_its_secret_and_write_nothing_but_its_queue() -> None:
    statements = ROLES["IngestRole"]["Policies"][0]["PolicyDocument"]["Statement"]

    allowed = {
        statement["Action"]: name_in(statement["Resource"])
        for statement in statements
        if statement["Sid"] != "Log"
    }
    assert allowed == {"secretsmanager:GetSecretValue": "WebhookSecretStore", "sqs:SendMessage": "InboundQueue"}


def test_the_model_s_sdk_is_attached_only_where_the_model_is_asked() -> None:
    attached = {
        name: {name_in(layer) for layer in function["Layers"]} for name, function in functions().items()
    }

    assert {name for name, layers in attached.items() if "ModelSdkLayer" in layers} == {
        "ReplyFunction",
        "CompactFunction",
    }
    assert all("CoreLayer" in layers for layers in attached.values())


def test_what_globals_say_is_not_said_again() -> None:
    shared = template()["Globals"]["Function"]
    for function in resources("AWS::Serverless::Function").values():
        assert not [key for key, value in function.items() if key != "Environment" and shared.get(key) == value]


@pytest.mark.parametrize("name", TABLES)
def test_a_table_costs_nothing_idle_is_encrypted_recoverable_and_forgets(name: str) -> None:
    table = TABLES[name]

    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires_at", "Enabled": True}


def test_vectors_are_searched_within_one_owner() -> None:
    (index,) = TABLES["RecallTable"]["VectorIndexes"]

    assert index["SearchSchema"] == [
        {"AttributeName": "owner", "SearchSchemaElementType": "HASH"},
        {"AttributeName": "model", "SearchSchemaElementType": "INLINE_FILTER"},
    ]


def test_the_index_and_the_functions_agree_on_the_length_of_vectors() -> None:
    (index,) = TABLES["RecallTable"]["VectorIndexes"]
    variables = [function["Environment"]["Variables"] for function in functions().values()]
    told = [each["EMBEDDING_DIMENSIONS"] for each in variables if "EMBEDDING_DIMENSIONS" in each]

    assert len(told) == 2
    assert all(each == index["Dimensions"] for each in told)


def test_removing_the_stack_keeps_memory_and_what_marks_erasures_and_nothing_else() -> None:
    policies = {
        name: resource.get("DeletionPolicy", "Delete") for name, resource in template()["Resources"].items()
    }

    assert {name for name, policy in policies.items() if policy != "Delete"} == KEPT
    assert {policies[name] for name in KEPT} == {"RetainExceptOnCreate"}


def test_the_template_makes_nothing_that_costs_while_nobody_writes() -> None:
    kinds = {resource["Type"] for resource in template()["Resources"].values()}

    assert not kinds & {"AWS::EC2::NatGateway", "AWS::RDS::DBInstance", "AWS::KMS::Key", "AWS::Lambda::Alias"}
    assert not any("ProvisionedConcurrencyConfig" in function for function in functions().values())
