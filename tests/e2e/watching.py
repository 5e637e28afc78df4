"""Looks into a running stack: queues, processes of functions, prompts."""

from typing import Any

from tools.local import workers
from tools.local.clients import client
from tools.local.talk import Talk, poll

_COUNTS = (
    "ApproximateNumberOfMessages",
    "ApproximateNumberOfMessagesNotVisible",
    "ApproximateNumberOfMessagesDelayed",
)


def waiting_in(talk: Talk, output: str) -> int:
    """Messages in a queue: visible, being handled, delayed."""
    sqs = client("sqs", talk.info.endpoint)
    url = talk.info.outputs[output]
    attributes = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(_COUNTS))["Attributes"]
    return sum(int(attributes[name]) for name in _COUNTS)


def idle(talk: Talk, seconds: float = 90) -> bool:
    """Whether the queues ran empty in time: then nothing more can happen by itself."""
    queues = ("InboundQueueUrl", "CompactionQueueUrl")
    return bool(poll(lambda: all(waiting_in(talk, queue) == 0 for queue in queues), seconds))


def workers_of(talk: Talk, function: str) -> list[int]:
    """Processes that run a function: the emulator unpacks it into a folder of the function's name."""
    return workers.workers_of(talk.info, function)


def reply_inputs(talk: Talk, text: str) -> list[list[dict[str, Any]]]:
    """The input items of each request for a reply that holds `text`, oldest first."""
    requests = [entry["body"] for entry in talk.model_requests() if entry["path"] == "/v1/responses"]
    replies = [body["input"] for body in requests if "format" not in (body.get("text") or {})]
    return [items for items in replies if any(text in content_of(item) for item in items)]


def content_of(item: dict[str, Any]) -> str:
    """The text of an input item; empty for calls of tools and their results."""
    content = item.get("content", "")
    return content if isinstance(content, str) else "".join(part["text"] for part in content)


def log_lines(talk: Talk) -> dict[str, list[str]]:
    """What the functions have logged, by log group."""
    logs = client("logs", talk.info.endpoint)
    found: dict[str, list[str]] = {}
    for page in logs.get_paginator("describe_log_groups").paginate():
        for group in page["logGroups"]:
            name = group["logGroupName"]
            pages = logs.get_paginator("filter_log_events").paginate(logGroupName=name)
            found[name] = [event["message"] for events in pages for event in events["events"]]
    return found
