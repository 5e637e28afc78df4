"""Which of more than thirty facts a prompt shows."""

from collections.abc import Sequence
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, fact, profile
from tests.fakes.model import ScriptedModel
from tests.fakes.telemetry import RecordingTelemetry
from tests.fakes.world import World
from whatsapp_agent.errors import AgentError, ModelRefused, ModelUnavailable
from whatsapp_agent.memory.closeness import MOST_COMPARED, PROMPT_FACTS, candidates, shown, similarity
from whatsapp_agent.memory.profile import FactKey
from whatsapp_agent.memory.records import FactUpdate
from whatsapp_agent.turns.fact_choice import FactChooser

TOPICS = ("chess", "sister", "bread", "berlin")


class TopicEmbedder:
    """`ports.Embedder` whose vectors say which topics a text names."""

    model = "topics"

    def __init__(self, error: AgentError | None = None) -> None:
        self.asked: list[list[str]] = []
        self.error = error

    def embed(self, texts: Sequence[str], *, seconds: float) -> list[tuple[float, ...]]:
        self.asked.append(list(texts))
        if self.error:
            raise self.error
        return [tuple(float(topic in text.lower()) for topic in TOPICS) for text in texts]


def notes(count, **changes):
    return [
        fact("note", f"n{i}", item=f"{i:03}", updated_at=NOW - timedelta(days=i + 1), **changes)
        for i in range(count)
    ]


OLD = fact("note", "plays Chess on Sundays", item="chess", updated_at=NOW - timedelta(days=900))
MANY = [fact(), *notes(40), OLD]


def choose(facts, said="Fancy a game of chess?", embedder=None, telemetry=None):
    return FactChooser(embedder, telemetry or RecordingTelemetry()).choose(facts, profile(), said, NOW)


def test_up_to_thirty_facts_are_all_shown_and_nothing_is_embedded():
    embedder = TopicEmbedder()
    facts = [fact(), *notes(28), OLD]
    assert set(choose(facts, embedder=embedder).lasting) == set(facts)
    assert embedder.asked == []


def test_expired_facts_do_not_count():
    embedder = TopicEmbedder()
    gone = notes(40, expires_at=NOW)
    assert set(choose([fact(), *gone, OLD], embedder=embedder).lasting) == {fact(), OLD}
    assert embedder.asked == []


def test_beyond_thirty_the_closest_to_the_message_are_shown_however_old():
    embedder = TopicEmbedder()
    found = choose(MANY, embedder=embedder)
    assert found.lasting == (fact(),)
    assert found.close[0] == OLD
    assert len(found.lasting) + len(found.close) == PROMPT_FACTS
    assert len(embedder.asked) == 1


def test_pinned_and_single_facts_are_shown_whatever_is_said():
    keys = profile().fact_keys | {"allergy": FactKey("allergy", "…", kind="list", pinned=True)}
    nuts = fact("allergy", "nuts", item="x", updated_at=NOW - timedelta(days=900))
    agent = profile(fact_keys=keys)
    near = {(each.key, each.item): 0.5 for each in candidates([*MANY, nuts], agent, NOW)}
    assert set(shown([*MANY, nuts], agent, NOW, near).lasting) == {nuts, fact()}


def test_where_single_facts_fill_the_prompt_nothing_is_embedded():
    keys = {f"key{n}": FactKey(f"key{n}", "…") for n in range(35)}
    assert candidates([fact(key) for key in keys], profile(fact_keys=keys), NOW) == []


def test_without_an_embedder_the_newest_are_shown():
    found = choose(MANY)
    assert found.close == ()
    assert {each.value for each in found.lasting} == {"Maya", *(f"n{i}" for i in range(29))}


@pytest.mark.parametrize(
    "error", [ModelUnavailable("slow"), ModelRefused("no quota", code="insufficient_quota")]
)
def test_an_embedder_that_fails_costs_closeness_and_is_counted(error):
    telemetry = RecordingTelemetry()
    assert choose(MANY, embedder=TopicEmbedder(error), telemetry=telemetry) == choose(MANY)
    assert telemetry.counts["FactChoiceFailed"] == 1


def test_equal_closeness_is_decided_by_age_and_never_by_chance():
    embedder = TopicEmbedder()
    assert choose(MANY, embedder=embedder) == choose(MANY[::-1], embedder=embedder)
    assert [each.value for each in choose(MANY, embedder=embedder).close[1:4]] == ["n0", "n1", "n2"]


def test_what_is_compared_is_bounded():
    embedder = TopicEmbedder()
    choose(notes(2000), said="chess " * 5000, embedder=embedder)
    [asked] = embedder.asked
    assert len(asked) == 1 + MOST_COMPARED
    assert len(asked[0]) <= 2000


def test_a_message_without_words_is_close_to_nothing():
    embedder = TopicEmbedder()
    assert choose(MANY, said=" ", embedder=embedder) == choose(MANY)
    assert embedder.asked == []


@pytest.mark.parametrize(
    ("one", "other", "is_"), [((1, 0), (2, 0), 1), ((1, 0), (0, 3), 0), ((0, 0), (1, 1), 0)]
)
def test_similarity_is_the_cosine(one, other, is_):
    assert similarity(one, other) == is_


def test_close_facts_stand_with_the_notes_so_that_the_block_stays_cached():
    embedder = TopicEmbedder()
    with ScriptedModel(["Sure!", "She is fine."]) as model:
        made = World(model, embedder=embedder)
        sister = fact("note", "her sister is called Ana", item="s", updated_at=NOW - timedelta(days=800))
        updates = [FactUpdate(each.key, each.item, 0, each, None) for each in [*MANY, sister]]
        made.facts.write(CONVERSATION, updates)
        made.say("evt_1", "Fancy a game of chess?")
        made.run()
        made.say("evt_2", "How is my sister?")
        made.run()
    first, second = model.replies_asked
    assert first.items[0] == second.items[0]
    [notes_1], [notes_2] = ([item.text for item in p.items if item.kind == "notes"] for p in (first, second))
    assert '- note: "plays Chess on Sundays"' in notes_1
    assert '- note: "her sister is called Ana"' in notes_2
    assert len(embedder.asked) == 2
