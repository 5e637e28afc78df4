"""What things cost, on one day: the only file with prices in it.

Read on the day `AS_OF`: OpenAI's pages of the models (standard processing, prompts of up to 272,000 tokens);
Lambda on arm64 by a third party's copy of the list. Known from AWS's lists of us-east-1 and not read again on
that day: DynamoDB on demand, SQS FIFO and CloudWatch. Other regions and contracts differ: what is computed with
this is an estimate, and the bills decide.
"""

from dataclasses import dataclass
from datetime import date

from whatsapp_agent.memory.records import Usage

AS_OF = date(2026, 11, 30)

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class ModelPrice:
    """Dollars per million tokens. What the provider writes to its cache costs more than plain input; the
    counted usage does not tell the two apart, so input is taken as plain input.
    """

    input: float
    cached: float
    output: float

    @property
    def cache_write(self) -> float:
        """Of input that is written to the provider's cache: a quarter more, of these models."""
        return self.input * 1.25

    def dollars(self, usage: Usage) -> float:
        """What the tokens cost."""
        plain = max(0, usage.input_tokens - usage.cached_tokens)
        return (
            plain * self.input + usage.cached_tokens * self.cached + usage.output_tokens * self.output
        ) / MILLION


MODELS = {
    "gpt-6-luna": ModelPrice(0.10, 0.01, 0.50),
    "gpt-6-sol": ModelPrice(2.00, 0.20, 10.00),
    "gpt-6-astra": ModelPrice(10.00, 1.00, 50.00),
    "gpt-5.6-luna": ModelPrice(0.20, 0.02, 1.20),
    "gpt-5.6-terra": ModelPrice(2.00, 0.20, 12.00),
    "gpt-5.6-sol": ModelPrice(5.00, 0.50, 30.00),
}

DYNAMODB_WRITE = 0.625 / MILLION
"""Dollars per write unit, on demand."""

DYNAMODB_READ = 0.125 / MILLION
"""Dollars per read unit, on demand."""

SQS_REQUEST = 0.50 / MILLION
"""Dollars per request of a FIFO queue."""

LAMBDA_REQUEST = 0.20 / MILLION

LAMBDA_GB_SECOND = 0.0000133334
"""Dollars on arm64."""

LOG_GB = 0.50
"""Dollars per gigabyte of logs that CloudWatch takes in."""

METRIC_MONTH = 0.30
"""Dollars for each metric of one's own; the first ten of an account are free."""


def model_price(model: str) -> ModelPrice | None:
    """The price of a model; also of a dated version (`gpt-6-luna-2026-09-22`). None where it is not known."""
    known = [name for name in MODELS if model == name or model.startswith(f"{name}-")]
    return MODELS[max(known, key=len)] if known else None
