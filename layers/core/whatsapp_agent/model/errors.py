"""Translates what goes wrong at the model's service to the application's own errors.

The service's error text can quote the prompt or a part of the key, and a chained exception ends in the
logged traceback. So nothing of it is carried over, and callers raise the translation `from None`; what
helps the operator is kept instead: status, error code and request id, each only in its expected form.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx2
import openai

from whatsapp_agent.errors import AgentError, ContextTooLong, ModelRefused, ModelUnavailable

MAX_RETRY_AFTER = 900.0
"""Seconds. Longer waits are cut to this: a queue that sleeps for an hour helps nobody who is chatting."""

_SAFE = re.compile(r"[A-Za-z0-9_.:-]{1,80}")
_QUOTA = {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "account_deactivated"}
_TOO_LONG = {"context_length_exceeded", "string_above_max_length"}
_POLICY = {"invalid_prompt", "bio_policy", "misalignment_policy_violation", "content_policy_violation"}


def translate(error: Exception) -> AgentError | None:
    """The application's error for an exception of the client, or None for one that it does not know."""
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return ModelUnavailable("the model did not answer in the time that was left")
    if isinstance(error, openai.APIStatusError):
        return _from_status(error)
    if isinstance(error, openai.APIConnectionError | httpx2.TransportError):
        return ModelUnavailable("the connection to the model's service failed")
    if isinstance(error, openai.APIResponseValidationError | httpx2.DecodingError | httpx2.StreamError):
        return ModelUnavailable("the model's service sent an answer that cannot be read")
    return None


def from_code(code: object) -> AgentError:
    """The error for a code that came with HTTP 200: a response that failed after it had begun."""
    name = _safe(code)
    if name in _TOO_LONG:
        return ContextTooLong("the prompt is longer than the model takes", code=name)
    if name in _QUOTA or name in _POLICY or name == "model_not_found":
        return ModelRefused(f"the model's service refused the call ({name})", code=name)
    return ModelUnavailable(f"the model's service failed ({name or 'no code'})")


def _from_status(error: openai.APIStatusError) -> AgentError:
    status, codes = error.status_code, {_safe(error.code), _safe(error.type)}
    where = f"HTTP {status}, request {_safe(error.request_id) or 'unknown'}"
    if codes & _QUOTA or status == 402:
        return ModelRefused(
            f"the account has no quota left: check its billing ({where})", code="insufficient_quota"
        )
    if status in (401, 403):
        return ModelRefused(f"the API key is wrong or may not use this model ({where})", code="unauthorized")
    if codes & _TOO_LONG or status == 413:
        return ContextTooLong(
            f"the prompt is longer than the model takes ({where})", code="context_length_exceeded"
        )
    if status == 404 or "model_not_found" in codes:
        return ModelRefused(f"no such model or address: check both settings ({where})", code="model_not_found")
    if status in (408, 409, 429) or status >= 500:
        wait = retry_after(error.response.headers, datetime.now(UTC))
        return ModelUnavailable(f"the model's service is busy or failing ({where})", retry_after=wait)
    refused = min(codes & _POLICY, default="invalid_request")
    return ModelRefused(f"the model's service refused the request ({where}, {refused})", code=refused)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds that the service asks to wait: from `retry-after-ms`, or `retry-after` as seconds or a date.

    None where it did not say or said nonsense; never more than `MAX_RETRY_AFTER`.
    """
    for name, scale in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        try:
            seconds = float(headers.get(name, "")) / scale
        except ValueError:
            continue
        return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_RETRY_AFTER)
    try:
        moment = parsedate_to_datetime(headers.get("retry-after", ""))
    except (TypeError, ValueError):
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return min(max((moment - now).total_seconds(), 0.0), MAX_RETRY_AFTER)


def _safe(value: object) -> str:
    """The value where it looks like a code or an id, otherwise an empty string."""
    return value if isinstance(value, str) and _SAFE.fullmatch(value) else ""
