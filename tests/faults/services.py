"""What stands behind the front: moto's AWS, the simulated provider, the simulated model."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from moto.core.botocore_stubber import BotocoreStubber

from tests.faults.processes import REGION
from tests.faults.troubles import Reply
from tools.local.simulated_model.control import Control
from tools.local.simulated_model.failures import message
from tools.local.simulated_model.responses import check, respond
from tools.local.simulated_provider.exchange import Request
from tools.local.simulated_provider.server import DEFAULT_API_KEY, SimulatedProvider

_TARGETS = {"DynamoDB_20120810": "dynamodb", "AmazonSQS": "sqs", "secretsmanager": "secretsmanager"}
COMMIT = "dynamodb TransactWriteItems Put messages, Update turns"

_READS = re.compile(r"dynamodb (?:BatchGetItem|GetItem|Query|Scan)|secretsmanager GetSecretValue|model ")
_TOKEN = re.compile(r"\btok[0-9]+\b")


@dataclass(frozen=True)
class Call:
    """One request of a handler.

    Attributes:
        service: `dynamodb`, `sqs`, `secretsmanager`, `provider` or `model`.
        label: What it asks for, the same in every run: `dynamodb TransactWriteItems Put turns, Put messages`.
        actions: How many actions its transaction has; 0 where it is none.
        message_place: Which of them puts a message; -1 where none does.
    """

    service: str
    label: str
    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    actions: int = 0
    message_place: int = -1

    def json(self) -> Any:
        return json.loads(self.body or b"{}")

    @property
    def changes(self) -> bool:
        """Whether the call may leave something behind."""
        return _READS.match(self.label) is None


def read_call(service: str, method: str, path: str, headers: dict[str, str], body: bytes) -> Call:
    if service == "aws":
        return _aws_call(method, path, headers, body)
    asked = json.loads(body or b"{}")
    if service == "model":
        kind = "compaction" if asked.get("text", {}).get("format", {}).get("type") == "json_schema" else "reply"
        return Call("model", f"model {kind}", method, path, headers, body)
    typing = path.endswith("/typing") or asked.get("status") == "read"
    return Call("provider", f"provider {'typing' if typing else 'send'}", method, path, headers, body)


def _aws_call(method: str, path: str, headers: dict[str, str], body: bytes) -> Call:
    target, operation = headers["x-amz-target"].split(".")
    service = _TARGETS[target]
    asked = json.loads(body)
    actions = [
        (kind, action[kind]["TableName"]) for action in asked.get("TransactItems", ()) for kind in action
    ]
    named = [f"{kind} {table}" for kind, table in dict.fromkeys(actions)] or [
        *asked.get("RequestItems", ()),
        *filter(None, (asked.get("TableName"), asked.get("QueueUrl", "").rpartition("/")[2])),
    ]
    place = actions.index(("Put", "messages")) if ("Put", "messages") in actions else -1
    label = " ".join([service, operation, ", ".join(named)]).strip()
    return Call(service, label, method, path, headers, body, len(actions), place)


class Services:
    """Answers calls. Not safe to share between threads: the front lets one in at a time.

    Attributes:
        provider: The simulated provider, with everything that it has taken.
        replies_asked: The bodies of the model calls for a reply; `compactions_asked` alike.
        told: What the model was asked to answer and what was committed, in order: `(asked, tokens)`.
        say: What the model replies, from the texts of the new messages.
    """

    def __init__(self, *, idempotent: bool = True) -> None:
        self.provider = SimulatedProvider()
        self.replies_asked: list[dict[str, Any]] = []
        self.compactions_asked: list[dict[str, Any]] = []
        self.told: list[tuple[bool, frozenset[str]]] = []
        self.say: Callable[[list[str]], str] = answer_naming
        self.idempotent = idempotent
        self._control = Control()
        self._aws = BotocoreStubber()

    def answer(self, call: Call) -> Reply:
        if call.service == "model":
            return self._model(call)
        if call.service == "provider":
            return self._provide(call)
        return self._amazon(call)

    def _amazon(self, call: Call) -> Reply:
        headers = HTTPHeaders()
        for name, value in call.headers.items():
            headers[name] = value
        host = f"{call.service}.{REGION}.amazonaws.com"
        headers.replace_header("host", host)
        request = AWSPreparedRequest(call.method, f"https://{host}/", headers, call.body, False)
        answer = self._aws.process_request(request)
        assert answer is not None, call.label
        status, given, body = answer
        if status == 200 and call.label == COMMIT:
            (reply,) = (
                action["Put"]["Item"]["text"]["S"] for action in call.json()["TransactItems"] if "Put" in action
            )
            self.told.append((False, tokens(reply)))
        raw = body.encode() if isinstance(body, str) else body
        skipped = ("content-length", "server", "date", "connection")
        kept = tuple((name, str(value)) for name, value in given.items() if name.lower() not in skipped)
        return Reply(status, raw, kept)

    def _provide(self, call: Call) -> Reply:
        headers = {name: value for name, value in call.headers.items() if self.idempotent or "key" not in name}
        request = Request(call.method, call.path, {}, headers, call.body)
        answer = self.provider.handle(request)
        return Reply(answer.status, answer.body, tuple(answer.headers.items()))

    def _model(self, call: Call) -> Reply:
        asked = check(call.json())
        answer = respond(asked, self._control)
        if call.label == "model compaction":
            self.compactions_asked.append(asked)
        else:
            self.replies_asked.append(asked)
            self.told.append((True, tokens(" ".join(new_texts(asked)))))
            answer["output"] = [message(self.say(new_texts(asked)))]
        return Reply(200, json.dumps(answer).encode(), (("Content-Type", "application/json"),))


def new_texts(asked: dict[str, Any]) -> list[str]:
    """The texts of the person's unanswered messages in a prompt: what follows the notes."""
    texts = [(item["role"], _text(item["content"])) for item in asked["input"]]
    new: list[str] = []
    for role, text in reversed(texts):
        if role != "user" or text.startswith("Notes") or "\n- " in text:
            break
        new.insert(0, text)
    return new


def answer_naming(new: list[str]) -> str:
    """A reply that names the tokens of the messages that it answers."""
    return f"You said {' '.join(_TOKEN.findall(' '.join(new)))}."


def tokens(text: str) -> frozenset[str]:
    """The words of a text by which it is known again: `tok1`, `tok2`, …"""
    return frozenset(_TOKEN.findall(text))


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


API_KEY = DEFAULT_API_KEY
