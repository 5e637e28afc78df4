"""DynamoDB's limits and habits, as its adapters meet them: pages, batches, throttling, lost answers."""

from collections.abc import Callable
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError, EndpointConnectionError, ReadTimeoutError

from tests.builders import CONVERSATION, NOW, NUMBER, PERSON, fact, message, turn
from tests.contracts.stores import ALL_TABLES, Stores, stores_on
from tests.contracts.tables import dynamodb_client
from whatsapp_agent.errors import SeqTaken, StoreUnavailable, TransientError, TurnMoved
from whatsapp_agent.memory.records import FactUpdate, PastFact

Answer = dict[str, Any]


class ChangedClient:
    """A DynamoDB client of which one operation goes through `change`, which gets the real one."""

    def __init__(self, client: Any, operation: str, change: Callable[..., Answer]) -> None:
        self._client = client
        self._operation = operation
        self._change = change
        self.calls = 0

    def __getattr__(self, name: str) -> Any:
        real = getattr(self._client, name)
        if name != self._operation:
            return real

        def call(**parameters: Any) -> Answer:
            self.calls += 1
            return self._change(real, self.calls, **parameters)

        return call


def error(code: str, status: int = 400, **more: Any) -> ClientError:
    answer = {"Error": {"Code": code, "Message": "x"}, "ResponseMetadata": {"HTTPStatusCode": status}, **more}
    return ClientError(answer, "Operation")  # type: ignore[arg-type]


def cancelled(*codes: str) -> ClientError:
    return error("TransactionCanceledException", CancellationReasons=[{"Code": code} for code in codes])


def named(failure: Exception) -> str:
    return failure.response["Error"]["Code"] if isinstance(failure, ClientError) else type(failure).__name__


def raising(failure: Exception, times: int = 1_000) -> Callable[..., Answer]:
    def change(real: Callable[..., Answer], call: int, **parameters: Any) -> Answer:
        if call <= times:
            raise failure
        return real(**parameters)

    return change


def losing_the_answer(real: Callable[..., Answer], call: int, **parameters: Any) -> Answer:
    """What the SDK does when the first answer is lost on the way: it asks again."""
    if call == 1:
        real(**parameters)
    return real(**parameters)


@pytest.fixture
def changed(dynamo: Stores) -> Callable[[str, Callable[..., Answer]], Stores]:
    """The same tables through a client of which one operation is changed."""
    return lambda operation, change: stores_on(ChangedClient(dynamo.client, operation, change), dynamo.tables)


class TestBatches:
    def test_1200_items_of_three_kinds_are_erased(self, dynamo: Stores):
        dynamo.put([message(seq) for seq in range(1, 501)], [turn(f"evt_{n}") for n in range(400)])
        old = [fact("interest", item=f"i{n:03}") for n in range(150)]
        dynamo.compact(
            *(FactUpdate(each.key, each.item, 0, each, PastFact(each, NOW, "changed", 1)) for each in old)
        )
        assert dynamo.conversations.erase(CONVERSATION) == 500 + 400 + 1
        assert dynamo.facts.erase(CONVERSATION) == 300
        assert dynamo.left(CONVERSATION) == 0

    def test_items_that_a_batch_leaves_are_deleted_by_the_next(self, dynamo: Stores, changed: Callable):
        def half(real: Callable[..., Answer], call: int, **parameters: Any) -> Answer:
            ((table, requests),) = parameters["RequestItems"].items()
            middle = (len(requests) + 1) // 2
            real(RequestItems={table: requests[:middle]})
            return {"UnprocessedItems": {table: requests[middle:]} if requests[middle:] else {}}

        dynamo.put([message(seq) for seq in range(1, 61)], [])
        halving = changed("batch_write_item", half)
        assert halving.conversations.delete_messages(CONVERSATION, 60) == 60
        assert dynamo.left(CONVERSATION) == 0

    def test_items_that_are_never_deleted_are_an_error(self, dynamo: Stores, changed: Callable):
        def nothing(_real: Callable[..., Answer], _call: int, **parameters: Any) -> Answer:
            return {"UnprocessedItems": parameters["RequestItems"]}

        dynamo.put_first_message()
        with pytest.raises(StoreUnavailable):
            changed("batch_write_item", nothing).conversations.erase(CONVERSATION)

    def test_an_erasure_goes_on_until_nothing_is_written_behind_it(self, dynamo: Stores, changed: Callable):
        def racing(real: Callable[..., Answer], call: int, **parameters: Any) -> Answer:
            answer = real(**parameters)
            if call == 1:
                dynamo.put([message(2)], [turn("evt_late")])
            return answer

        dynamo.put_first_message()
        assert changed("batch_write_item", racing).conversations.erase(CONVERSATION) == 3
        assert dynamo.left(CONVERSATION) == 0

    def test_keys_that_a_batch_leaves_are_read_by_the_next(self, dynamo: Stores, changed: Callable):
        def one(real: Callable[..., Answer], call: int, **parameters: Any) -> Answer:
            ((table, wanted),) = parameters["RequestItems"].items()
            answer = real(RequestItems={table: {**wanted, "Keys": wanted["Keys"][:1]}})
            rest = wanted["Keys"][1:]
            return {**answer, "UnprocessedKeys": {table: {**wanted, "Keys": rest}} if rest else {}}

        dynamo.directory.assign_number(NUMBER, "sales")
        dynamo.directory.alias_person("US.1349", PERSON)
        found = changed("batch_get_item", one).directory.resolve(NUMBER, "US.1349")
        assert (found.agent, found.person) == ("sales", PERSON)


class TestFailures:
    """`claim` stands for transactions, `turn` for reads, `close` for single writes."""

    @pytest.mark.parametrize(
        "failure",
        [
            error("ProvisionedThroughputExceededException"),
            error("ThrottlingException"),
            error("RequestLimitExceeded"),
            error("InternalServerError", 500),
            error("SomethingNew", 503),
            cancelled("None", "ThrottlingError"),
            cancelled("ProvisionedThroughputExceeded", "None"),
            cancelled("TransactionConflict", "None"),
            error("TransactionInProgressException"),
            ReadTimeoutError(endpoint_url="x"),
            ConnectTimeoutError(endpoint_url="x"),
            EndpointConnectionError(endpoint_url="x"),
        ],
        ids=named,
    )
    @pytest.mark.parametrize("operation", ["transact_write_items", "get_item", "update_item", "query"])
    def test_what_may_pass_is_transient(self, operation: str, failure: Exception):
        stores = unconnected(operation, failure)
        with pytest.raises(TransientError) as raised:
            use(stores, operation)
        assert raised.value.__cause__ is failure
        assert "34600111222" not in str(raised.value)

    @pytest.mark.parametrize(
        "failure",
        [
            error("ResourceNotFoundException"),
            error("AccessDeniedException"),
            error("ValidationException"),
            cancelled("None", "ValidationError"),
        ],
    )
    @pytest.mark.parametrize("operation", ["transact_write_items", "get_item", "update_item", "query"])
    def test_what_is_not_known_passes_unchanged(self, operation: str, failure: Exception):
        with pytest.raises(ClientError) as raised:
            use(unconnected(operation, failure), operation)
        assert raised.value is failure

    def test_a_conflict_is_tried_again_at_once(self, changed: Callable):
        stores = changed("transact_write_items", raising(cancelled("None", "TransactionConflict"), times=3))
        assert stores.ledger.claim(turn(), message()) is None
        assert stores.ledger.turn(CONVERSATION, "evt_1") is not None

    def test_a_fourth_conflict_is_left_to_the_queue(self, changed: Callable):
        stores = changed("transact_write_items", raising(cancelled("TransactionConflict"), times=4))
        with pytest.raises(StoreUnavailable):
            stores.ledger.claim(turn(), message())

    def test_a_condition_that_failed_beside_a_conflict_is_final(self, changed: Callable):
        failure = cancelled("TransactionConflict", "ConditionalCheckFailed")
        with pytest.raises(SeqTaken):
            changed("transact_write_items", raising(failure)).ledger.claim(turn(), message())

    def test_an_existing_turn_that_the_refusal_does_not_bring_is_read(self, dynamo: Stores, changed: Callable):
        dynamo.ledger.claim(turn(), message())
        stores = changed("transact_write_items", raising(cancelled("ConditionalCheckFailed", "None")))
        assert stores.ledger.claim(turn(), message()).event_id == "evt_1"

    def test_a_mark_whose_answer_was_lost_is_not_an_error(self, dynamo: Stores, changed: Callable):
        replied = turn(state="replied", parts=("one", "two"), reply_seq=2)
        dynamo.put([], [replied])
        marked = changed("update_item", losing_the_answer).ledger.mark_sent(replied, "wamid.1")
        assert (marked.state, marked.sent) == ("replied", 1)

    def test_a_close_whose_turn_is_gone_is_told(self, changed: Callable):
        failure = error("ConditionalCheckFailedException")
        with pytest.raises(TurnMoved):
            changed("update_item", raising(failure)).ledger.close(turn(), "silent", "")


def unconnected(operation: str, failure: Exception) -> Stores:
    """Stores of which that operation always fails; no other is there."""
    client = ChangedClient(dynamodb_client("http://127.0.0.1:9"), operation, raising(failure))
    return stores_on(client, dict.fromkeys(ALL_TABLES, "table"))


def use(stores: Stores, operation: str) -> None:
    """Calls the port method that needs the operation."""
    if operation == "transact_write_items":
        stores.ledger.claim(turn(), message())
    elif operation == "get_item":
        stores.ledger.turn(CONVERSATION, "evt_1")
    elif operation == "update_item":
        stores.ledger.close(turn(), "silent", "")
    else:
        stores.conversations.newest_messages(CONVERSATION, 1)
