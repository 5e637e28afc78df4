"""Nobody's words reach anybody else: not through a prompt, a summary, a fact or a reply, also not between the
agents of one deployment, and not in a process that has just served somebody else.
"""

from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.faults.deployment import Deployment, laboratory
from tests.faults.people import MAYA, NOOR, heard
from tests.faults.services import tokens
from tests.faults.society import PEOPLE, Society

# Many scripts, line ends, quotes, and what a prompt is written in; no digits, so that no token is made up.
TEXT = st.text(alphabet=st.sampled_from("abcXYZ áßжあ👍\n\"'[]{}:#-*_`$\\"), max_size=60)
STEP = st.tuples(st.sampled_from(PEOPLE), st.integers(0, 1), TEXT, st.booleans())


@settings(
    derandomize=True, database=None, deadline=None, max_examples=40, suppress_health_check=list(HealthCheck)
)
@given(steps=st.lists(STEP, min_size=5, max_size=60), alike=TEXT)
def test_no_word_of_one_conversation_reaches_another(
    steps: list[tuple[str, int, str, bool]], alike: str
) -> None:
    society = Society()
    for person, number, text, rest in steps:
        society.say(person, sorted(society.numbers)[number], text=text or alike)
        society.work()
        if rest:
            society.compact()
    society.settle()
    society.check()


@pytest.fixture(scope="module")
def fresh() -> Iterator[Callable[..., Deployment]]:
    with laboratory() as make:
        yield make


def test_a_warm_process_keeps_nothing_of_one_person_for_the_next(fresh: Callable[..., Deployment]) -> None:
    deployment = fresh()
    deployment.stores().directory.assign_number("+15550200", "companion")
    batches = []
    for token, (person, number) in enumerate(
        (
            (person, number)
            for _ in range(3)
            for person in (MAYA, NOOR)
            for number in ("+15550100", "+15550200")
        ),
        start=1,
    ):
        message = heard(deployment, token, person=person, number=number)
        batches.append({"Records": [message.record(1)]})
    outcome = deployment.invoke("reply", batches)
    assert outcome.answers == ({"batchItemFailures": []},) * 12
    # Message n is of person and number n modulo 4.
    seen = [
        {int(word.removeprefix("tok")) % 4 for word in tokens(str(asked))} for asked in asked_of(deployment)
    ]
    assert [len(each) for each in seen] == [1] * 12
    sent = [(each.person, each.number, each.text) for each in deployment.services.provider.state.sent]
    assert [text for _, _, text in sent] == [f"You said tok{token}." for token in range(1, 13)]
    assert [person for person, _, _ in sent] == [MAYA, MAYA, NOOR, NOOR] * 3
    assert [number for _, number, _ in sent] == ["+15550100", "+15550200"] * 6


def test_people_side_by_side_in_one_batch_do_not_see_each_other(fresh: Callable[..., Deployment]) -> None:
    deployment = fresh()
    people = [f"+3460011{index:04}" for index in range(10)]
    records = [heard(deployment, token, person=person) for token, person in enumerate(people, start=1)]
    deployment.deliver("reply", records)
    assert sorted(len(tokens(str(asked))) for asked in asked_of(deployment)) == [1] * 10
    sent = {each.person: each.text for each in deployment.services.provider.state.sent}
    assert sent == {person: f"You said tok{token}." for token, person in enumerate(people, start=1)}


def asked_of(deployment: Deployment) -> list[object]:
    """What the model was sent, without the parts that only answer an order of our own."""
    return [(asked["instructions"], asked["input"]) for asked in deployment.services.replies_asked]
