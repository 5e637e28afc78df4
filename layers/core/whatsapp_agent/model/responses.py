"""The language model behind OpenAI's Responses API."""

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx2
import openai

from whatsapp_agent.credentials import Key
from whatsapp_agent.errors import ConfigurationError, ModelAnswerUnusable, ModelUnavailable
from whatsapp_agent.memory.exchange import CompactionAnswer, ModelReply, Prompt
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.quoting import is_blank
from whatsapp_agent.memory.records import Usage
from whatsapp_agent.model.answer import Answer, read_answer
from whatsapp_agent.model.client import OpenAIClient, openai_client
from whatsapp_agent.model.errors import translate
from whatsapp_agent.model.request import cache_key, input_items, lower_effort, takes_marks
from whatsapp_agent.model.schema import compaction_schema, read_compaction
from whatsapp_agent.model.text import repaired, whole_sentences
from whatsapp_agent.model.tools import offer, run
from whatsapp_agent.ports.model import MOST_TOOL_ROUNDS, Toolbox

_CONNECT_SECONDS = 5.0
_MORE_ROOM = 4
"""How many times the output budget grows for the one try with more room."""
_WORTH_A_TRY = 2.0
"""Seconds that must be left for that try; fewer would only pay for an answer that nobody waits for."""
_WORTH_A_ROUND = 8.0
"""Seconds that must be left for the model to be offered its tools again: a round is two calls."""
_LARGEST_BODY = 8 * 1024 * 1024
"""Bytes. 128,000 output tokens, the most that a model writes, are about a twelfth of it."""


class OpenAIModel:
    """Implements `ports.Model`. Safe to share between threads.

    The client's own retries are off: it would wait inside the invocation, while the queue retries a record
    after seconds and holds nobody else up. There is one retry, for an answer that ran out of room.

    Settled here for every call: `store` is false.
    """

    def __init__(
        self,
        api_key: str | Key | OpenAIClient,
        model: str,
        *,
        base_url: str = "",
        max_output_tokens: int = 2000,
        effort: str | None = "low",
        cache_prefix: str = "",
        marks: bool | None = None,
    ) -> None:
        """Connects to nothing yet.

        Args:
            api_key: Sent to `base_url` only. One that is refused is read anew; or a client to share: see
                `model.client`.
            model: The service's name of the model, for example `gpt-6-luna`.
            base_url: Of a service with the same API; empty for OpenAI's own.
            max_output_tokens: Reasoning included. 2,000 are about three WhatsApp messages of 2,000 characters.
            effort: `none`, `low`, `medium`, `high`, `xhigh` or `max`; None for models that do not reason.
            cache_prefix: Start of the prompt cache key, for example the agent's id; never something about a
                person. Empty sends no key.
            marks: Whether to set prompt cache marks; None goes by the model's name, see `model.request`.

        Raises:
            ConfigurationError: The key or the model's name is missing or holds what no header can carry.
        """
        if not model:
            raise ConfigurationError("no model is named")
        self._client = openai_client(api_key, base_url)
        self._model = model
        self._budget = max_output_tokens
        self._effort = effort
        self._cache_prefix = cache_prefix
        self._marks = takes_marks(model) if marks is None else marks

    def close(self) -> None:
        """Closes the connections."""
        self._client.close()

    def reply(self, prompt: Prompt, *, seconds: float, tools: Toolbox | None = None) -> ModelReply:
        """Answers the person, see `ports.Model`.

        An answer that the service broke off for length is cut after its last whole sentence. A refusal is
        an answer too: the person hears the model's own words.
        """
        body = self._body(prompt)
        if self._cache_prefix:
            body["prompt_cache_key"] = cache_key(self._cache_prefix, prompt.items)
        answer = self._answer(body, time.monotonic() + seconds, tools)
        if not is_blank(answer.refusal):
            return ModelReply(answer.refusal.strip(), answer.usage, refused=True, calls=answer.requests)
        text = whole_sentences(answer.text) if answer.cut_by else answer.text.strip()
        return ModelReply(text, answer.usage, calls=answer.requests)

    def count_tokens(self, prompt: Prompt, *, seconds: float) -> int:
        """Asks the service to count, see `ports.Model`. Takes no tokens; it is a round trip all the same."""
        body: dict[str, Any] = {"model": self._model, "input": input_items(prompt.items, marks=False)}
        if prompt.instructions:
            body["instructions"] = repaired(prompt.instructions)
        timeout = openai.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS))
        with _translated():
            counted = self._client.responses.input_tokens.count(extra_body=body, timeout=timeout).input_tokens
        # The client believes whatever came: see `model.answer`.
        if isinstance(counted, bool) or not isinstance(counted, int) or counted < 0:
            raise ModelUnavailable("the model's service counted no tokens")
        return counted

    def compact(self, prompt: Prompt, fact_keys: Mapping[str, FactKey], *, seconds: float) -> CompactionAnswer:
        """Asks for the new summary and the fact changes, see `ports.Model`."""
        body = self._body(prompt)
        body["text"] = {
            "format": {
                "type": "json_schema",
                "name": "compaction",
                "strict": True,
                "schema": compaction_schema(fact_keys),
            }
        }
        answer = self._ask(body, time.monotonic() + seconds, needs_all=True)
        if not is_blank(answer.refusal):
            raise ModelAnswerUnusable("the model refused to write the summary")
        summary, changes = read_compaction(answer.text, fact_keys)
        return CompactionAnswer(summary, changes, answer.usage)

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._model,
            "instructions": repaired(prompt.instructions),
            "input": input_items(prompt.items, marks=self._marks),
            "store": False,
        }
        if self._marks:
            # Explicit: nothing is written to the cache but what is marked. A compaction's prompt has no
            # marks, is seen once, and so pays for no write.
            body["prompt_cache_options"] = {"mode": "explicit"}
        return body

    def _answer(self, body: dict[str, Any], deadline: float, tools: Toolbox | None) -> Answer:
        """The answer in words, after as many rounds of tools as the model wants and may have."""
        if tools is None or not tools.specs:
            return self._ask(body, deadline, needs_all=False)
        body |= offer(tools, reasons=self._effort not in (None, "none"))
        spent, requests = Usage(), 0
        for round_ in range(MOST_TOOL_ROUNDS + 1):
            if round_ == MOST_TOOL_ROUNDS or (round_ and deadline - time.monotonic() < _WORTH_A_ROUND):
                # The tools stay in the request: without them its beginning would not be in the cache.
                body["tool_choice"] = "none"
            answer = self._ask(body, deadline, needs_all=False)
            spent, requests = _sum(spent, answer.usage), requests + answer.requests
            if not answer.tool_calls or "tool_choice" in body:
                break
            body["input"] = [*body["input"], *run(answer, tools)]
        if answer.blank:
            raise ModelAnswerUnusable("the model went on calling tools and did not answer")
        return replace(answer, usage=spent, requests=requests)

    def _ask(self, body: dict[str, Any], deadline: float, *, needs_all: bool) -> Answer:
        """One call, and one more with more room and less thinking where the first ran out of room: before it
        had said anything, or, with `needs_all`, before it had said everything.
        """
        answer = self._call(body, self._budget, self._effort, deadline)
        spent, requests = answer.usage, 1
        if _out_of_room(answer, needs_all) and deadline - time.monotonic() >= _WORTH_A_TRY:
            effort = lower_effort(self._effort, none_allowed=self._marks)
            answer = self._call(body, self._budget * _MORE_ROOM, effort, deadline)
            spent, requests = _sum(spent, answer.usage), 2
        if _out_of_room(answer, needs_all):
            raise ModelAnswerUnusable("the model ran out of room before it had answered")
        if answer.cut_by and answer.cut_by != "max_output_tokens":
            raise ModelAnswerUnusable(f"the model's answer was stopped ({answer.cut_by})")
        if answer.blank and not answer.tool_calls:
            raise ModelAnswerUnusable("the model answered with nothing")
        return replace(answer, usage=spent, requests=requests)

    def _call(self, body: dict[str, Any], budget: int, effort: str | None, deadline: float) -> Answer:
        body = {**body, "max_output_tokens": budget}
        if effort is not None:
            body["reasoning"] = {"effort": effort}
        left = deadline - time.monotonic()
        if left <= 0:
            raise ModelUnavailable("no time was left to ask the model")
        timeout = openai.Timeout(left, connect=min(left, _CONNECT_SECONDS))
        # As a body of our own: what is given by name, the client first compares with every form of every kind
        # of input item there is, which takes longer than everything else in a turn.
        create = self._client.responses.with_streaming_response.create
        with _translated(), create(extra_body=body, timeout=timeout) as response:
            raw = _read(response.iter_bytes(), deadline)
        try:
            return read_answer(json.loads(raw))
        except (ValueError, RecursionError):
            raise ModelUnavailable("the model's service sent an answer that cannot be read") from None


def _read(pieces: Iterator[bytes], deadline: float) -> bytes:
    """The whole body. The client's timeout starts anew with every piece received, and some services send
    blanks to keep a connection open; so the deadline is checked here as well.
    """
    body = bytearray()
    for piece in pieces:
        body += piece
        if time.monotonic() > deadline:
            raise ModelUnavailable("the model did not answer in the time that was left")
        if len(body) > _LARGEST_BODY:
            raise ModelUnavailable("the model's service sent more than an answer can be")
    return bytes(body)


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except (openai.OpenAIError, httpx2.HTTPError, httpx2.StreamError) as error:
        translation = translate(error)
        if translation is None:
            raise
        # Not chained: see the docstring of `model.errors`.
        raise translation from None


def _out_of_room(answer: Answer, needs_all: bool) -> bool:
    return answer.cut_by == "max_output_tokens" and (needs_all or answer.blank)


def _sum(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input_tokens + other.input_tokens,
        one.cached_tokens + other.cached_tokens,
        one.output_tokens + other.output_tokens,
    )
