"""What each function is told by its environment: one frozen class per function, read by `from_env`.

The variable of a field is its name in capitals: `openai_base_url` is `OPENAI_BASE_URL`. A field's annotation
carries the rule for its text. The names are those of `Environment.Variables` in template.yaml; a test holds
the two together.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, Self, get_type_hints

from whatsapp_agent.errors import ConfigurationError


@dataclass(frozen=True, slots=True)
class Rule:
    """How the text of a variable becomes a value.

    Attributes:
        expected: What is expected there, for the error message.
        parse: Makes the value; raises ValueError where the text is not what is expected.
        optional: The variable may be missing or empty.
    """

    expected: str
    parse: Callable[[str], Any]
    optional: bool = False


def _matching(pattern: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)

    def parse(text: str) -> str:
        if compiled.fullmatch(text) is None:
            raise ValueError
        return text

    return parse


def _one_of(*choices: str) -> Rule:
    return Rule(" or ".join(choices), _matching("|".join(map(re.escape, choices))))


def _whole(least: int, most: int) -> Rule:
    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() else -1
        if not least <= number <= most:
            raise ValueError
        return number

    return Rule(f"a whole number from {least} to {most}", parse)


def _url(*, optional: bool = False) -> Rule:
    expected = "a URL that starts with https:// (http:// for a local server)"
    pattern = _matching(r"https?://[^\s/?#@]+(/[^\s?#]*)?")
    return Rule(expected, lambda text: pattern(text).rstrip("/"), optional)


_AGENT_ID = Rule(
    "the name of a folder in layers/agents: lower-case letters, digits, - and _",
    _matching(r"[a-z0-9][a-z0-9_-]{0,39}"),
)
_MODEL_NAME = Rule(
    "the name of a model, for example gpt-6-luna", _matching(r"[A-Za-z0-9][A-Za-z0-9._:/-]{0,127}")
)
_QUEUE_URL = Rule("the URL of an SQS queue", _matching(r"https?://[^\s/]+/\S+"))
_SECRET_ARN = Rule("the ARN of a secret in Secrets Manager", _matching(r"arn:[a-z0-9-]+:secretsmanager:\S+"))
_TABLE_NAME = Rule("the name of a DynamoDB table", _matching(r"[A-Za-z0-9_.-]{3,255}"))
_OPTIONAL_BUCKET = Rule(
    "the name of an S3 bucket, or empty", _matching(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]"), optional=True
)
_FLAG = Rule("true or false", lambda text: {"true": True, "false": False}[text.lower()])

ProviderName = Annotated[str, _one_of("whasp", "meta")]
AgentId = Annotated[str, _AGENT_ID]
QueueUrl = Annotated[str, _QUEUE_URL]
SecretArn = Annotated[str, _SECRET_ARN]
TableName = Annotated[str, _TABLE_NAME]
OptionalBucket = Annotated[str, _OPTIONAL_BUCKET]
ModelName = Annotated[str, _MODEL_NAME]
OptionalModelName = Annotated[str, Rule(_MODEL_NAME.expected, _MODEL_NAME.parse, optional=True)]
Url = Annotated[str, _url()]
OptionalUrl = Annotated[str, _url(optional=True)]
Flag = Annotated[bool, _FLAG]
Days = Annotated[int, _whole(0, 3650)]
Dimensions = Annotated[int, _whole(1, 4096)]


@dataclass(frozen=True, slots=True)
class _Settings:
    """What the settings classes share: reading themselves."""

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> Self:
        """Reads every field from its variable.

        Raises:
            ConfigurationError: Names the first variable that is missing or wrong, its value and what is
                expected. No secret is ever a setting (a setting says where the secret lies), so the value
                can be shown.
        """
        rules = get_type_hints(cls, include_extras=True)
        return cls(
            **{
                field.name: _read(environment, field.name, rules[field.name].__metadata__[0])
                for field in fields(cls)
            }
        )

    @classmethod
    def variables(cls) -> frozenset[str]:
        """The names of the variables that `from_env` reads."""
        return frozenset(field.name.upper() for field in fields(cls))


def _read(environment: Mapping[str, str], field: str, rule: Rule) -> Any:
    variable = field.upper()
    text = environment.get(variable, "").strip()
    if not text:
        if rule.optional:
            return ""
        raise ConfigurationError(f"{variable} is not set; it must be {rule.expected}")
    # `sam local` puts a parameter's or a resource's own name where it knows no value.
    if text.lower() == field.replace("_", ""):
        raise ConfigurationError(
            f"{variable} is {text!r}, the name of its parameter and not a value (sam local does that where "
            f"--env-vars or --parameter-overrides gives none); it must be {rule.expected}"
        )
    try:
        return rule.parse(text)
    except (ValueError, KeyError) as error:
        raise ConfigurationError(f"{variable} is {text[:80]!r}; it must be {rule.expected}") from error


@dataclass(frozen=True, slots=True)
class IngestSettings(_Settings):
    """Settings of the function that takes webhooks in.

    Attributes:
        webhook_tolerance_seconds: How old a signed request may be; 0 takes any age.
    """

    provider: ProviderName
    inbound_queue_url: QueueUrl
    webhook_secret_arn: SecretArn
    webhook_tolerance_seconds: Annotated[int, _whole(0, 86_400)]


@dataclass(frozen=True, slots=True)
class ReplySettings(_Settings):
    """Settings of the function that answers.

    Attributes:
        openai_base_url: Empty for OpenAI's own service.
        embedding_model: Makes the vectors that facts and passages are compared by; empty for none.
        embedding_dimensions: Length of the vectors, as the vector index has it.
        episode_days: How long compacted exchanges can be recalled; 0 keeps none.
        whasp_api_url: May be empty for another provider.
        context_chars: Budget of the prompt's messages in characters; `context_tokens` > 0 replaces it.
        compact_at: How many messages may wait before a compaction is due.
        keep_messages: How many of the newest a compaction leaves as they are; less than `compact_at`.
        retention_days: How long what is remembered is kept after it was written; 0 keeps it.
        max_receive_count: After how many failed attempts the queue gives a message up.
    """

    provider: ProviderName
    agent_id: AgentId
    inbound_queue_url: QueueUrl
    inbound_dead_letter_queue_url: QueueUrl
    compaction_queue_url: QueueUrl
    compaction_dead_letter_queue_url: QueueUrl
    messages_table: TableName
    turns_table: TableName
    summaries_table: TableName
    facts_table: TableName
    recall_table: TableName
    directory_table: TableName
    service_secret_arn: SecretArn
    hash_key_secret_arn: SecretArn
    openai_base_url: OptionalUrl
    reply_model: ModelName
    embedding_model: OptionalModelName
    embedding_dimensions: Dimensions
    episode_days: Days
    whasp_api_url: OptionalUrl
    graph_api_url: Url
    context_chars: Annotated[int, _whole(500, 400_000)]
    context_messages: Annotated[int, _whole(2, 500)]
    context_tokens: Annotated[int, _whole(0, 1_000_000)]
    compact_at: Annotated[int, _whole(2, 500)]
    keep_messages: Annotated[int, _whole(0, 400)]
    retention_days: Days
    forget_on_opt_out: Flag
    max_receive_count: Annotated[int, _whole(1, 1000)]

    def __post_init__(self) -> None:
        """Checks what no single variable can show.

        Raises:
            ConfigurationError: The provider's URL is missing, or compaction would fall due again and again
                with nothing to compact.
        """
        if self.provider == "whasp" and not self.whasp_api_url:
            raise ConfigurationError("WHASP_API_URL is not set; it must be the base URL of whasp's API")
        if self.keep_messages >= self.compact_at:
            raise ConfigurationError(
                f"KEEP_MESSAGES is {self.keep_messages}; it must be less than COMPACT_AT ({self.compact_at})"
            )


@dataclass(frozen=True, slots=True)
class CompactSettings(_Settings):
    """Settings of the function that compacts conversations.

    Attributes:
        archive_bucket: Where raw messages are kept before they are deleted; empty keeps none.
        keep_messages: How many of the newest messages stay as they are.
    """

    agent_id: AgentId
    messages_table: TableName
    turns_table: TableName
    summaries_table: TableName
    facts_table: TableName
    recall_table: TableName
    archive_bucket: OptionalBucket
    service_secret_arn: SecretArn
    hash_key_secret_arn: SecretArn
    openai_base_url: OptionalUrl
    memory_model: ModelName
    embedding_model: OptionalModelName
    embedding_dimensions: Dimensions
    episode_days: Days
    context_chars: Annotated[int, _whole(500, 400_000)]
    context_messages: Annotated[int, _whole(2, 500)]
    context_tokens: Annotated[int, _whole(0, 1_000_000)]
    keep_messages: Annotated[int, _whole(0, 400)]
    retention_days: Days
    max_receive_count: Annotated[int, _whole(1, 1000)]


@dataclass(frozen=True, slots=True)
class EraseSettings(_Settings):
    """Settings of the function that puts an erasure in the person's queue."""

    agent_id: AgentId
    inbound_queue_url: QueueUrl
