"""Stores on moto. The name of the parameter is in the tests' ids: by it they are chosen, see `mutations`."""

from collections.abc import Callable, Iterator

import pytest
from moto import mock_aws

from tests.contracts.stores import Stores, dynamo_stores


@pytest.fixture(params=["moto"])
def make_stores() -> Iterator[Callable[[int], Stores]]:
    """Makes stores with a retention in days."""
    with mock_aws():
        yield lambda retention_days: dynamo_stores(None, retention_days)


@pytest.fixture
def stores(make_stores: Callable[[int], Stores]) -> Stores:
    return make_stores(0)
