"""Translates what DynamoDB answers into the application's errors. The only place that knows its codes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError, HTTPClientError
from botocore.exceptions import ConnectionError as BotoConnectionError

from whatsapp_agent.errors import StoreUnavailable

# Codes of a whole call and, in a cancelled transaction, of a single action.
_TRY_LATER = frozenset(
    {
        "InternalFailure",
        "InternalServerError",
        "LimitExceededException",
        "ProvisionedThroughputExceeded",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestTimeout",
        "RequestTimeoutException",
        "ServiceUnavailable",
        "Throttling",
        "ThrottlingError",
        "ThrottlingException",
        "TransactionInProgressException",
    }
)
_CONFLICTS = frozenset({"TransactionConflict", "TransactionConflictException"})
_REFUSED = frozenset({"ConditionalCheckFailed", "ConditionalCheckFailedException"})


class Busy(StoreUnavailable):
    """Another transaction was writing one of the same items just then; at once again is worth a try."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A condition that did not hold.

    Attributes:
        item: The stored item, as DynamoDB writes it; None where there is none or it was not returned.
    """

    item: Mapping[str, Any] | None


class IndexMissing(Exception):
    """A vector index cannot be searched: not there, not ready, of another length. Stays inside the adapters."""


class VectorRefused(Exception):
    """A vector is of another length than the table's index has. Stays inside the adapters."""


class ConditionRefused(Exception):
    """A conditional write found another state. Stays inside the adapters, which know what it means.

    Attributes:
        refusals: One place per action of the call, in order; None where the action's own condition held.
    """

    def __init__(self, refusals: tuple[Refusal | None, ...]) -> None:
        super().__init__("a condition of the write does not hold")
        self.refusals = refusals


def known_error(error: ClientError | BotoCoreError) -> Exception | None:
    """This application's error for one of DynamoDB's, or None where this code does not know it."""
    if isinstance(error, ClientError):
        return _answered(error)
    if isinstance(error, (HTTPClientError, BotoConnectionError)):
        return StoreUnavailable(f"DynamoDB could not be reached: {type(error).__name__}")
    return None


def _answered(error: ClientError) -> Exception | None:
    code = str(error.response.get("Error", {}).get("Code", ""))
    status = error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0)
    if code == "TransactionCanceledException":
        return _cancelled(error)
    if code in _REFUSED:
        return ConditionRefused((Refusal(_item(error.response)),))
    if code in _CONFLICTS:
        return Busy("DynamoDB: another transaction holds the item")
    if code in _TRY_LATER or status == 429 or status >= 500:
        return StoreUnavailable(f"DynamoDB did not carry out the request: {code or status}")
    return _about_vectors(error, code, status)


def _cancelled(error: ClientError) -> Exception | None:
    """A condition that did not hold is final; beside it, a conflict or a throttled action says nothing new."""
    reasons: list[Mapping[str, Any]] = [*error.response.get("CancellationReasons", ())]
    codes = {str(reason.get("Code", "None")) for reason in reasons}
    if codes & _REFUSED:
        return ConditionRefused(
            tuple(Refusal(_item(reason)) if reason.get("Code") in _REFUSED else None for reason in reasons)
        )
    if any(_OTHER_LENGTH in str(reason.get("Message", "")) for reason in reasons):
        return VectorRefused("a vector of the transaction")
    if codes & _CONFLICTS:
        return Busy("DynamoDB: another transaction holds one of the items")
    if codes & _TRY_LATER:
        return StoreUnavailable(f"DynamoDB cancelled the transaction: {', '.join(sorted(codes & _TRY_LATER))}")
    return None


_NO_INDEX = ("specified index", "backfilling", "vector index dimension")
_OTHER_LENGTH = "Invalid size for parameter"


def _about_vectors(error: ClientError, code: str, status: int) -> Exception | None:
    """DynamoDB gives all of these one code, and only its words tell them apart. A region or an emulator
    without vector search does not know the operation at all.
    """
    words = str(error.response.get("Error", {}).get("Message", ""))
    if error.operation_name == "SearchVectors":
        unknown = code == "UnknownOperationException" or (status == 404 and code == "404")
        if unknown or (code == "ValidationException" and any(sign in words for sign in _NO_INDEX)):
            return IndexMissing(code)
    return VectorRefused(code) if code == "ValidationException" and _OTHER_LENGTH in words else None


def _item(source: Mapping[str, Any]) -> Mapping[str, Any] | None:
    return source.get("Item") or None


@contextmanager
def translated() -> Iterator[None]:
    """Raises this application's errors for those of DynamoDB within the block; unknown ones pass unchanged."""
    try:
        yield
    except (ClientError, BotoCoreError) as error:
        known = known_error(error)
        if known is None:
            raise
        raise known from error
