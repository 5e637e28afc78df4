"""The parameters and outputs of template.yaml are a public contract, and explain and guard themselves."""

import json
import re
from typing import Any

import pytest

from tests.architecture.template import references, template

CONTRACT = {
    "Provider": "whasp",
    "AgentId": "companion",
    "OpenAIApiKey": None,
    "OpenAIBaseUrl": "",
    "WebhookSecret": None,
    "ProviderApiKey": None,
    "WhaspApiUrl": "",
    "GraphApiUrl": "https://graph.facebook.com/v26.0",
    "MetaVerifyToken": "",
    "ReplyModel": "gpt-6-luna",
    "MemoryModel": "gpt-6-luna",
    "EmbeddingModel": "text-embedding-3-small",
    "BurstSeconds": 2,
    "ContextChars": 12000,
    "ContextMessages": 60,
    "ContextTokens": 0,
    "CompactAt": 40,
    "KeepMessages": 20,
    "EpisodeDays": 0,
    "ArchiveDays": 0,
    "RetentionDays": 0,
    "ForgetOnOptOut": "false",
    "WebhookToleranceSeconds": 300,
    "LogRetentionDays": 30,
    "AlarmEmail": "",
    "Architecture": "arm64",
}
OUTPUTS = {
    "WebhookUrl",
    "InboundQueueUrl",
    "InboundDeadLetterQueueUrl",
    "CompactionQueueUrl",
    "CompactionDeadLetterQueueUrl",
    "MessagesTable",
    "TurnsTable",
    "SummariesTable",
    "FactsTable",
    "RecallTable",
    "DirectoryTable",
    "ArchiveBucket",
    "HashKeySecret",
    "EraseFunction",
}
PARAMETERS: dict[str, dict[str, Any]] = template()["Parameters"]
SECRETS = {name for name, parameter in PARAMETERS.items() if parameter.get("NoEcho")}


def test_names_and_defaults_are_those_of_the_contract() -> None:
    assert {name: parameter.get("Default") for name, parameter in PARAMETERS.items()} == CONTRACT


def test_outputs_are_those_of_the_contract_and_described() -> None:
    assert set(template()["Outputs"]) == OUTPUTS
    assert all(output["Description"] for output in template()["Outputs"].values())


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_parameter_has_a_description_and_a_constraint(name: str) -> None:
    parameter = PARAMETERS[name]

    assert len(parameter["Description"]) > 20
    if "AllowedValues" in parameter:
        return
    if parameter["Type"] == "Number":
        assert parameter["MinValue"] < parameter["MaxValue"]
    else:
        assert parameter["AllowedPattern"]
        assert parameter["ConstraintDescription"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_a_default_keeps_to_its_own_constraint(name: str) -> None:
    parameter = PARAMETERS[name]
    if "Default" not in parameter:
        assert name in SECRETS
        return
    default = parameter["Default"]

    assert default in parameter.get("AllowedValues", [default])
    assert parameter.get("MinValue", 0) <= (default if isinstance(default, int) else 0)
    if "AllowedPattern" in parameter:
        assert re.fullmatch(parameter["AllowedPattern"], default)


def test_every_parameter_is_shown_in_one_group() -> None:
    groups = template()["Metadata"]["AWS::CloudFormation::Interface"]["ParameterGroups"]

    assert sorted(name for group in groups for name in group["Parameters"]) == sorted(PARAMETERS)


def test_a_parameter_without_effect_says_so_and_no_other_does() -> None:
    body = {key: template()[key] for key in ("Conditions", "Rules", "Globals", "Resources", "Outputs")}
    reserved = {
        name for name, parameter in PARAMETERS.items() if parameter["Description"].startswith("Reserved: no")
    }

    assert set(PARAMETERS) - references(body) == reserved == set()


def test_what_is_secret_is_not_echoed_and_only_goes_into_secrets() -> None:
    assert {"WebhookSecret", "ProviderApiKey", "OpenAIApiKey", "MetaVerifyToken"} == SECRETS
    used_by = {
        resource["Type"] for resource in template()["Resources"].values() if references(resource) & SECRETS
    }
    assert used_by == {"AWS::SecretsManager::Secret"}
    assert not references(template()["Outputs"]) & SECRETS


@pytest.mark.parametrize("name", sorted(SECRETS))
@pytest.mark.parametrize("character", ['"', "\\", "\n", "\t", "{", "}", "$", "\x00", "é"])
def test_a_secret_cannot_break_the_json_that_it_is_put_into(name: str, character: str) -> None:
    assert not re.fullmatch(PARAMETERS[name]["AllowedPattern"], f"abc{character}defgh")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("WebhookSecret", "whsec_c2FtcGxlLXNlY3JldC1mb3ItbG9jYWwtdGVzdHM="),
        ("WebhookSecret", "whsec_b2xk0/+= whsec_bmV3"),
        ("WebhookSecret", "0123456789abcdef0123456789abcdef"),
        ("ProviderApiKey", "EAAGm0PX4ZCpsBAKZCZD|x-y_z"),
        ("OpenAIApiKey", "sk-proj-Ab_c-123"),
        ("MetaVerifyToken", "a-token_of.mine"),
        ("AlarmEmail", "ops+agent@example.co.uk"),
        ("OpenAIBaseUrl", "http://127.0.0.1:8090/v1"),
        ("WhaspApiUrl", "https://api.whasp.example"),
    ],
)
def test_usual_values_are_taken(name: str, value: str) -> None:
    assert re.fullmatch(PARAMETERS[name]["AllowedPattern"], value)


@pytest.mark.parametrize(
    ("store", "keys"),
    [
        ("WebhookSecretStore", {"webhook_secret", "meta_verify_token"}),
        ("ServiceSecretStore", {"openai_api_key", "provider_api_key"}),
    ],
)
def test_a_secret_store_holds_json_with_the_agreed_keys(store: str, keys: set[str]) -> None:
    text = template()["Resources"][store]["Properties"]["SecretString"]["Fn::Sub"]

    assert set(json.loads(re.sub(r"\$\{\w+\}", "x", text))) == keys
