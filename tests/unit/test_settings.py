"""Settings: what the environment may say, and what a mistake in it is answered with."""

from dataclasses import FrozenInstanceError

import pytest

from whatsapp_agent.errors import ConfigurationError
from whatsapp_agent.settings import CompactSettings, EraseSettings, IngestSettings, ReplySettings

ARN = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:"
QUEUE = "https://sqs.eu-west-1.amazonaws.com/123456789012/"


OPTIONAL = {"OPENAI_BASE_URL", "WHASP_API_URL", "EMBEDDING_MODEL"}


def ingest(**changes: str) -> dict[str, str]:
    return {
        "PROVIDER": "whasp",
        "INBOUND_QUEUE_URL": f"{QUEUE}in.fifo",
        "WEBHOOK_SECRET_ARN": f"{ARN}webhook-a1b2c3",
        "WEBHOOK_TOLERANCE_SECONDS": "300",
        **changes,
    }


def reply(**changes: str) -> dict[str, str]:
    return {
        "PROVIDER": "whasp",
        "AGENT_ID": "companion",
        "INBOUND_QUEUE_URL": f"{QUEUE}in.fifo",
        "INBOUND_DEAD_LETTER_QUEUE_URL": f"{QUEUE}inbound-dead.fifo",
        "COMPACTION_QUEUE_URL": f"{QUEUE}compaction.fifo",
        "COMPACTION_DEAD_LETTER_QUEUE_URL": f"{QUEUE}compaction-dead.fifo",
        "MESSAGES_TABLE": "agent-Messages",
        "TURNS_TABLE": "agent-Turns",
        "SUMMARIES_TABLE": "agent-Summaries",
        "FACTS_TABLE": "agent-Facts",
        "RECALL_TABLE": "agent-Recall",
        "DIRECTORY_TABLE": "agent-Directory",
        "SERVICE_SECRET_ARN": f"{ARN}service-a1b2c3",
        "HASH_KEY_SECRET_ARN": f"{ARN}hash-a1b2c3",
        "OPENAI_BASE_URL": "",
        "REPLY_MODEL": "gpt-6-luna",
        "EMBEDDING_MODEL": "text-embedding-3-small",
        "EMBEDDING_DIMENSIONS": "512",
        "EPISODE_DAYS": "0",
        "WHASP_API_URL": "https://whasp.example/",
        "GRAPH_API_URL": "https://graph.facebook.com/v26.0",
        "CONTEXT_CHARS": "12000",
        "CONTEXT_MESSAGES": "60",
        "CONTEXT_TOKENS": "0",
        "COMPACT_AT": "40",
        "KEEP_MESSAGES": "20",
        "RETENTION_DAYS": "0",
        "FORGET_ON_OPT_OUT": "false",
        "MAX_RECEIVE_COUNT": "5",
        **changes,
    }


def refusal(environment: dict[str, str]) -> str:
    with pytest.raises(ConfigurationError) as caught:
        ReplySettings.from_env(environment)
    return str(caught.value)


def test_every_field_is_read_with_its_type() -> None:
    settings = ReplySettings.from_env(reply(FORGET_ON_OPT_OUT="true"))

    assert settings.provider == "whasp"
    assert settings.context_chars == 12000
    assert settings.forget_on_opt_out is True
    assert settings.openai_base_url == ""
    assert settings.whasp_api_url == "https://whasp.example"


def test_what_is_read_cannot_be_changed() -> None:
    settings = IngestSettings.from_env(ingest())

    with pytest.raises(FrozenInstanceError):
        settings.provider = "meta"  # type: ignore[misc]


def test_variables_of_no_concern_are_passed_over() -> None:
    environment = {
        "AGENT_ID": "sales",
        "INBOUND_QUEUE_URL": f"{QUEUE}in.fifo",
        "LANG": "C",
        "CONTEXT_CHARS": "?",
    }

    assert EraseSettings.from_env(environment).agent_id == "sales"


@pytest.mark.parametrize("variable", sorted(ReplySettings.variables() - OPTIONAL))
def test_a_missing_variable_is_named_with_what_is_expected(variable: str) -> None:
    environment = reply()
    del environment[variable]

    assert refusal(environment).startswith(f"{variable} is not set; it must be ")


@pytest.mark.parametrize("variable", sorted(ReplySettings.variables()))
def test_the_name_of_the_parameter_is_not_a_value(variable: str) -> None:
    name = "".join(part.capitalize() for part in variable.split("_"))

    assert refusal(reply(**{variable: name})).startswith(f"{variable} is '{name}', the name of its parameter")


def test_the_name_of_the_parameter_is_recognised_however_its_capitals_stand() -> None:
    assert "the name of its parameter" in refusal(reply(OPENAI_BASE_URL="OpenAIBaseUrl"))


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("PROVIDER", "Whasp"),
        ("PROVIDER", "telegram"),
        ("AGENT_ID", "../companion"),
        ("AGENT_ID", "Companion"),
        ("INBOUND_QUEUE_URL", "InboundQueue"),
        ("SERVICE_SECRET_ARN", "ServiceSecretStore"),
        ("MESSAGES_TABLE", "a table"),
        ("OPENAI_BASE_URL", "api.openai.com"),
        ("OPENAI_BASE_URL", "https://key@api.openai.com/v1"),
        ("OPENAI_BASE_URL", "file:///etc/passwd"),
        ("WHASP_API_URL", "https://"),
        ("REPLY_MODEL", "a model"),
        ("CONTEXT_CHARS", "12_000"),
        ("CONTEXT_CHARS", "١٢٠٠٠"),
        ("CONTEXT_CHARS", "0"),
        ("CONTEXT_CHARS", "1e4"),
        ("CONTEXT_MESSAGES", "-1"),
        ("CONTEXT_TOKENS", "none"),
        ("COMPACT_AT", "501"),
        ("RETENTION_DAYS", "1.5"),
        ("FORGET_ON_OPT_OUT", "yes"),
        ("MAX_RECEIVE_COUNT", "0"),
    ],
)
def test_a_wrong_value_is_one_error_with_variable_value_and_expectation(variable: str, value: str) -> None:
    message = refusal(reply(**{variable: value}))

    assert message.startswith(f"{variable} is {value!r}; it must be ")
    assert "\n" not in message


def test_an_overlong_value_is_not_repeated_in_full() -> None:
    assert len(refusal(reply(REPLY_MODEL="x" * 5000))) < 300


def test_keeping_as_many_messages_as_make_compaction_due_is_refused() -> None:
    assert refusal(reply(COMPACT_AT="20", KEEP_MESSAGES="20")).startswith("KEEP_MESSAGES is 20")


def test_the_url_of_the_chosen_provider_is_needed_and_only_that() -> None:
    assert refusal(reply(WHASP_API_URL="")).startswith("WHASP_API_URL is not set")
    assert ReplySettings.from_env(reply(PROVIDER="meta", WHASP_API_URL="")).whasp_api_url == ""


def test_each_function_asks_only_for_what_it_uses() -> None:
    assert not any("SECRET" in name or "TABLE" in name for name in EraseSettings.variables())
    assert not any("TABLE" in name or "MODEL" in name for name in IngestSettings.variables())
    assert not any("QUEUE" in name for name in CompactSettings.variables())
