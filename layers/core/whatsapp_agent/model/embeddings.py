"""Vectors of texts, by OpenAI's embeddings API."""

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx2

from whatsapp_agent.credentials import Key
from whatsapp_agent.errors import ConfigurationError, ModelRefused, ModelUnavailable
from whatsapp_agent.memory.passages import Vector
from whatsapp_agent.model.client import OpenAIClient, openai_client
from whatsapp_agent.model.errors import translate
from whatsapp_agent.model.text import repaired

MOST_CHARS = 8000
"""Of one text. The service takes 8,191 tokens, and a token is at least one character."""

_MOST_TEXTS = 512
_MOST_CHARS_PER_CALL = 250_000
"""The service takes 2,048 texts and 300,000 tokens in one call."""

_CONNECT_SECONDS = 2.0


class OpenAIEmbedder:
    """Implements `ports.Embedder`. Safe to share between threads. Nothing is retried here."""

    def __init__(
        self, api_key: str | Key | OpenAIClient, model: str, *, dimensions: int, base_url: str = ""
    ) -> None:
        """Connects to nothing yet.

        Args:
            api_key: Sent to `base_url` only. One that is refused is read anew; or a client to share: see
                `model.client`.
            model: The service's name of the model. Models before `text-embedding-3` cannot shorten their
                vectors: `dimensions` must then be their own length.
            dimensions: Length of the vectors, as the vector index has it.
            base_url: Of a service with the same API; empty for OpenAI's own.

        Raises:
            ConfigurationError: The key or the model's name is missing or holds what no header can carry.
        """
        if not model:
            raise ConfigurationError("no embedding model is named")
        self._client = openai_client(api_key, base_url)
        self._model = model
        self._dimensions = dimensions

    @property
    def model(self) -> str:
        """See `ports.Embedder.model`."""
        return self._model

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def embed(self, texts: Sequence[str], *, seconds: float) -> list[Vector]:
        """See `ports.Embedder.embed`. Of a text longer than `MOST_CHARS` its beginning counts."""
        deadline = time.monotonic() + seconds
        vectors: list[Vector] = []
        for batch in _batches([_sendable(text) for text in texts]):
            vectors += self._embed(batch, deadline - time.monotonic())
        return vectors

    def _embed(self, texts: list[str], seconds: float) -> list[Vector]:
        if seconds <= 0:
            raise ModelUnavailable("no time was left to embed")
        asked: dict[str, Any] = {"input": texts, "model": self._model}
        if not self._model.startswith("text-embedding-ada"):
            asked["dimensions"] = self._dimensions
        try:
            answer = self._client.embeddings.create(
                **asked, timeout=httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
            )
        except ValueError:
            # The client's own word for an answer without vectors.
            raise ModelUnavailable("the model's service sent no vectors") from None
        except Exception as error:
            known = translate(error)
            if known is None:
                raise
            # The service's text may quote its input: see `model.errors`.
            raise known from None
        return self._checked(answer.data, len(texts))

    def _checked(self, data: Any, wanted: int) -> list[Vector]:
        rows = sorted(data or (), key=lambda row: row.index)
        if [row.index for row in rows] != list(range(wanted)):
            raise ModelUnavailable("the model's service sent another number of vectors than it was asked for")
        vectors = [tuple(float(value) for value in row.embedding) for row in rows]
        for vector in vectors:
            if len(vector) != self._dimensions:
                raise ModelRefused(
                    f"{self._model} makes vectors of {len(vector)} dimensions, this deployment keeps "
                    f"{self._dimensions}: see docs/recall.md",
                    code="embedding_dimensions",
                )
            if not all(map(math.isfinite, vector)):
                raise ModelUnavailable("the model's service sent a vector that is no vector")
        return vectors


def _sendable(text: str) -> str:
    # The service refuses an empty text; a blank one has the same vector every time.
    return repaired(text)[:MOST_CHARS] or " "


def _batches(texts: Sequence[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    chars = 0
    for text in texts:
        if batch and (len(batch) == _MOST_TEXTS or chars + len(text) > _MOST_CHARS_PER_CALL):
            yield batch
            batch, chars = [], 0
        batch.append(text)
        chars += len(text)
    if batch:
        yield batch
