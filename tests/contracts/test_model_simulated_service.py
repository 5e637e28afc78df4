"""The simulated model's HTTP API, used through the real client, and its control paths."""

import json
import math
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from tools.local.simulated_model.server import SimulatedModel

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def server() -> Iterator[SimulatedModel]:
    running = SimulatedModel()
    yield running
    running.close()


@pytest.fixture
def client(server) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(api_key="sk-test", base_url=server.url, max_retries=0) as made:
        yield made


def control(server, order, **given) -> dict:
    url = f"http://127.0.0.1:{server.port}/_control/{order}"
    data = json.dumps(given).encode() if order != "requests" else None
    with urllib.request.urlopen(url, data=data) as response:
        return json.load(response)


def closeness(one, other) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def test_a_reply_is_text(client):
    response = client.responses.create(model="gpt-6-luna", input="I'm Maya", store=False)
    assert response.status == "completed"
    assert "Maya" in response.output_text
    assert response.usage.total_tokens == response.usage.input_tokens + response.usage.output_tokens


def test_structured_output_of_any_schema_is_valid_json(client):
    schema = {
        "type": "object",
        "properties": {"colour": {"type": "string", "enum": ["red", "blue"]}},
        "required": ["colour"],
        "additionalProperties": False,
    }
    response = client.responses.create(
        model="gpt-6-luna",
        input="pick",
        text={"format": {"type": "json_schema", "name": "pick", "strict": True, "schema": schema}},
    )
    assert json.loads(response.output_text) == {"colour": "red"}


def test_a_schema_that_strict_mode_does_not_take_is_refused(client):
    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": []}
    with pytest.raises(openai.BadRequestError):
        client.responses.create(
            model="gpt-6-luna",
            input="x",
            text={"format": {"type": "json_schema", "name": "x", "strict": True, "schema": schema}},
        )


@pytest.mark.parametrize(
    "wrong",
    [
        {"input": []},
        {"reasoning": {"effort": "huge"}},
        {"max_output_tokens": 1},
        {"extra_body": {"colour": "red"}},
        {"input": [{"role": "narrator", "content": "x"}]},
        {"input": [{"role": "user", "content": ""}]},
        {"input": [{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}]},
        {"input": "word " * 800_000},
    ],
)
def test_a_request_that_the_service_would_not_take_is_refused(client, wrong):
    with pytest.raises(openai.BadRequestError):
        client.responses.create(**({"model": "gpt-6-luna", "input": "x"} | wrong))


def test_a_tool_round_calls_the_tool_once_and_then_uses_what_it_found(client):
    tool = {
        "type": "function",
        "name": "search_knowledge",
        "parameters": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
    }
    asked = [{"role": "user", "content": "When do you open?"}]
    first = client.responses.create(model="gpt-6-luna", input=asked, tools=[tool])
    (call,) = first.output
    assert (call.type, call.name, json.loads(call.arguments)) == (
        "function_call",
        "search_knowledge",
        {"query": "When do you open?"},
    )
    found = {"type": "function_call_output", "call_id": call.call_id, "output": "We open at nine."}
    items = [
        *asked,
        {"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": "{}"},
        found,
    ]
    second = client.responses.create(model="gpt-6-luna", input=items, tools=[tool])
    assert "We open at nine." in second.output_text


def test_a_fact_that_is_told_is_remembered_with_the_tool(client):
    properties = {"key": {"type": "string", "enum": ["name", "city"]}, "value": {"type": "string"}}
    tool = {
        "type": "function",
        "name": "remember_fact",
        "parameters": {"type": "object", "properties": properties, "required": ["key", "value"]},
    }
    response = client.responses.create(model="gpt-6-luna", input="I live in Lima", tools=[tool])
    assert json.loads(response.output[0].arguments) == {"key": "city", "value": "Lima"}


def test_tokens_are_counted_as_a_response_counts_them(client):
    counted = client.responses.input_tokens.count(
        model="gpt-6-luna", input="hello there", instructions="Be Max."
    )
    answered = client.responses.create(model="gpt-6-luna", input="hello there", instructions="Be Max.")
    assert counted.input_tokens == answered.usage.input_tokens > 0


def test_embeddings_have_the_asked_length_and_lie_close_for_related_texts(client):
    texts = ["opening hours of the shop", "when does the shop open", "my grandmother's cake"]
    answer = client.embeddings.create(model="text-embedding-3-small", input=texts, dimensions=512)
    shop, open_, cake = (entry.embedding for entry in answer.data)
    assert len(shop) == 512
    assert math.isclose(closeness(shop, shop), 1, rel_tol=1e-5)
    assert closeness(shop, open_) > closeness(shop, cake) + 0.1


def test_embeddings_are_the_same_as_floats_and_as_base64_and_every_time(client):
    asked = {"model": "text-embedding-3-large", "input": "¡Qué día!"}
    default = client.embeddings.create(**asked).data[0].embedding
    floats = client.embeddings.create(**asked, encoding_format="float").data[0].embedding
    assert len(default) == len(floats) == 3072
    assert all(math.isclose(a, b, abs_tol=1e-6) for a, b in zip(default, floats, strict=True))


@pytest.mark.parametrize("wrong", [{"input": ""}, {"input": []}, {"input": "x", "dimensions": 9999}])
def test_embeddings_that_cannot_be_made_are_refused(client, wrong):
    with pytest.raises(openai.BadRequestError):
        client.embeddings.create(model="text-embedding-3-small", **wrong)


@pytest.mark.parametrize(
    ("audio", "text"),
    [
        (b"OggS\x00\x01TRANSCRIPT:I start on Monday\x00\x00", "I start on Monday"),
        ("OggSTRANSCRIPT:mañana".encode(), "mañana"),
        (b"OggS\x00\x00\x00", ""),
        (b"OggS\r\n--boundary\r\nTRANSCRIPT:two\r\nlines", "two\r\nlines"),
    ],
)
def test_a_recording_is_transcribed_by_what_it_carries_and_silence_is_empty(client, audio, text):
    made = client.audio.transcriptions.create(model="gpt-4o-transcribe", file=("voice.ogg", audio))
    assert made.text == text


def test_models_are_listed(client):
    assert "gpt-6-luna" in [model.id for model in client.models.list()]


def test_without_a_key_nothing_is_answered(server):
    request = urllib.request.Request(f"{server.url}/responses", data=b"{}")
    with pytest.raises(urllib.error.HTTPError) as raised:
        urllib.request.urlopen(request)
    assert raised.value.code == 401
    raised.value.close()


def test_failures_are_met_in_order_as_often_as_asked_and_only_on_their_path(server, client):
    control(
        server, "fail", status=429, code="rate_limit_exceeded", times=2, retry_after=7, path="/v1/responses"
    )
    control(server, "fail", status=500, path="/v1/responses")
    assert client.embeddings.create(model="text-embedding-3-small", input="x").data
    for expected in (429, 429, 500):
        with pytest.raises(openai.APIStatusError) as raised:
            client.responses.create(model="gpt-6-luna", input="x")
        assert raised.value.status_code == expected
    assert client.responses.create(model="gpt-6-luna", input="x").output_text


def test_what_the_model_saw_can_be_read_and_forgotten(server, client):
    client.responses.create(
        model="gpt-6-luna", instructions="Be Max.", input=[{"role": "user", "content": "hello"}]
    )
    (entry,) = control(server, "requests")["requests"]
    assert entry["prompt"] == {"instructions": "Be Max.", "items": [{"role": "user", "text": "hello"}]}
    assert (entry["path"], entry["status"]) == ("/v1/responses", 200)
    assert entry["answer"]["output"][0]["content"][0]["text"]
    control(server, "reset")
    assert control(server, "requests")["requests"] == []


@pytest.mark.parametrize(
    ("order", "given"),
    [("fail", {}), ("fail", {"kind": "magic"}), ("fail", {"statsu": 1}), ("delay", {}), ("explode", {})],
)
def test_an_order_that_is_not_understood_is_refused(server, order, given):
    with pytest.raises(urllib.error.HTTPError) as raised:
        control(server, order, **given)
    assert raised.value.code == 400
    raised.value.close()


def test_the_command_says_its_port_first_and_ends_when_told():
    command = [sys.executable, "-m", "tools.local.simulated_model", "--port", "0"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        try:
            port = json.loads(process.stdout.readline())["port"]
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models") as response:
                assert response.status == 200
        finally:
            process.terminate()
        assert process.wait(timeout=20) == 0
