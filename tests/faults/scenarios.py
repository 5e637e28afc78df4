"""What happens to a deployment in a campaign, told in events. Every text has a token of its own."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.builders import inbound
from tests.faults.deployment import Deployment
from tests.faults.people import LATER, MAYA, MOVED, NOOR, NUMBERS, heard, of, remember, sales, talk, webhook
from tests.faults.services import Call, answer_naming
from whatsapp_agent.clock import utc_now
from whatsapp_agent.events import Erase, PersonChangedNumber


@dataclass(frozen=True)
class Expected:
    """What must be true in the end, whatever went wrong.

    Attributes:
        remembered: By conversation, the events whose messages are remembered, in order.
        forgotten: Events of which nothing may be left.
        compacted: How many compactions each conversation has behind it.
    """

    remembered: dict[str, tuple[str, ...]]
    forgotten: frozenset[str] = frozenset()
    compacted: int = 0


@dataclass(frozen=True)
class Scenario:
    """A story.

    Attributes:
        same_end: Whether it ends in the same way wherever it is interrupted. Where two things happen at once,
            an interruption may put them in another order.
    """

    name: str
    prepare: Callable[[Deployment], None]
    play: Callable[[Deployment], None]
    expected: Expected
    provider: str = "whasp"
    same_end: bool = True


def nothing(_deployment: Deployment) -> None:
    pass


def _one(deployment: Deployment) -> None:
    deployment.deliver("reply", [heard(deployment, 1)])


def _burst(deployment: Deployment) -> None:
    deployment.deliver("reply", [heard(deployment, token) for token in (1, 2, 3)])


def _duplicate(deployment: Deployment) -> None:
    deployment.deliver("reply", [heard(deployment, 1)])
    deployment.deliver("reply", [heard(deployment, 1), heard(deployment, 2), heard(deployment, 2)])


def _parts(deployment: Deployment) -> None:
    deployment.services.say = lambda new: "\n\n".join(
        f"{answer_naming(new)} {letter * 3000}" for letter in "xyz"
    )
    deployment.deliver("reply", [heard(deployment, 1)])


def _stop(deployment: Deployment) -> None:
    deployment.deliver("reply", [heard(deployment, 1)])
    now = utc_now()
    stop = inbound("evt2", "STOP", number=NUMBERS["whasp"], sent_at=now, received_at=now)
    deployment.deliver("reply", [of(stop)])
    deployment.deliver("reply", [heard(deployment, 3)])


def _two_people(deployment: Deployment) -> None:
    deployment.deliver(
        "reply",
        [
            heard(deployment, 1),
            heard(deployment, 2, person=NOOR),
            heard(deployment, 3),
            heard(deployment, 4, person=NOOR),
        ],
    )


def _known(deployment: Deployment) -> None:
    talk(deployment, sales(MAYA), 30)
    remember(deployment, sales(MAYA), "name", "Maya", through_seq=10)


def _erase(deployment: Deployment) -> None:
    first, now = heard(deployment, 1), utc_now()
    deployment.deliver("reply", [first, of(Erase("erase1", "sales", MAYA, now))])
    deployment.deliver("reply", [heard(deployment, 2)])
    deployment.compact()


def _erase_with_followers(deployment: Deployment) -> None:
    """What arrives after an erasure was asked for, and before it is carried out, is a new conversation."""
    first, now = heard(deployment, 1), utc_now()
    later = inbound("evt2", "me again tok2", number=NUMBERS["whasp"], sent_at=now, received_at=now + LATER)
    deployment.deliver("reply", [first, of(Erase("erase1", "sales", MAYA, now)), of(later)])
    deployment.compact()


def _stop_and_forget(deployment: Deployment) -> None:
    deployment.settings["FORGET_ON_OPT_OUT"] = "true"
    _stop(deployment)
    deployment.compact()


def _stop_and_go_on(deployment: Deployment) -> None:
    """The same, and the person writes on before it is carried out."""
    deployment.settings["FORGET_ON_OPT_OUT"] = "true"
    first = heard(deployment, 1)
    now = utc_now() + LATER
    stop = inbound("evt2", "STOP", number=NUMBERS["whasp"], sent_at=now, received_at=now)
    after = inbound("evt3", "hello tok3", number=NUMBERS["whasp"], sent_at=now, received_at=now + LATER)
    deployment.deliver("reply", [first, of(stop), of(after)])
    deployment.compact()


def _move(deployment: Deployment) -> None:
    """A person writes on from another number than the one under which they are remembered."""
    deployment.deliver("reply", [heard(deployment, 1)])
    moved = PersonChangedNumber("evt2", MAYA, MOVED, NUMBERS["whasp"], utc_now())
    deployment.deliver("reply", [of(moved)])
    deployment.deliver("reply", [heard(deployment, 3, person=MOVED)])


def _long_talk(deployment: Deployment) -> None:
    said = ["My name is Maya.", "I live in Lima.", "I moved to Quito.", "I like old maps."]
    for index, text in enumerate(said):
        talk(deployment, sales(MAYA), 2, 1 + 2 * index, text)
    talk(deployment, sales(MAYA), 36, 9)


def _compaction(deployment: Deployment) -> None:
    deployment.deliver("reply", [heard(deployment, 1)])
    deployment.compact()


def _compaction_with_turn(deployment: Deployment) -> None:
    """While the memory model writes, the person goes on writing."""

    def meanwhile(call: Call) -> None:
        if call.label == "model compaction" and not said:
            said.append(call)
            deployment.deliver("reply", [heard(deployment, 2)])

    said: list[Call] = []
    deployment.deliver("reply", [heard(deployment, 1)])
    deployment.compact(meanwhile)
    if not said:
        deployment.deliver("reply", [heard(deployment, 2)])
    deployment.deliver("reply", [heard(deployment, 3)])
    deployment.compact()


def _webhook(deployment: Deployment) -> None:
    """The provider sends until it hears 2xx; what is queued is delivered, as often as it is queued."""
    for token in (1, 2):
        delivery = webhook(f"evt{token}", f"hello tok{token}")
        for _ in range(5):
            answers = deployment.invoke("ingest", [delivery]).answers
            if answers and answers[0]["statusCode"] == 200:
                break
        for queued_message in deployment.aws.take("inbound"):
            deployment.deliver("reply", [queued_message])


def _all(*tokens: int, person: str = MAYA, seeds: Sequence[str] = ()) -> dict[str, tuple[str, ...]]:
    return {sales(person): (*seeds, *(f"evt{token}" for token in tokens))}


_SEEDS_44 = tuple(f"old{seq}" for seq in range(1, 45, 2))

SCENARIOS: tuple[Scenario, ...] = (
    Scenario("a text", nothing, _one, Expected(_all(1))),
    Scenario("a burst of three", nothing, _burst, Expected(_all(1, 2, 3))),
    Scenario("an event delivered twice", nothing, _duplicate, Expected(_all(1, 2))),
    Scenario("a reply of several parts", nothing, _parts, Expected(_all(1))),
    Scenario("the same, at Meta", nothing, _parts, Expected(_all(1)), provider="meta"),
    Scenario("STOP, and back again", nothing, _stop, Expected(_all(1, 2, 3))),
    Scenario("two people in one batch", nothing, _two_people, Expected(_all(1, 3) | _all(2, 4, person=NOOR))),
    Scenario("an erasure", _known, _erase, Expected(_all(2), frozenset({"evt1"}))),
    Scenario("an erasure, and on", _known, _erase_with_followers, Expected(_all(2), frozenset({"evt1"}))),
    Scenario("STOP that forgets", nothing, _stop_and_forget, Expected(_all(3), frozenset({"evt1", "evt2"}))),
    Scenario(
        "STOP that forgets, and on", nothing, _stop_and_go_on, Expected(_all(3), frozenset({"evt1", "evt2"}))
    ),
    Scenario("another phone number", nothing, _move, Expected(_all(1, 3))),
    Scenario("a webhook", nothing, _webhook, Expected(_all(1, 2))),
    Scenario("a compaction", _long_talk, _compaction, Expected(_all(1, seeds=_SEEDS_44), compacted=1)),
    Scenario(
        "a turn during a compaction",
        _long_talk,
        _compaction_with_turn,
        Expected(_all(1, 2, 3, seeds=_SEEDS_44), compacted=1),
        same_end=False,
    ),
)
