"""Anything in any order: people, duplicates, compactions, erasures, failures, a clock that jumps."""

import os

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from tests.faults.society import AGENTS, PEOPLE, Society
from whatsapp_agent.errors import (
    ContextTooLong,
    ModelAnswerUnusable,
    ModelRefused,
    ModelUnavailable,
    ProviderUnavailable,
    StoreUnavailable,
)

DEEP = os.environ.get("FAULTS") == "deep"
LEVEL = settings(
    derandomize=not DEEP,
    database=None,
    deadline=None,
    max_examples=250 if DEEP else 50,
    stateful_step_count=60 if DEEP else 40,
    suppress_health_check=list(HealthCheck),
    print_blob=False,
)

WRITES = (
    "claim",
    "commit",
    "mark_sent",
    "close",
    "apologise",
    "set_state",
    "commit_compaction",
    "delete_messages",
    "erase",
    "erase_facts",
    "record_erasure",
    "replace_number",
)
READS = ("newest_messages", "messages_after", "summary", "facts", "erased_at", "resolve", "turn")
MODEL_ERRORS = (
    ModelUnavailable("busy", retry_after=30),
    ModelUnavailable("timed out"),
    ModelAnswerUnusable("nothing"),
    ModelRefused("no quota", code="insufficient_quota"),
    ContextTooLong("too long"),
)
FEW = 3
"""So many failures between two times of rest, and so many erasures and new numbers in all: a world in which
nothing else happens has no memory to lose.
"""


class Days(RuleBasedStateMachine):
    """What may happen to a deployment, step by step."""

    def __init__(self) -> None:
        super().__init__()
        self.society = Society()
        self.faults = 0
        self.erasures = 0

    @rule(
        person=st.sampled_from(PEOPLE),
        number=st.integers(0, 1),
        late=st.sampled_from((0, 0, 0, 5, 90_000)),
        times=st.integers(1, 4),
    )
    def say(self, person: str, number: int, late: int, times: int) -> None:
        for _ in range(times):
            self.society.say(person, sorted(self.society.numbers)[number], late)

    @rule(person=st.sampled_from(PEOPLE), number=st.integers(0, 1), turns=st.integers(2, 8))
    def talk(self, person: str, number: int, turns: int) -> None:
        for _ in range(turns):
            self.society.say(person, sorted(self.society.numbers)[number])
            self.society.work()

    @rule(turns=st.integers(3, 10))
    def talk_on(self, turns: int) -> None:
        """One and the same person, so that compactions fall due."""
        self.talk(PEOPLE[0], 0, turns)

    @rule(index=st.integers(0, 200))
    def deliver_again(self, index: int) -> None:
        self.society.again(index)

    @rule()
    def reply(self) -> None:
        self.society.work()

    @rule()
    def compact(self) -> None:
        self.society.compact()

    @rule()
    def come_to_rest(self) -> None:
        self.society.settle()
        self.faults = 0
        self.society.check()

    @rule(seconds=st.sampled_from((1, 7, 31, 400, 4_000)))
    def wait(self, seconds: int) -> None:
        self.society.world.wait(seconds=seconds)

    @rule(seconds=st.sampled_from((1, 40)))
    def set_the_clock_back(self, seconds: int) -> None:
        self.society.set_the_clock_back(seconds)

    @precondition(lambda self: self.erasures < FEW)
    @rule(person=st.sampled_from(PEOPLE), agent=st.sampled_from(AGENTS))
    def erase(self, person: str, agent: str) -> None:
        self.erasures += 1
        self.society.erase(person, agent)

    @precondition(lambda self: self.society.replaced < FEW)
    @rule(number=st.integers(0, 1))
    def replace_a_number(self, number: int) -> None:
        self.society.replace(sorted(self.society.numbers)[number])

    @precondition(lambda self: self.faults < FEW)
    @rule(call=st.sampled_from(WRITES + READS), after=st.booleans())
    def fail_the_store(self, call: str, after: bool) -> None:
        self.faults += 1
        self.society.world.tables.fail_next(call, StoreUnavailable("as scripted"), after=after)

    @precondition(lambda self: self.faults < FEW)
    @rule(error=st.sampled_from(MODEL_ERRORS))
    def fail_the_model(self, error: ModelUnavailable) -> None:
        self.faults += 1
        self.society.model.errors.append(error)

    @precondition(lambda self: self.faults < FEW)
    @rule(taken=st.booleans())
    def fail_the_provider(self, taken: bool) -> None:
        self.faults += 1
        provider = self.society.world.provider
        if taken:
            provider.lose_answer(ProviderUnavailable("as scripted"))
        else:
            provider.fail(ProviderUnavailable("as scripted"))

    @precondition(lambda self: self.faults < FEW)
    @rule()
    def fail_the_compaction_queue(self) -> None:
        self.faults += 1
        self.society.world.compaction_queue.fail()

    @invariant()
    def nothing_is_wrong(self) -> None:
        assert not self.society.wrong, self.society.wrong

    def teardown(self) -> None:
        self.society.settle()
        self.society.check()


def test_whatever_happens_in_whatever_order_the_promises_hold() -> None:
    run_state_machine_as_test(Days, settings=LEVEL)
