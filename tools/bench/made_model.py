"""A model that says what it is told to say, as the Responses API would: in this process, and as a server."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from tools.bench.loopback import json_server
from tools.local.simulated_model.compact import compact
from tools.local.simulated_model.responses import prompt_text, tokens
from tools.local.simulated_model.view import read
from whatsapp_agent.model.answer import Answer, read_answer
from whatsapp_agent.model.responses import OpenAIModel

Body = dict[str, Any]
Say = Callable[[Body], str]
"""Makes the answer to a request for a reply."""


def response(body: Body, say: Say) -> Body:
    """Replies by `say`, and compactions as the simulated model does. It never uses a tool."""
    schema = body.get("text", {}).get("format", {}).get("schema")
    text = say(body) if schema is None else json.dumps(compact(read(body), schema), ensure_ascii=False)
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {
        "id": "resp_made",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "error": None,
        "incomplete_details": None,
        "model": body["model"],
        "output": [
            {"id": "m", "type": "message", "role": "assistant", "status": "completed", "content": content}
        ],
        "usage": {
            "input_tokens": tokens(prompt_text(body)),
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": tokens(text),
            "output_tokens_details": {"reasoning_tokens": 0},
        },
    }


class Refused(Exception):
    """Raised by a `Say`: the service answers with an error."""


class MadeModel(OpenAIModel):
    """The real adapter, with its one call over the network replaced: it sees what would be sent.

    Attributes:
        replies, compactions: Every request so far and the text that answered it, where `keep` is set.
    """

    def __init__(self, model: str, say: Say, *, keep: bool = False) -> None:
        super().__init__("sk-made", model, base_url="http://127.0.0.1:9/v1", cache_prefix="companion")
        self.replies: list[tuple[Body, str]] = []
        self.compactions: list[tuple[Body, str]] = []
        self._say = say
        self._keep = keep

    def _call(self, body: Body, *_: object) -> Answer:
        answered = response(body, self._say)
        if self._keep:
            kept = self.compactions if "text" in body else self.replies
            kept.append((body, answered["output"][0]["content"][0]["text"]))
        return read_answer(answered)


@contextmanager
def model_server(say: Say) -> Iterator[str]:
    """The same over HTTP; yields the base URL."""

    def answer(body: bytes) -> tuple[int, Any]:
        try:
            return 200, response(json.loads(body), say)
        except Refused:
            return 503, {"error": {"message": "overloaded", "code": "server_is_overloaded"}}

    with json_server(answer) as url:
        yield f"{url}/v1"
