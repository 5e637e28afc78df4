"""Reads JSON secrets from Secrets Manager, cached, with a forced refresh that cannot be abused."""

import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from aws_lambda_powertools.utilities.parameters import SecretsProvider
from aws_lambda_powertools.utilities.parameters.exceptions import GetParameterError, TransformParameterError
from botocore.config import Config
from botocore.exceptions import ClientError

from whatsapp_agent.errors import AgentError, ConfigurationError, TransientError

MAX_AGE_SECONDS: Final = 300
"""How long a secret is taken from memory. A changed secret is seen after this time at the latest."""

REFRESH_SECONDS: Final = 60
"""At most one forced read in this time, so that forged requests cannot exhaust Secrets Manager's rate."""

CLIENT: Final = Config(connect_timeout=2, read_timeout=3, retries={"total_max_attempts": 2})
"""What a client of Secrets Manager is made with."""

_PERMANENT = frozenset(
    {
        "AccessDeniedException",
        "DecryptionFailure",
        "InvalidParameterException",
        "InvalidRequestException",
        "ResourceNotFoundException",
        "UnrecognizedClientException",
        "ValidationException",
    }
)


class JsonSecret:
    """One secret that holds a JSON object of texts.

    Args:
        arn: The secret's ARN.
        setting: The setting that named it, for error messages.
        client: A Secrets Manager client; by default one of its own, which takes as long to make as all others
            of a function together, because it has a session of its own.
        monotonic: A clock for the limit on forced reads, in seconds.
    """

    def __init__(
        self, arn: str, setting: str, *, client: Any = None, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._arn = arn
        self._setting = setting
        self._monotonic = monotonic
        self._refreshed_at: float | None = None
        self._provider = SecretsProvider(boto_config=CLIENT, boto3_client=client)

    def read(self) -> Mapping[str, str]:
        """The secret's texts, at most `MAX_AGE_SECONDS` old.

        Raises:
            ConfigurationError: There is no such secret, it may not be read, or it is no JSON object.
            TransientError: Secrets Manager throttled, failed or could not be reached.
        """
        return self._fetch(force=False)

    def refresh(self) -> Mapping[str, str] | None:
        """The secret's texts, read anew, or None where that was done less than `REFRESH_SECONDS` ago.

        Raises:
            ConfigurationError, TransientError: As `read`.
        """
        now = self._monotonic()
        if self._refreshed_at is not None and now - self._refreshed_at < REFRESH_SECONDS:
            return None
        self._refreshed_at = now
        return self._fetch(force=True)

    def _fetch(self, *, force: bool) -> Mapping[str, str]:
        try:
            value: Any = self._provider.get(
                self._arn, max_age=MAX_AGE_SECONDS, transform="json", force_fetch=force
            )
        except TransformParameterError:
            # Not chained: the cause quotes the secret.
            raise ConfigurationError(f"{self._setting}: the secret is no JSON") from None
        except GetParameterError as error:
            raise _translate(error, self._setting) from error
        if not isinstance(value, dict):
            raise ConfigurationError(f"{self._setting}: the secret must be a JSON object")
        return {str(key): text for key, text in value.items() if isinstance(text, str)}


class RotatingKey:
    """A key in a JSON secret, as adapters of outside services want it: `whatsapp_agent.credentials.Key`.

    A changed key is seen after `MAX_AGE_SECONDS`, or as soon as the service refuses the old one.
    """

    def __init__(self, secret: JsonSecret, name: str) -> None:
        self._secret = secret
        self._name = name
        self._last = ""

    def current(self) -> str:
        """The key, at most `MAX_AGE_SECONDS` old; older while Secrets Manager cannot be read, because an old
        key is mostly still right. Empty where the secret has none.

        Raises:
            ConfigurationError, TransientError: As `JsonSecret.read`, where it never could be read.
        """
        try:
            self._last = self._secret.read().get(self._name, "")
        except AgentError:
            if not self._last:
                raise
        return self._last

    def renewed(self, refused: str) -> str:
        """Another key than `refused`; empty where there is none, or none can be read just now."""
        try:
            known = self.current()
            if known != refused:
                return known
            fresh = (self._secret.refresh() or {}).get(self._name, "")
        except AgentError:
            return ""
        return fresh if fresh != refused else ""


def _translate(error: GetParameterError, setting: str) -> AgentError:
    """Powertools wraps every error of the client in one class; the original one decides."""
    cause = error.__context__
    code = cause.response.get("Error", {}).get("Code", "") if isinstance(cause, ClientError) else ""
    if code in _PERMANENT:
        return ConfigurationError(f"{setting}: Secrets Manager answers {code}")
    return TransientError(f"{setting}: Secrets Manager is unavailable ({code or type(cause).__name__})")
