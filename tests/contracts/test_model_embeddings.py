"""The adapter of the embeddings API: against the simulated service, and against answers that are none."""

import json
import math
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contracts.scripted_http import Scripted, scripted_server
from tools.local.simulated_model.server import SimulatedModel
from whatsapp_agent.errors import ConfigurationError, ModelRefused, ModelUnavailable
from whatsapp_agent.model.embeddings import MOST_CHARS, OpenAIEmbedder


@pytest.fixture
def embedder() -> Iterator[OpenAIEmbedder]:
    server = SimulatedModel()
    made = OpenAIEmbedder("sk-test", "text-embedding-3-small", dimensions=256, base_url=server.url)
    yield made
    made.close()
    server.close()


@pytest.fixture
def scripted() -> Iterator[Scripted]:
    with scripted_server() as server:
        yield server


def against(scripted: Scripted, model: str = "text-embedding-3-small", dimensions: int = 2) -> OpenAIEmbedder:
    return OpenAIEmbedder("sk-test", model, dimensions=dimensions, base_url=f"{scripted.url}/v1")


def answer(*vectors: list[float], **changes: Any) -> tuple[int, dict[str, str], bytes]:
    data = [{"object": "embedding", "index": place, "embedding": each} for place, each in enumerate(vectors)]
    body = {"object": "list", "model": "m", "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    return 200, {"Content-Type": "application/json"}, json.dumps({**body, **changes}).encode()


def test_vectors_come_in_order_in_the_length_asked_for_and_close_where_texts_are(embedder: OpenAIEmbedder):
    lamp, same, other = embedder.embed(["a blue lamp", "the blue lamp", "42 euros"], seconds=5)

    assert {len(lamp), len(same), len(other)} == {256}
    assert sum(a * b for a, b in zip(lamp, same, strict=True)) > sum(
        a * b for a, b in zip(lamp, other, strict=True)
    )


def test_no_text_is_no_call(embedder: OpenAIEmbedder):
    assert embedder.embed([], seconds=5) == []


def test_blank_broken_and_endless_texts_have_vectors_too(embedder: OpenAIEmbedder):
    vectors = embedder.embed(["", "\ud83d", "x " * MOST_CHARS], seconds=5)

    assert len(vectors) == 3


def test_many_texts_go_in_several_calls_and_come_back_in_order(embedder: OpenAIEmbedder):
    texts = [f"text number {number}" for number in range(1100)]

    vectors = embedder.embed(texts, seconds=30)

    assert len(vectors) == 1100
    assert vectors[1050] == embedder.embed([texts[1050]], seconds=5)[0]


def test_the_length_is_asked_of_models_that_can_shorten_and_of_no_others(scripted: Scripted):
    scripted.then = answer([1.0, 0.0])
    for model in ("text-embedding-3-large", "text-embedding-ada-002"):
        embedder = against(scripted, model)
        embedder.embed(["a"], seconds=5)
        embedder.close()

    assert [asked.json().get("dimensions") for asked in scripted.asked] == [2, None]


def test_another_length_is_refused_and_says_where_to_read(scripted: Scripted):
    scripted.then = answer([1.0, 0.0, 0.0])
    embedder = against(scripted)

    with pytest.raises(ModelRefused, match=r"docs/recall\.md") as caught:
        embedder.embed(["a"], seconds=5)
    embedder.close()

    assert caught.value.code == "embedding_dimensions"


@pytest.mark.parametrize(
    "wrong",
    [
        answer(),
        answer([1.0, 0.0], [0.0, 1.0]),
        answer([math.nan, 0.0]),
        (503, {}, b"{}"),
        (200, {"Content-Type": "application/json"}, b"{"),
    ],
    ids=["none", "too many", "no number", "away", "no JSON"],
)
def test_an_answer_without_the_vectors_is_worth_another_try(scripted: Scripted, wrong: Any):
    scripted.then = wrong
    embedder = against(scripted)

    with pytest.raises(ModelUnavailable):
        embedder.embed(["a"], seconds=5)
    embedder.close()


def test_without_time_nothing_is_asked(scripted: Scripted):
    embedder = against(scripted)

    with pytest.raises(ModelUnavailable):
        embedder.embed(["a"], seconds=0)
    embedder.close()

    assert scripted.asked == []


def test_no_model_is_a_mistake_of_the_settings():
    with pytest.raises(ConfigurationError):
        OpenAIEmbedder("sk-test", "", dimensions=2)
