"""The errors of the whole application, by what is to be done about them.

    AgentError
    ├── TransientError            try again later; nothing is wrong with the input
    │   ├── StoreUnavailable
    │   ├── QueueUnavailable
    │   ├── ModelUnavailable
    │   ├── ModelAnswerUnusable   the model answered, but with nothing that can be used
    │   └── ProviderUnavailable
    ├── PermanentError            trying again gives the same result: record it, raise an alarm
    │   ├── ConfigurationError    a setting or a file that the user wrote is wrong
    │   ├── InvalidPayload        bytes that are not what their sender says they are
    │   ├── InvalidSignature
    │   ├── ModelRefused          key wrong, quota used up, model unknown
    │   ├── ContextTooLong
    │   ├── MediaUnreadable       a voice note, picture or document that nobody can read
    │   │   └── MediaTooLarge
    │   ├── FactRefused           a value that is not kept as a fact
    │   └── SendRejected          the provider will never take this message
    │       ├── WindowClosed
    │       ├── RecipientOptedOut
    │       └── NumberRetired
    └── ConflictError             a condition did not hold: somebody else moved the state on
        ├── SeqTaken
        ├── TurnMoved
        ├── SummaryMoved
        ├── FactMoved
        └── MessagesGone

Two families decide retries. Each adapter translates the codes of its outside system in one function and
lets what it does not know pass unchanged. A message says what was wrong and what to do; it never holds
message text, a phone number or a secret.
"""


class AgentError(Exception):
    """Anything that this application raises on purpose."""


class TransientError(AgentError):
    """The same call may succeed later.

    Attributes:
        retry_after: Seconds that the outside system asked to wait, or None where it did not say.
    """

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class StoreUnavailable(TransientError):
    """The database throttled, timed out or could not be reached."""


class QueueUnavailable(TransientError):
    """A queue did not take every message that it was given."""


class ModelUnavailable(TransientError):
    """The model's service is overloaded, rate limited, failing or too slow."""


class ModelAnswerUnusable(TransientError):
    """The model answered with nothing, half a sentence of JSON, or a refusal where data was asked for."""


class ProviderUnavailable(TransientError):
    """The WhatsApp provider is overloaded, rate limited, failing or too slow."""


class PermanentError(AgentError):
    """The same call will fail the same way until somebody changes something.

    Attributes:
        code: Short, stable name of the cause, safe to log and to count by.
    """

    def __init__(self, message: str, *, code: str = "") -> None:
        super().__init__(message)
        self.code = code or type(self).__name__


class ConfigurationError(PermanentError):
    """A parameter, an environment variable or a file of the user is wrong; the message names it."""


class InvalidPayload(PermanentError):
    """A webhook body or a queued message cannot be read."""


class InvalidSignature(PermanentError):
    """A webhook is not signed with a secret that this deployment knows."""


class ModelRefused(PermanentError):
    """The model's service will not serve this account: wrong key, no quota, unknown model."""


class ContextTooLong(PermanentError):
    """The prompt is larger than the model takes."""


class FactRefused(PermanentError):
    """A value that cannot be kept as a fact; `code` is the reason, for example `secret` or `unknown_key`."""


class MediaUnreadable(PermanentError):
    """A medium is gone, is not what it says it is, or is of a kind that cannot become text."""


class MediaTooLarge(MediaUnreadable):
    """A medium is larger than this deployment reads; no more than that was fetched."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code="too_large")


class SendRejected(PermanentError):
    """The provider will never deliver this message."""


class WindowClosed(SendRejected):
    """The person wrote too long ago for a free-form message (24 hours with Meta)."""


class RecipientOptedOut(SendRejected):
    """The person asked not to be written to."""


class NumberRetired(SendRejected):
    """The business number is gone.

    Attributes:
        replaced_by: The number that took its place, or an empty string.
    """

    def __init__(self, message: str, *, replaced_by: str = "") -> None:
        super().__init__(message, code="number_retired")
        self.replaced_by = replaced_by


class ConflictError(AgentError):
    """A conditional write found another state than the caller had read."""


class SeqTaken(ConflictError):
    """Another message already stands at this place of the conversation: read again."""


class TurnMoved(ConflictError):
    """The turn is no longer in the state that the caller saw, or is gone."""


class SummaryMoved(ConflictError):
    """Another compaction has replaced the summary, or an erasure has removed it."""


class FactMoved(ConflictError):
    """A fact has another version than was read: read the facts again and judge again."""


class MessagesGone(ConflictError):
    """The messages that were compacted no longer exist: the person was erased meanwhile."""
