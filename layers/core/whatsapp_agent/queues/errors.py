"""Translates what SQS answers into the application's errors. The only place that knows SQS's codes."""

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from whatsapp_agent.errors import AgentError, ConfigurationError, QueueUnavailable

# Codes as the JSON protocol (QueueDoesNotExist) and the older query protocol (the AWS. ones) write them.
_TRY_LATER = frozenset(
    {
        "InternalError",
        "InternalFailure",
        "KmsThrottled",
        "KMS.ThrottlingException",
        "OverLimit",
        "RequestThrottled",
        "RequestTimeout",
        "ServiceUnavailable",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_WRONG_SETUP = {
    "AWS.SimpleQueueService.NonExistentQueue": "the queue does not exist: check the queue URL",
    "QueueDoesNotExist": "the queue does not exist: check the queue URL",
    "InvalidAddress": "the queue URL is not one of SQS",
    "AccessDenied": "the function may not use this queue: check its policy",
    "AccessDeniedException": "the function may not use this queue: check its policy",
    "KmsAccessDenied": "the function may not use the queue's encryption key",
    "KMS.AccessDeniedException": "the function may not use the queue's encryption key",
    "KmsDisabled": "the queue's encryption key is disabled",
    "KMS.DisabledException": "the queue's encryption key is disabled",
    "KmsNotFound": "the queue's encryption key does not exist",
    "KMS.NotFoundException": "the queue's encryption key does not exist",
}


def known_error(error: ClientError | BotoCoreError) -> AgentError | None:
    """The application's error for one of SQS's, or None where this code does not know it."""
    if isinstance(error, ClientError):
        code = str(error.response.get("Error", {}).get("Code", ""))
        status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
        if code in _WRONG_SETUP:
            return ConfigurationError(f"SQS: {_WRONG_SETUP[code]}", code=code)
        if code in _TRY_LATER or status == 429 or status >= 500:
            return QueueUnavailable(f"SQS did not take the request: {code or status}")
        return None
    if isinstance(error, (HTTPClientError, BotoConnectionError)):
        return QueueUnavailable(f"SQS could not be reached: {type(error).__name__}")
    return None


@contextmanager
def translated() -> Iterator[None]:
    """Raises the application's errors for those of SQS within the block; unknown ones pass unchanged."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        known = known_error(error)
        if known is None:
            raise
        raise known from error
