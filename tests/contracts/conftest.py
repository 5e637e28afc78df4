"""Fixtures of the contract suites: each port's fake and its real adapter, against two emulators."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
import urllib3
from moto import mock_aws

from tests.builders import NOW
from tests.contracts.scripted_http import Scripted, scripted_server
from tests.contracts.senders import KEY
from tests.contracts.simulation import connections
from tests.contracts.stores import Stores, dynamo_stores, fake_stores
from whatsapp_agent.providers.meta.api import MetaProvider
from whatsapp_agent.providers.whasp.api import WhaspProvider

REAL = ["moto", pytest.param("ministack", marks=pytest.mark.emulator)]


def _stores(kind: str, request: pytest.FixtureRequest, stack: ExitStack, retention_days: int) -> Stores:
    if kind == "fake":
        return fake_stores(retention_days)
    if kind == "moto":
        stack.enter_context(mock_aws())
        return dynamo_stores(None, retention_days)
    return dynamo_stores(request.getfixturevalue("emulator"), retention_days)


@pytest.fixture(params=["fake", *REAL])
def make_stores(request: pytest.FixtureRequest) -> Iterator[Callable[[int], Stores]]:
    """Makes stores with a retention in days."""
    with ExitStack() as stack:
        yield lambda retention_days: _stores(request.param, request, stack, retention_days)


@pytest.fixture
def stores(make_stores: Callable[[int], Stores]) -> Stores:
    """Stores that keep everything for ever: the fake, and DynamoDB as moto and as ministack play it."""
    return make_stores(0)


@pytest.fixture(params=REAL)
def dynamo(request: pytest.FixtureRequest) -> Iterator[Stores]:
    """The real adapters only, for what the tables hold."""
    with ExitStack() as stack:
        yield _stores(request.param, request, stack, 0)


@pytest.fixture(params=["fake", pytest.param("ministack", marks=pytest.mark.emulator)])
def concurrent_stores(request: pytest.FixtureRequest) -> Iterator[Stores]:
    """Stores that several threads may use at once: moto undoes a cancelled transaction by putting back a
    copy of the whole table, and with it what another thread has written meanwhile.
    """
    with ExitStack() as stack:
        yield _stores(request.param, request, stack, 0)


@pytest.fixture
def pool() -> Iterator[urllib3.PoolManager]:
    with connections() as pool:
        yield pool


@pytest.fixture
def server() -> Iterator[Scripted]:
    with scripted_server() as scripted:
        yield scripted


@pytest.fixture
def whasp(server, pool) -> WhaspProvider:
    return WhaspProvider(server.url, KEY, pool=pool, now=lambda: NOW, seconds=5)


@pytest.fixture
def meta(server, pool) -> MetaProvider:
    return MetaProvider(server.url, KEY, pool=pool, now=lambda: NOW, seconds=5)
