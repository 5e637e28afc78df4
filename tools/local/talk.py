"""The person's side of a running stack: write, wait for the agent, look at what it remembers."""

import base64
import json
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlencode

from tools.local import http_json
from tools.local.clients import client
from tools.local.errors import LocalError
from tools.local.memory import Remembered, remembered
from tools.local.state import StackInfo
from whatsapp_agent.memory.records import conversation_key
from whatsapp_agent.phones import canonical

REPLY_SECONDS = 90.0
"""How long a reply may take, by default: as long as one run of the reply function."""
_POLL_SECONDS = 0.15


def poll(condition: Callable[[], Any], seconds: float) -> Any:
    """The first true value of `condition`; its last value where the time is over."""
    deadline = time.monotonic() + seconds
    while not (value := condition()) and time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
    return value


class Talk:
    """Writes as people do: through the simulated provider, which signs and delivers webhooks."""

    def __init__(self, info: StackInfo) -> None:
        self.info = info

    def write(self, person: str, *texts: str, **options: Any) -> list[dict[str, Any]]:
        """Lets the person write; returns the webhook deliveries with their status.

        Args:
            person: Their phone number.
            texts: One message each, delivered one after another.
            options: Of the simulated provider's control API: `duplicates`, `sent_at`, `number`, `signed`, ….

        Raises:
            LocalError: The provider could not be told.
        """
        messages = [{"text": text} for text in texts]
        answer = self.control("inbound", {"person": person, "messages": messages, **options})
        deliveries: list[dict[str, Any]] = answer["deliveries"]
        return deliveries

    def send_medium(self, person: str, kind: str, data: bytes, **options: Any) -> list[dict[str, Any]]:
        """Lets the person send a medium that the provider keeps; returns the webhook deliveries.

        Args:
            person: Their phone number.
            kind: `voice`, `image`, `document`, …, in this application's words.
            data: The file.
            options: `caption`, and those of `write`.

        Raises:
            LocalError: The provider could not be told.
        """
        medium = self.control("media", {"data": base64.b64encode(data).decode()})
        fields = {"id": medium["id"], "size": medium["size"]}
        caption = {"caption": options.pop("caption")} if "caption" in options else {}
        if self.info.provider == "whasp":
            message = {"type": kind, "media": fields, **caption}
        else:
            name = "audio" if kind == "voice" else kind
            message = {"type": name, name: {"id": medium["id"], "voice": kind == "voice", **caption}}
        answer = self.control("inbound", {"person": person, "message": message, **options})
        deliveries: list[dict[str, Any]] = answer["deliveries"]
        return deliveries

    def control(self, action: str, fields: Mapping[str, Any]) -> Any:
        """A request to the simulated provider's control API."""
        return http_json.post(f"{self.info.provider_url}/_control/{action}", fields)

    def received(self, person: str) -> list[dict[str, Any]]:
        """Everything that the agent has sent to the person, oldest first."""
        query = urlencode({"person": person})
        messages: list[dict[str, Any]] = http_json.get(f"{self.info.provider_url}/_control/sent?{query}")[
            "messages"
        ]
        return messages

    def wait_for_reply(self, person: str, already: int, seconds: float = REPLY_SECONDS) -> list[dict[str, Any]]:
        """What the agent sent beyond the first `already` messages; empty where nothing came in time."""
        found: list[dict[str, Any]] = poll(lambda: self.received(person)[already:], seconds)
        return found

    def wait_until_answered(
        self, person: str, event_ids: Iterable[str], seconds: float = REPLY_SECONDS
    ) -> bool:
        """Whether every one of the events came to its end in time: answered, covered, or silent."""
        wanted = set(event_ids)

        def settled() -> bool:
            states = self.turn_states(person)
            return all(states.get(event_id) not in {None, "claimed", "replied"} for event_id in wanted)

        return bool(poll(settled, seconds))

    def turn_states(self, person: str) -> dict[str, str]:
        """The state of each of the person's turns by event id, as the ledger has it."""
        dynamodb = client("dynamodb", self.info.endpoint)
        pages = dynamodb.get_paginator("query").paginate(
            TableName=self.info.outputs["TurnsTable"],
            KeyConditionExpression="conversation = :c",
            ExpressionAttributeValues={":c": {"S": self.conversation(person)}},
            ConsistentRead=True,
        )
        return {item["event_id"]["S"]: item["state"]["S"] for page in pages for item in page["Items"]}

    def conversation(self, person: str) -> str:
        return conversation_key(self.info.agent_id, canonical(person))

    def remembered(self, person: str) -> Remembered:
        """What is kept about the person."""
        return remembered(self.info, person)

    def erase(self, person: str) -> None:
        """Asks for the person's erasure, as an operator does.

        Raises:
            LocalError: The erasure was not taken.
        """
        payload = json.dumps({"person": person, "agent": self.info.agent_id})
        functions = client("lambda", self.info.endpoint)
        answer = functions.invoke(FunctionName=self.info.resources["EraseFunction"], Payload=payload.encode())
        result = json.loads(answer["Payload"].read())
        if not (isinstance(result, dict) and result.get("queued")):
            raise LocalError(f"the erasure was not queued: {result}")

    def model_requests(self) -> list[dict[str, Any]]:
        """What the simulated model was asked, oldest first.

        Raises:
            LocalError: The real model answers, which keeps no such list.
        """
        requests: list[dict[str, Any]] = http_json.get(f"{self._model()}/_control/requests")["requests"]
        return requests

    def model_control(self, action: str, fields: Mapping[str, Any]) -> None:
        """A request to the simulated model's control API: `fail`, `delay`, `reset`."""
        http_json.post(f"{self._model()}/_control/{action}", fields)

    def _model(self) -> str:
        if not self.info.model_url:
            raise LocalError("the real model answers on this stack: start it without OPENAI_API_KEY for this")
        return self.info.model_url
