"""No condition of the ledger's writes is there for nothing: without any one of them, some test fails.

`make faults` does the same for the conditions of all tables.
"""

from collections.abc import Iterator

import pytest

from tests.faults.conditions import Site, conjuncts_of, mutants_of, without
from tests.faults.mutations import Suite, all_mutants, named_conditions

LEDGER = ("test_store_ledger.py", "test_store_outbox.py")


@pytest.fixture(scope="module")
def suite() -> Iterator[Suite]:
    with Suite() as running:
        yield running


def test_without_any_one_condition_of_the_ledger_a_test_fails(suite: Suite) -> None:
    sites = {
        site: tests for site, tests in suite.sites(LEDGER).items() if site.caller.startswith("DynamoLedger.")
    }
    tested = " ".join(site.condition for site in sites)
    unused = [
        name for name, text in named_conditions().items() if name.startswith("ledger.") and text not in tested
    ]
    assert unused == []
    verdicts = [suite.judge(mutant, sites[mutant.site]) for mutant in all_mutants(sites)]
    assert [str(verdict.mutant) for verdict in verdicts if not verdict.killer] == []


def test_a_condition_is_taken_apart_where_and_joins_it() -> None:
    assert conjuncts_of("#a IN (:b, :c) AND (#d = :d OR #e > :e) AND #f = :f") == [
        "#a IN (:b, :c)",
        "(#d = :d OR #e > :e)",
        "#f = :f",
    ]
    assert conjuncts_of("attribute_not_exists(#a) OR #b = :b AND #c = :c") == [
        "attribute_not_exists(#a) OR #b = :b AND #c = :c"
    ]


def test_what_a_dropped_condition_named_is_dropped_with_it() -> None:
    update = {
        "TableName": "turns-1",
        "Key": {"conversation": {"S": "x"}},
        "UpdateExpression": "SET #state = :new",
        "ConditionExpression": "#state = :old AND #sent = :sent",
        "ExpressionAttributeNames": {"#state": "state", "#sent": "sent"},
        "ExpressionAttributeValues": {":new": {"S": "n"}, ":old": {"S": "o"}, ":sent": {"N": "1"}},
    }
    site = Site("DynamoLedger.close", "Update turns", "#state = :old AND #sent = :sent")
    first, second, whole = mutants_of(site)
    assert without(second, "UpdateItem", update, site.caller)["ExpressionAttributeNames"] == {"#state": "state"}
    assert without(first, "UpdateItem", update, site.caller)["ConditionExpression"] == "#sent = :sent"
    changed = without(whole, "UpdateItem", update, site.caller)
    assert "ConditionExpression" not in changed
    assert changed["ExpressionAttributeValues"] == {":new": {"S": "n"}}
    assert without(whole, "UpdateItem", update, "DynamoLedger.mark_sent") == update
