"""Posts a round's webhooks, many people side by side, and writes down when each was taken."""

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import uuid4

from botocore.exceptions import BotoCoreError, ClientError

from tools.local import http_json
from tools.local.clients import client
from tools.local.errors import LocalError
from tools.local.load.plan import Said, Script
from tools.local.simulated_provider import whasp
from tools.local.simulated_provider.state import iso
from tools.local.state import StackInfo
from whatsapp_agent.events import encode, group_of
from whatsapp_agent.providers.whasp.webhook import WhaspWebhook

ATTEMPTS = 5
"""How often a webhook is sent that is not answered with 2xx."""
_PAUSE_SECONDS = 0.5
"""Before the second attempt; each further pause is twice as long."""

Post = Callable[[Said], int]
"""Sends a message's webhook once and returns the status; 0 where nobody answered."""


@dataclass(slots=True)
class Delivered:
    """What came of all the webhooks of one message; times by the monotonic clock.

    Attributes:
        started: When the first was sent.
        taken: When the first was answered with 2xx; None where none was.
        posts: How many were sent.
        refused: How many were answered with anything else, or not at all.
    """

    started: float
    taken: float | None = None
    posts: int = 0
    refused: int = 0


class Courier:
    """Delivers scripts; `delivered` tells what came of each message so far, by event id."""

    def __init__(
        self,
        post: Post,
        *,
        at_once: int,
        deadline: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._post = post
        self._at_once = at_once
        self._deadline = deadline
        self._clock = clock
        self._lock = threading.Lock()
        self._over = threading.Event()
        self.delivered: dict[str, Delivered] = {}

    def deliver(self, scripts: Sequence[Script]) -> bool:
        """Delivers every step of everybody, taking turns; returns whether the time sufficed."""
        return self._deliver(script.steps for script in scripts)

    def deliver_again(self, scripts: Sequence[Script]) -> bool:
        """Delivers what is to come once more when everything is answered."""
        return self._deliver(tuple((one,) for one in script.afterwards) for script in scripts)

    def _deliver(self, people: Iterable[tuple[tuple[Said, ...], ...]]) -> bool:
        waiting = deque(deque(steps) for steps in people if steps)
        threads = [
            threading.Thread(target=self._work, args=(waiting,), daemon=True) for _ in range(self._at_once)
        ]
        try:
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        except KeyboardInterrupt:
            self._over.set()
            raise
        return not waiting

    def _work(self, waiting: deque[deque[tuple[Said, ...]]]) -> None:
        """Takes one step of the person who has waited longest. Who is being served is not in `waiting`: so
        nobody's steps overlap.
        """
        while not self._late():
            try:
                steps = waiting.popleft()
            except IndexError:
                return
            self._step(steps[0])
            steps.popleft()
            if steps:
                waiting.append(steps)

    def _step(self, step: Sequence[Said]) -> None:
        if len(step) == 1:
            self._send(step[0])
            return
        with ThreadPoolExecutor(len(step)) as side_by_side:
            list(side_by_side.map(self._send, step))

    def _send(self, said: Said) -> None:
        for attempt in range(ATTEMPTS):
            if attempt:
                self._over.wait(_PAUSE_SECONDS * 2 ** (attempt - 1))
            with self._lock:
                mark = self.delivered.setdefault(said.event_id, Delivered(self._clock()))
                mark.posts += 1
            taken = 200 <= self._post(said) < 300
            with self._lock:
                mark.refused += not taken
                if taken and mark.taken is None:
                    mark.taken = self._clock()
            if taken or self._late():
                return

    def _late(self) -> bool:
        return self._over.is_set() or self._clock() > self._deadline


def post_to(info: StackInfo) -> Post:
    """Signs as whasp does, anew each time, and posts to the stack's webhook."""

    def post(said: Said) -> int:
        body = body_of(said, info.number)
        headers = whasp.signature_headers(
            info.secrets["webhook_secret"], said.event_id, body, datetime.now(UTC)
        )
        try:
            return http_json.send(
                "POST", info.webhook_url, body, {"Content-Type": "application/json", **headers}
            )[0]
        except LocalError:
            return 0

    return post


def requeue_to(info: StackInfo) -> Post:
    """Queues the message's event once more, past the webhook and under a new deduplication id: as a redrive
    does, or a provider that repeats a webhook when the queue's five minutes of memory are over. Only the ledger
    can know it then.
    """
    sqs = client("sqs", info.endpoint)
    webhook = WhaspWebhook(info.secrets["webhook_secret"])

    def requeue(said: Said) -> int:
        for event in webhook.parse(body_of(said, info.number), datetime.now(UTC)).events:
            try:
                sqs.send_message(
                    QueueUrl=info.outputs["InboundQueueUrl"],
                    MessageBody=encode(event),
                    MessageGroupId=group_of(event),
                    MessageDeduplicationId=uuid4().hex,
                )
            except (BotoCoreError, ClientError):
                return 0
        return 200

    return requeue


def body_of(said: Said, number: str) -> bytes:
    """The webhook's body: the same bytes each time."""
    message = {
        "id": said.event_id.replace("evt_", "msg_"),
        "type": "text",
        "sent_at": iso(said.sent_at),
        "text": said.text,
        "reply_to": None,
    }
    event = whasp.message_received(
        event_id=said.event_id,
        message=message,
        person=said.person,
        number=number,
        created_at=iso(said.sent_at),
    )
    return whasp.body_of(event)
