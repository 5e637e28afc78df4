"""Crashes and failures at calls of the real handlers: a seeded choice; `make faults` tries all of them."""

from collections.abc import Callable, Iterator

import pytest

from tests.faults.campaign import Campaign, Found, Tally, pairs, sample
from tests.faults.deployment import Deployment, laboratory
from tests.faults.scenarios import SCENARIOS, Scenario
from tests.faults.troubles import KILL_AFTER, Trouble
from tests.faults.verify import SEND

SEED = 20_261
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}


@pytest.fixture(scope="module")
def fresh() -> Iterator[Callable[..., Deployment]]:
    with laboratory() as fresh:
        yield fresh


@pytest.fixture(scope="module")
def campaign(fresh: Callable[..., Deployment]) -> Campaign:
    return Campaign(fresh)


@pytest.fixture(scope="module")
def find(campaign: Campaign) -> Callable[[str], Found]:
    found: dict[str, Found] = {}

    def once(name: str) -> Found:
        if name not in found:
            found[name] = campaign.find(BY_NAME[name])
        return found[name]

    return once


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_process_that_dies_at_any_call_loses_and_doubles_nothing(
    campaign: Campaign, find: Callable[[str], Found], scenario: Scenario
) -> None:
    found, tally = find(scenario.name), Tally(scenario.name)
    campaign.kill(found, sample(found.kills(), 2, SEED), tally)
    assert (tally.failures, tally.survived) == ([], 2)


@pytest.mark.parametrize("name", ["a burst of three", "a compaction"])
def test_a_process_that_dies_again_while_it_makes_good_for_that(
    campaign: Campaign, find: Callable[[str], Found], name: str
) -> None:
    found, tally = find(name), Tally(name)
    campaign.kill_twice(found, pairs(found, 2, SEED), tally)
    assert (tally.failures, tally.survived) == ([], 2)


@pytest.mark.parametrize("name", ["a text", "a reply of several parts", "an erasure", "a compaction"])
def test_a_call_that_fails_loses_and_doubles_nothing(
    campaign: Campaign, find: Callable[[str], Found], name: str
) -> None:
    found, tally = find(name), Tally(name)
    campaign.fail(found, sample(found.failures(), 4, SEED), tally)
    assert (tally.failures, tally.survived) == ([], 4)


def test_the_window_that_stays_open_is_open_only_where_the_provider_has_no_keys(
    campaign: Campaign, find: Callable[[str], Found]
) -> None:
    doubled = {}
    for name in ("a reply of several parts", "the same, at Meta"):
        found, tally = find(name), Tally(name)
        sends = [point for point, _ in found.calls if point.label == SEND]
        campaign.kill(found, [Trouble(sends[1], KILL_AFTER)], tally)
        assert not tally.failures
        doubled[found.scenario.provider] = tally.in_window
    assert doubled == {"whasp": 0, "meta": 1}


def test_the_harness_notices_what_it_is_there_for(fresh: Callable[..., Deployment]) -> None:
    """Were a reply sent and never marked, or a message dropped, the checks would say so."""
    broken = Campaign(lambda *args, **more: _forgetful(fresh(*args, **more)))
    with pytest.raises(AssertionError, match="lost=1"):
        broken.find(BY_NAME["a text"])


def _forgetful(deployment: Deployment) -> Deployment:
    deployment.deliver = lambda *_args, **_more: None  # type: ignore[method-assign]
    return deployment
