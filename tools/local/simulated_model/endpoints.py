"""What OpenAI's paths answer."""

from collections.abc import Callable
from typing import Any

from tools.local.simulated_model.control import Control
from tools.local.simulated_model.embed import as_base64, dimensions_of, embed
from tools.local.simulated_model.responses import BadRequest, check, prompt_text, respond, tokens
from tools.local.simulated_model.transcribe import transcribe

MODELS = ("gpt-6-luna", "text-embedding-3-small", "text-embedding-3-large", "gpt-transcribe")
_LARGEST_VECTOR = 3072
_MOST_INPUTS = 2048


def _responses(body: Any, control: Control) -> Any:
    return respond(check(body), control)


def _count(body: Any, _control: Control) -> Any:
    if not isinstance(body, dict):
        raise BadRequest("the body is no JSON object")
    return {"object": "response.input_tokens", "input_tokens": tokens(prompt_text(body))}


def _embeddings(body: Any, _control: Control) -> Any:
    if not isinstance(body, dict):
        raise BadRequest("the body is no JSON object")
    given = body.get("input")
    one_text = isinstance(given, str) or (isinstance(given, list) and given and isinstance(given[0], int))
    inputs = [given] if one_text else given
    if not isinstance(inputs, list) or not inputs or len(inputs) > _MOST_INPUTS or "" in inputs:
        raise BadRequest("input must be one to 2048 texts, none of them empty", "invalid_value")
    model = str(body.get("model", ""))
    size = body.get("dimensions") or dimensions_of(model)
    if not isinstance(size, int) or not 1 <= size <= _LARGEST_VECTOR:
        raise BadRequest("dimensions must be from 1 to 3072", "invalid_value")
    read = [text if isinstance(text, str) else " ".join(map(str, text)) for text in inputs]
    vectors = [embed(text, size) for text in read]
    encoded = body.get("encoding_format") == "base64"
    used = sum(map(tokens, read))
    return {
        "object": "list",
        "model": model,
        "data": [
            {"object": "embedding", "index": index, "embedding": as_base64(vector) if encoded else vector}
            for index, vector in enumerate(vectors)
        ],
        "usage": {"prompt_tokens": used, "total_tokens": used},
    }


def _transcriptions(body: dict[str, bytes], _control: Control) -> Any:
    if "file" not in body or "model" not in body:
        raise BadRequest("file and model are required", "missing_required_parameter")
    text = transcribe(body["file"])
    form = body.get("response_format", b"json").decode("ascii", "replace")
    if form == "text":
        return text
    if form == "verbose_json":
        segments = [{"id": 0, "start": 0.0, "end": 1.0, "text": text, "no_speech_prob": 0.01}] if text else []
        return {"task": "transcribe", "language": "", "duration": 1.0, "text": text, "segments": segments}
    return {"text": text, "usage": {"type": "duration", "seconds": 1}}


CALLS: dict[str, Callable[[Any, Control], Any]] = {
    "/v1/responses": _responses,
    "/v1/responses/input_tokens": _count,
    "/v1/embeddings": _embeddings,
    "/v1/audio/transcriptions": _transcriptions,
}
"""By path: each takes the decoded body, and raises `BadRequest` for what the service answers with 400."""
