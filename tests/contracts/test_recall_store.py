"""What can be recalled: one suite for the fake, and for DynamoDB without a vector index (moto) and with one."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from moto import mock_aws

from tests.builders import CONVERSATION, NOW, message
from tests.contracts.stores import MovableClock
from tests.contracts.tables import create_tables, dynamodb_client, items_of
from tests.fakes.recall import FakeKnowledgeCatalogue, FakeRecallStore
from tests.fakes.store import FakeTables
from tests.fakes.store_tables import Kept
from whatsapp_agent.errors import ConfigurationError, MessagesGone
from whatsapp_agent.memory.passages import EPISODES, KNOWLEDGE, Catalogue, Passage, Source, source_key
from whatsapp_agent.memory.records import Message
from whatsapp_agent.ports.recall import KnowledgeCatalogue, RecallStore
from whatsapp_agent.store.database import Database
from whatsapp_agent.store.items import message_item
from whatsapp_agent.store.knowledge import DynamoKnowledgeCatalogue
from whatsapp_agent.store.recall import DynamoRecallStore
from whatsapp_agent.store.wire import to_wire

DIMENSIONS = 512
MODEL = "model-a"
OTHER = "sales#+34600999888"


@dataclass
class Rig:
    store: RecallStore
    catalogue: KnowledgeCatalogue
    clock: MovableClock
    put_message: Any
    remove_message: Any
    client: Any = None
    table: str = ""


def fake() -> Rig:
    clock = MovableClock()
    tables = FakeTables(clock)

    def put(each: Message) -> None:
        tables.messages[each.conversation][each.seq] = Kept(each)

    def remove(each: Message) -> None:
        del tables.messages[each.conversation][each.seq]

    return Rig(FakeRecallStore(clock, tables), FakeKnowledgeCatalogue(), clock, put, remove)


def dynamo(endpoint: str | None) -> Rig:
    client = dynamodb_client(endpoint)
    names = create_tables(client, "recall", "messages", vectors=endpoint is not None)
    clock, database = MovableClock(), Database(client, sleep=lambda _: None)

    def put(each: Message) -> None:
        client.put_item(TableName=names["messages"], Item=to_wire(message_item(each, None)))

    def remove(each: Message) -> None:
        key = to_wire({"conversation": each.conversation, "seq": each.seq})
        client.delete_item(TableName=names["messages"], Key=key)

    store = DynamoRecallStore(
        client, recall=names["recall"], messages=names["messages"], now=clock, database=database
    )
    catalogue = DynamoKnowledgeCatalogue(client, recall=names["recall"], database=database)
    return Rig(store, catalogue, clock, put, remove, client, names["recall"])


@pytest.fixture(params=["fake", "moto", pytest.param("ministack", marks=pytest.mark.emulator)])
def rig(request: pytest.FixtureRequest) -> Iterator[Rig]:
    with ExitStack() as stack:
        if request.param == "moto":
            stack.enter_context(mock_aws())
        if request.param == "fake":
            yield fake()
        else:
            endpoint = request.getfixturevalue("emulator") if request.param == "ministack" else None
            yield dynamo(endpoint)


def vector(*values: float) -> tuple[float, ...]:
    return tuple(values) + (0.0,) * (DIMENSIONS - len(values))


def episode(place: int, text: str = "they talked", **changes: Any) -> Passage:
    return replace(Passage(CONVERSATION, place, text, sent_at=NOW), **changes)


def chunk(place: int, text: str = "a chunk", source: str = "manual.md", **changes: Any) -> Passage:
    return replace(Passage("sales", place, text, source=source, title="Manual › Returns"), **changes)


def test_a_passage_comes_back_as_it_was_written_without_its_vector(rig: Rig):
    written = chunk(3, model=MODEL, embedding=vector(1.0))

    rig.store.put([written])

    assert rig.store.passages("sales", KNOWLEDGE, 10) == [replace(written, embedding=())]


def test_passages_come_in_order_and_the_newest_first_where_asked(rig: Rig):
    rig.store.put([episode(place) for place in (900, 100, 10_000, 200)])

    places = [each.place for each in rig.store.passages(CONVERSATION, EPISODES, 10)]
    newest = [each.place for each in rig.store.passages(CONVERSATION, EPISODES, 2, newest_first=True)]

    assert places == [100, 200, 900, 10_000]
    assert newest == [10_000, 900]


def test_one_source_is_read_alone(rig: Rig):
    rig.store.put([chunk(0), chunk(0, source="other.md"), replace(episode(100), owner="sales")])

    (found,) = rig.store.passages("sales", source_key("other.md"), 10)

    assert found.source == "other.md"


def test_named_passages_are_read_and_absent_ones_left_out(rig: Rig):
    rig.store.put([episode(100), episode(200)])

    found = rig.store.get(CONVERSATION, [episode(200).key, episode(700).key])

    assert [each.place for each in found] == [200]
    assert rig.store.get(CONVERSATION, []) == []


def test_the_nearest_vectors_come_with_their_cosine(rig: Rig):
    rig.store.put(
        [
            episode(100, model=MODEL, embedding=vector(1.0, 0.0)),
            episode(200, model=MODEL, embedding=vector(0.6, 0.8)),
            episode(300, model=MODEL, embedding=vector(0.0, -1.0)),
        ]
    )

    found = rig.store.nearest(CONVERSATION, vector(2.0), MODEL, 2)

    assert list(found) == [episode(100).key, episode(200).key]
    assert list(found.values()) == pytest.approx([1.0, 0.6], abs=1e-4)


def test_the_vectors_of_another_model_are_passed_over(rig: Rig):
    rig.store.put(
        [
            episode(100, model="an older model", embedding=vector(1.0)),
            episode(200, model=MODEL, embedding=vector(0.1, 1.0)),
        ]
    )

    assert list(rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5)) == [episode(200).key]


def test_nobody_elses_vector_is_ever_near(rig: Rig):
    rig.store.put([replace(episode(100, model=MODEL, embedding=vector(1.0)), owner=OTHER)])

    assert rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5) == {}


def test_a_question_without_direction_finds_nothing(rig: Rig):
    rig.store.put([episode(100, model=MODEL, embedding=vector(1.0))])

    assert rig.store.nearest(CONVERSATION, vector(0.0), MODEL, 5) == {}


def test_a_passage_that_is_written_again_is_replaced_with_its_vector(rig: Rig):
    rig.store.put([episode(100, "old", model=MODEL, embedding=vector(1.0))])
    rig.store.put([episode(100, "new", model=MODEL, embedding=vector(0.0, 1.0))])

    (found,) = rig.store.passages(CONVERSATION, EPISODES, 10)
    assert found.text == "new"
    assert rig.store.nearest(CONVERSATION, vector(0.0, 1.0), MODEL, 5) == pytest.approx({found.key: 1.0})


def test_a_passage_that_is_written_again_without_a_vector_loses_the_old_one(rig: Rig):
    rig.store.put([episode(100, model=MODEL, embedding=vector(1.0))])
    rig.store.put([episode(100, "new")])

    assert rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5) == {}
    assert rig.store.vectors(CONVERSATION, EPISODES) == {}


def test_stored_vectors_can_be_taken_over(rig: Rig):
    rig.store.put([chunk(0, model=MODEL, embedding=vector(0.123456, -0.5)), chunk(1)])

    found = rig.store.vectors("sales", source_key("manual.md"))

    assert list(found) == [chunk(0).key]
    model, stored = found[chunk(0).key]
    assert model == MODEL
    assert stored[:2] == pytest.approx((0.12346, -0.5))


def test_what_has_expired_is_gone_at_once(rig: Rig):
    short = episode(100, model=MODEL, embedding=vector(1.0), expires_at=NOW + timedelta(days=1))
    rig.store.put([short, episode(200)])

    rig.clock.advance(days=1)

    assert [each.place for each in rig.store.passages(CONVERSATION, EPISODES, 10)] == [200]
    assert rig.store.get(CONVERSATION, [short.key]) == []


def test_deleted_passages_are_gone_with_their_vectors(rig: Rig):
    rig.store.put([chunk(0, model=MODEL, embedding=vector(1.0)), chunk(1)])

    rig.store.delete("sales", [chunk(0).key, chunk(9).key])

    assert [each.place for each in rig.store.passages("sales", KNOWLEDGE, 10)] == [1]
    assert rig.store.nearest("sales", vector(1.0), MODEL, 5) == {}


def test_a_guarded_passage_is_written_while_its_message_is_there(rig: Rig):
    rig.put_message(message(7))
    many = [episode(100 * place, model=MODEL, embedding=vector(1.0, place)) for place in range(1, 61)]

    rig.store.put(many, while_there=message(7))

    assert len(rig.store.passages(CONVERSATION, EPISODES, 100)) == 60
    assert len(rig.store.nearest(CONVERSATION, vector(1.0, 60.0), MODEL, 100)) == 60


@pytest.mark.parametrize("left", [None, message(7, event_id="another event")])
def test_nothing_is_written_back_after_an_erasure(rig: Rig, left: Message | None):
    rig.put_message(message(7))
    rig.remove_message(message(7))
    if left:
        rig.put_message(left)

    with pytest.raises(MessagesGone):
        rig.store.put([episode(100, model=MODEL, embedding=vector(1.0))], while_there=message(7))

    assert rig.store.passages(CONVERSATION, EPISODES, 10) == []
    assert rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5) == {}


def test_erasing_leaves_nothing_of_the_owner_and_all_of_the_others(rig: Rig):
    mine = [episode(100 * place, model=MODEL, embedding=vector(1.0)) for place in range(1, 31)]
    theirs = replace(mine[0], owner=OTHER)
    rig.store.put(mine)
    rig.store.put([theirs])

    assert rig.store.erase(CONVERSATION) >= 30

    assert rig.store.passages(CONVERSATION, EPISODES, 10) == []
    assert rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5) == {}
    assert list(rig.store.nearest(OTHER, vector(1.0), MODEL, 5)) == [theirs.key]


def test_a_catalogue_says_what_is_known_and_that_it_has_changed(rig: Rig):
    assert rig.catalogue.catalogue("sales") == Catalogue()
    source = Source("sales", "manual.md", 4, 1200, MODEL, datetime(2026, 11, 1, tzinfo=UTC))
    rig.catalogue.put_source(source)
    rig.catalogue.put_source(replace(source, name="a.txt", complete=False))
    rig.catalogue.publish("sales", 4)
    first = rig.catalogue.catalogue("sales")
    rig.catalogue.delete_source("sales", "a.txt")
    rig.catalogue.publish("sales", 3)

    assert rig.catalogue.sources("sales") == [source]
    assert rig.catalogue.sources("companion") == []
    assert first.version
    assert (first.chunks, rig.catalogue.catalogue("sales").chunks) == (4, 3)
    assert rig.catalogue.catalogue("sales").version != first.version


@pytest.mark.emulator
@pytest.mark.parametrize("guarded", [False, True])
def test_a_vector_of_another_length_says_what_to_do(emulator: str, guarded: bool):
    rig = dynamo(emulator)
    rig.put_message(message(7))

    with pytest.raises(ConfigurationError, match=r"recall\.md"):
        rig.store.put(
            [episode(100, model=MODEL, embedding=(1.0, 2.0))], while_there=message(7) if guarded else None
        )


@pytest.mark.emulator
def test_every_search_names_its_owner_in_the_request(emulator: str):
    rig = dynamo(emulator)
    asked: list[dict[str, Any]] = []
    rig.client.meta.events.register(
        "provide-client-params.dynamodb.SearchVectors", lambda params, **_: asked.append(params)
    )

    rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5)

    (request,) = asked
    assert "#owner = :owner" in request["SearchConditionExpression"]
    assert request["ExpressionAttributeValues"][":owner"] == {"S": CONVERSATION}


@pytest.mark.emulator
def test_without_the_index_the_vectors_are_compared_and_the_index_is_asked_again_later(emulator: str):
    rig = dynamo(emulator)
    index = {"IndexName": "by_embedding"}
    rig.client.update_table(TableName=rig.table, VectorIndexUpdates=[{"Delete": index}])
    rig.store.put([episode(100, model=MODEL, embedding=vector(1.0))])
    operations: list[str] = []
    rig.client.meta.events.register(
        "provide-client-params.dynamodb.*", lambda model, **_: operations.append(model.name)
    )

    for _ in range(2):
        assert list(rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5)) == [episode(100).key]
    rig.clock.advance(minutes=5)
    rig.store.nearest(CONVERSATION, vector(1.0), MODEL, 5)

    assert operations == ["SearchVectors", "Query", "Query", "SearchVectors", "Query"]


def test_a_text_is_read_without_paying_for_its_vector():
    with mock_aws():
        rig = dynamo(None)
        rig.store.put([episode(100, model=MODEL, embedding=vector(*[0.12345] * DIMENSIONS))])
        texts = [item for item in items_of(rig.client, rig.table) if item["id"]["S"].startswith("text#")]

    assert len(texts) == 1
    assert "embedding" not in texts[0]


PEOPLE = [f"sales#+3460011122{digit}" for digit in range(4)]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    owned=st.lists(
        st.tuples(
            st.sampled_from(PEOPLE), st.integers(1, 20), st.lists(st.floats(-1, 1), min_size=3, max_size=3)
        ),
        max_size=12,
    ),
    asked=st.lists(st.floats(-1, 1), min_size=3, max_size=3),
    person=st.sampled_from(PEOPLE),
)
def test_a_persons_recall_never_returns_anothers_item(rig: Rig, owned: Any, asked: list[float], person: str):
    for each in PEOPLE:
        rig.store.erase(each)
    for owner, place, values in owned:
        passage = Passage(owner, place, f"of {owner}", model=MODEL, embedding=vector(*values))
        rig.store.put([passage])
    mine = {Passage(owner, place, "").key for owner, place, _ in owned if owner == person}

    near = rig.store.nearest(person, vector(*asked), MODEL, 100)
    texts = rig.store.passages(person, "", 100)

    assert near.keys() <= mine
    assert {each.key for each in texts} == mine
    assert {each.text for each in [*texts, *rig.store.get(person, [*near])]} <= {f"of {person}"}
