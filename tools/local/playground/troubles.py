"""What goes wrong on demand: the model fails, the provider's answer is lost, the reply function dies."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tools.local.errors import LocalError
from tools.local.playground.queues import queue_url
from tools.local.playground.room import Room
from tools.local.playground.stage import Stage
from tools.local.playground.writing import Writing, in_background
from tools.local.talk import poll
from tools.local.workers import kill_workers

REDELIVERY_SECONDS = 8
"""After a crash on purpose. The deployed value is six times the function's timeout: too long to watch."""
_THINKING_SECONDS = 4.0
_PATIENCE_SECONDS = 60.0


class Troubles:
    """Breaks the stack in ways that it must get over."""

    def __init__(self, stage: Stage, writing: Writing) -> None:
        self._stage = stage
        self._writing = writing
        self._talk = stage.connection.talk
        self._one_at_a_time = threading.Lock()

    def model_fails(self, room: Room, text: str) -> None:
        """The model's service answers 503 twice, then works again.

        Raises:
            LocalError: The real model answers, which does not fail on demand.
        """
        self._talk.model_control("fail", {"status": 503, "times": 2, "path": "/v1/responses"})
        self._writing.texts(room, [text])

    def answer_is_lost(self, room: Room, text: str) -> None:
        """The provider takes the reply and fails before it says so."""
        self._talk.control("fail", {"status": 503, "times": 1, "accept": True})
        self._writing.texts(room, [text])

    def crash(self, room: Room, text: str) -> None:
        """Kills the reply function while the model thinks about this message.

        Raises:
            LocalError: The real model answers, or a crash is under way.
        """
        if not self._stage.connection.info.model_url:
            raise LocalError("the real model answers on this stack: start it without OPENAI_API_KEY for this")
        if not self._one_at_a_time.acquire(blocking=False):
            raise LocalError("a crash is under way already")

        def run() -> None:
            try:
                self._crash(room, text)
            finally:
                self._one_at_a_time.release()

        in_background(run)

    def _crash(self, room: Room, text: str) -> None:
        info = self._stage.connection.info
        with self._soon_handed_out_again() as usual, self._slow_model():
            (event_id,) = self._writing.texts(room, [text])
            if not poll(lambda: self._claimed(room, event_id), _PATIENCE_SECONDS):
                return
            time.sleep(0.5)
            killed = kill_workers(info, "ReplyFunction")
            times = {"seconds": REDELIVERY_SECONDS, "aws": usual}
            room.say(f"crash-{event_id}", text="crash", killed=killed, **times)
            self._talk.model_control("delay", {"seconds": 0})
            self._stage.wake()
            poll(lambda: not self._claimed(room, event_id), _PATIENCE_SECONDS)

    def _claimed(self, room: Room, event_id: str) -> bool:
        turn = self._stage.connection.deployment.ledger.turn(room.conversation, event_id)
        return turn is not None and turn.state == "claimed"

    @contextmanager
    def _slow_model(self) -> Iterator[None]:
        self._talk.model_control("delay", {"seconds": _THINKING_SECONDS})
        try:
            yield
        finally:
            self._talk.model_control("delay", {"seconds": 0})

    @contextmanager
    def _soon_handed_out_again(self) -> Iterator[int]:
        """Shortens the inbound queue's visibility timeout for a while; gives the deployed one."""
        sqs, url = self._stage.connection.sqs, queue_url(self._stage.connection, "inbound")
        name = "VisibilityTimeout"
        before = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=[name])["Attributes"][name]
        sqs.set_queue_attributes(QueueUrl=url, Attributes={name: str(REDELIVERY_SECONDS)})
        try:
            yield int(before)
        finally:
            sqs.set_queue_attributes(QueueUrl=url, Attributes={name: before})
