"""Who writes what in a round, and in which order, how often and beside what the provider delivers it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

SPACING = timedelta(seconds=10)
"""Between two messages of a person by their own clock: in whatever order they come in, a person stays below the
replies within one minute that an agent allows (`burst` in agent.toml)."""

MOST_MESSAGES = 60
"""Of one person: an agent answers so many within an hour (`turns` in agent.toml)."""

_DISORDER = 3.0
"""Places by which a message may come early or late."""
_LATE_STEPS = 4
"""Steps of the same person after which a repeated webhook comes, at most."""
_OVERLAPPING = 10
"""Every so many people, two different messages are delivered at the same moment."""
_AFTERWARDS = 10
"""Every so many people, each message comes once more when everything is answered, and once again when the queue
has forgotten it."""


@dataclass(frozen=True, slots=True)
class Said:
    """One message of one person.

    Attributes:
        place: Among the person's messages by the time at which they were written, from 1.
    """

    person: str
    place: int
    event_id: str
    text: str
    sent_at: datetime


@dataclass(frozen=True, slots=True)
class Script:
    """One person's round.

    Attributes:
        said: Their messages, in the order in which they were written.
        steps: What the provider delivers; one step follows the other, what is in one step goes out at once.
        afterwards: What it delivers once more when everything is answered.
    """

    person: str
    said: tuple[Said, ...]
    steps: tuple[tuple[Said, ...], ...]
    afterwards: tuple[Said, ...]

    @property
    def posts(self) -> int:
        return sum(len(step) for step in self.steps) + len(self.afterwards)


def scripts(first: int, people: int, messages: int, now: datetime, seed: int) -> list[Script]:
    """The round of `people` people, each with `messages` messages; the same for the same seed.

    Args:
        first: Number of the first person: no two rounds on one stack may share people.
        people: How many.
        messages: Of each; the last was written just now.
        now: The time.
        seed: Of the orders and the repetitions.
    """
    return [_script(number, messages, now, seed) for number in range(first, first + people)]


def _script(number: int, messages: int, now: datetime, seed: int) -> Script:
    chance = Random(f"{seed}-{number}")
    person = f"+34600{number:06d}"
    said = tuple(
        Said(
            person=person,
            place=place,
            event_id=f"evt_load_{number}_{place}",
            text=f"Mensaje {place} de la persona {number}",
            sent_at=now - SPACING * (messages - place),
        )
        for place in range(1, messages + 1)
    )
    arriving = sorted(said, key=lambda one: one.place + chance.uniform(0, _DISORDER))
    steps = _overlapping(arriving) if number % _OVERLAPPING == 0 else [[one] for one in arriving]
    return Script(
        person,
        said,
        tuple(map(tuple, _repeated(steps, chance))),
        said if number % _AFTERWARDS == 1 else (),
    )


def _overlapping(arriving: Sequence[Said]) -> list[list[Said]]:
    return [list(arriving[place : place + 2]) for place in range(0, len(arriving), 2)]


def _repeated(steps: list[list[Said]], chance: Random) -> list[list[Said]]:
    """The steps with some webhooks twice: a third at the same moment, a third some steps later."""
    repeated = [list(step) for step in steps]
    repeated.append([])
    for place, step in enumerate(steps):
        for one in step:
            match chance.randrange(3):
                case 0:
                    repeated[place].append(one)
                case 1:
                    repeated[min(len(steps), place + chance.randint(1, _LATE_STEPS))].append(one)
    return [step for step in repeated if step]
