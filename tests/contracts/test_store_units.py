"""What single calls of the store cost in units of DynamoDB; whole turns: tests/architecture/test_costs.py."""

import pytest

from tests.builders import NUMBER, PERSON, message, turn
from tests.contracts.stores import Stores, dynamo_stores
from tests.contracts.units import Meter

pytestmark = pytest.mark.emulator


@pytest.fixture
def stores(emulator: str) -> Stores:
    return dynamo_stores(emulator, retention_days=365)


def test_an_event_that_was_claimed_before_costs_one_call(stores: Stores):
    stores.ledger.claim(turn(), message())
    meter = Meter(stores.client)
    stores.ledger.claim(turn(), message())
    assert sum(meter.calls.values()) == 1


def test_a_number_is_read_once_in_a_while(stores: Stores):
    stores.directory.assign_number(NUMBER, "sales")
    stores.directory.alias_person("US.1349", PERSON)
    meter = Meter(stores.client)
    stores.directory.resolve(NUMBER, "US.1349")
    assert meter.units["read"] == 1
    stores.directory.resolve(NUMBER, "US.1349")
    assert meter.units["read"] == 1.5


def test_an_alias_that_is_known_is_not_written_again(stores: Stores):
    stores.directory.alias_person("US.1349", PERSON)
    meter = Meter(stores.client)
    stores.directory.alias_person("US.1349", PERSON)
    assert meter.units["write"] == 0
