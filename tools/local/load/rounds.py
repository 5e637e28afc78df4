"""`make load`: rounds of more and more people on one stack, what came of each, and how the time grows."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from botocore.exceptions import BotoCoreError

from tools.local.errors import LocalError
from tools.local.load.looking import Window
from tools.local.load.plan import scripts
from tools.local.load.posting import Courier, post_to, requeue_to
from tools.local.load.verdict import figures, violations
from tools.local.stack import Options, start
from tools.local.state import StackInfo
from tools.local.talk import Talk

SHOWN = 20
"""Broken promises of one round that are printed; the others are counted."""
WARM_UP = (20, 2)
"""People and messages before the first round, so that it does not pay for the first start of each function."""

_POLL_SECONDS = 0.5

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Load:
    """How much.

    Attributes:
        people: Of each round.
        messages: Of each person.
        seconds: For all rounds together; what is not done by then is reported as missing.
        at_once: Webhooks under way at the same moment.
        seed: Of the orders and the repetitions.
    """

    people: tuple[int, ...] = (30, 100, 300)
    messages: int = 10
    seconds: float = 540
    at_once: int = 4
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Round:
    """What came of one round; `seconds` from its first webhook until the queues were empty."""

    people: int
    messages: int
    posts: int
    refused: int
    remembered: int
    replies: int
    seconds: float
    broken: tuple[str, ...]

    @property
    def per_message(self) -> float:
        return self.seconds / self.messages


def load(state: Path, amount: Load) -> int:
    """Starts a stack, runs the rounds on it, and prints what came of them; 1 where a promise was broken."""
    with start(Options(state=state), _say) as stack:
        try:
            rounds = run(stack.info, amount, _say)
            repeated = Window(stack.info).repeated_sends()
        except BotoCoreError as error:
            raise LocalError(
                f"the emulator does not answer ({type(error).__name__}; logs: {stack.info.logs})"
            ) from error
        _say("\n" + table(rounds))
        _say(f"\nThe provider was asked {repeated} time(s) more than needed, and recognised it by the key.")
        broken = sum(len(one.broken) for one in rounds)
        _say(f"{broken} promise(s) BROKEN." if broken else "Nothing lost, doubled, out of order or unanswered.")
    return 1 if broken else 0


def run(info: StackInfo, amount: Load, say: Say) -> list[Round]:
    """The rounds on a running stack, one after another; the first that breaks a promise is the last."""
    deadline = time.monotonic() + amount.seconds
    dead_before = dict(Window(info).dead_letters())
    warm_up, first = True, 1
    done: list[Round] = []
    for people, messages in (WARM_UP, *((people, amount.messages) for people in amount.people)):
        one = _round(info, amount, first, people, messages, deadline, dead_before)
        first += people
        if not warm_up or one.broken:
            done.append(one)
            _report(one, say)
        if one.broken:
            break
        warm_up = False
    return done


def table(rounds: Sequence[Round]) -> str:
    """A line per round; the time per message relative to that of the first."""
    lines = ["  people  messages  webhooks  refused  remembered  replies  ms per message  relative"]
    for one in rounds:
        relative = one.per_message / rounds[0].per_message
        lines.append(
            f"{one.people:8}{one.messages:10}{one.posts:10}{one.refused:9}{one.remembered:12}{one.replies:9}"
            f"{1000 * one.per_message:16.0f}{relative:10.2f}"
        )
    return "\n".join(lines)


def _round(
    info: StackInfo,
    amount: Load,
    first: int,
    people: int,
    messages: int,
    deadline: float,
    dead_before: Mapping[str, int],
) -> Round:
    window, talk = Window(info), Talk(info)
    plan = scripts(first, people, messages, datetime.now(UTC), amount.seed)
    courier = Courier(post_to(info), at_once=amount.at_once, deadline=deadline)
    began = time.monotonic()
    in_time = courier.deliver(plan) and _until_idle(window, deadline)
    seconds = time.monotonic() - began
    again = Courier(requeue_to(info), at_once=amount.at_once, deadline=deadline)
    for late in (courier, again):
        in_time = in_time and late.deliver_again(plan) and _until_idle(window, deadline)
    left = window.left()
    new = tuple((queue, count - dead_before[queue]) for queue, count in left.dead_letters)
    left = replace(left, dead_letters=new)
    broken = violations(plan, courier.delivered, left, talk.conversation)
    broken += [
        f"{event_id} could not be queued again" for event_id, mark in again.delivered.items() if not mark.taken
    ]
    if not in_time:
        broken.insert(0, f"the time ran out: {window.waiting()} message(s) wait in the queues")
    found = figures(plan, left, talk.conversation)
    return Round(
        people=people,
        messages=people * messages,
        posts=sum(one.posts for one in courier.delivered.values()),
        refused=sum(one.refused for one in courier.delivered.values()),
        remembered=found.remembered,
        replies=found.replies,
        seconds=seconds,
        broken=tuple(broken),
    )


def _report(one: Round, say: Say) -> None:
    verdict = f"{len(one.broken)} promise(s) BROKEN" if one.broken else "ok"
    say(f"{one.people} people, {one.messages} messages, {one.seconds:.0f} s: {verdict}")
    for line in one.broken[:SHOWN]:
        say(f"  {line}")
    if len(one.broken) > SHOWN:
        say(f"  … and {len(one.broken) - SHOWN} more")


def _until_idle(window: Window, deadline: float) -> bool:
    """Whether the queues ran empty in time: then nothing more can happen by itself."""
    while window.waiting():
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _say(text: str) -> None:
    print(text, flush=True)
