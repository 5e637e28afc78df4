"""Fixtures for the whole suite."""

from collections.abc import Iterator

import pytest

from tests.contracts.emulator import EmulatorMissing, ministack


@pytest.fixture(scope="session")
def emulator() -> Iterator[str]:
    """Endpoint URL of an AWS emulator that lives as long as the test session."""
    running = ministack()
    try:
        url = running.__enter__()
    except EmulatorMissing as error:
        pytest.fail(str(error), pytrace=False)
    try:
        yield url
    finally:
        running.__exit__(None, None, None)
