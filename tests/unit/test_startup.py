"""A start collects no garbage, and gives the collector back as it found it."""

import gc
from collections.abc import Iterator

import pytest

from whatsapp_agent.startup import undisturbed


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    enabled = gc.isenabled()
    yield
    gc.unfreeze()
    (gc.enable if enabled else gc.disable)()


def test_no_garbage_is_collected_within() -> None:
    gc.enable()
    with undisturbed():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_what_is_there_at_the_end_is_not_looked_at_again() -> None:
    before = gc.get_freeze_count()
    with undisturbed():
        pass
    assert gc.get_freeze_count() > before


def test_a_start_that_fails_gives_the_collector_back() -> None:
    gc.enable()
    with pytest.raises(ZeroDivisionError), undisturbed():
        1 / 0  # noqa: B018
    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    with undisturbed():
        pass
    assert not gc.isenabled()
