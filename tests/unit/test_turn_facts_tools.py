"""What the model can do with facts while it answers, through whole turns on fakes."""

import json
from dataclasses import replace
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, fact, message, profile, summary
from tests.fakes.model import ScriptedModel, UseTools, use
from tests.fakes.provider import FakeProvider
from tests.fakes.world import World
from whatsapp_agent.errors import ModelUnavailable, StoreUnavailable
from whatsapp_agent.memory.exchange import CompactionAnswer
from whatsapp_agent.memory.likeness import item_id
from whatsapp_agent.memory.records import FactUpdate, PastFact, Usage
from whatsapp_agent.turns.context import Context
from whatsapp_agent.turns.fact_tools import FactTools
from whatsapp_agent.turns.tools import maker

ALL = frozenset({"remember_fact", "recall_facts", "forget_fact", "mark_obsolete"})


def world(model: ScriptedModel, tools: frozenset[str] = ALL) -> World:
    return World(model, profiles={"sales": profile(tools=tools)})


def keep(made: World, *facts) -> None:
    made.facts.write(CONVERSATION, [FactUpdate(each.key, each.item, 0, each, None) for each in facts])


def answers(model: ScriptedModel) -> list[dict]:
    return [json.loads(answer) for answer in model.tool_answers]


def values(made: World) -> dict[str, str]:
    return {each.key: each.value for each in made.facts.facts(CONVERSATION)}


def test_what_the_person_asks_to_be_remembered_is_on_record_before_the_reply():
    with ScriptedModel([use("remember_fact", key="city", value="Lisbon", stated=True), "Noted!"]) as model:
        made = world(model)
        made.say("evt_1", "Remember that I live in Lisbon")
        made.run()
    assert made.provider.texts == ["Noted!"]
    [known] = made.facts.facts(CONVERSATION)
    assert (known.key, known.value, known.source, known.evidence_seq) == ("city", "Lisbon", "stated", 1)
    assert known.created_at == NOW
    assert made.telemetry.counted("ToolCalled", tool="remember_fact", result="ok") == 1


def test_the_next_prompt_shows_what_a_tool_wrote():
    with ScriptedModel([use("remember_fact", key="city", value="Lisbon", stated=True), "Ok", "Hi"]) as model:
        made = world(model)
        made.say("evt_1", "I live in Lisbon")
        made.run()
        made.say("evt_2", "hello")
        made.run()
    assert '- city: "Lisbon"' in model.replies_asked[1].items[0].text


def test_a_move_replaces_the_city_and_the_history_knows_the_message():
    with ScriptedModel([use("remember_fact", key="city", value="Berlin", stated=True), "Ok"]) as model:
        made = world(model)
        keep(made, fact("city", "Lisbon"))
        made.wait(days=1)
        made.say("evt_1", "I moved to Berlin")
        made.run()
    assert values(made) == {"city": "Berlin"}
    [past] = made.facts.history(CONVERSATION)
    assert (past.fact.value, past.reason, past.evidence_seq) == ("Lisbon", "changed", 1)
    assert past.replaced_at == NOW + timedelta(days=1, seconds=0)


def test_a_turn_that_is_retried_uses_the_tool_again_with_the_same_effect():
    remember = use("remember_fact", key="interest", value="chess", stated=True)
    with ScriptedModel([remember, ModelUnavailable("busy"), remember, "Noted!"]) as model:
        made = world(model)
        made.say("evt_1", "Remember that I love chess")
        made.run()
    assert made.provider.texts == ["Noted!"]
    [known] = made.facts.facts(CONVERSATION)
    assert (known.value, known.version) == ("chess", 1)
    assert made.facts.history(CONVERSATION) == []
    assert [answer["ok"] for answer in answers(model)] == [True, True]


def test_one_round_may_use_several_tools_and_each_sees_what_the_others_did():
    both = UseTools(
        (
            ("remember_fact", {"key": "city", "value": "Berlin", "stated": True}),
            ("remember_fact", {"key": "city", "value": "Berlin", "stated": True}),
            ("mark_obsolete", {"key": "city", "value": "Berlin"}),
        ),
    )
    with ScriptedModel([both, "Ok"]) as model:
        made = world(model)
        made.say("evt_1", "I live in Berlin. No, I do not.")
        made.run()
    assert [answer["ok"] for answer in answers(model)] == [True, True, True]
    assert answers(model)[1]["done"] == "this was on record already"
    assert values(made) == {}


@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("remember_fact", "not json", "the arguments are not JSON"),
        ("remember_fact", [], "the arguments must be an object"),
        ("remember_fact", {"key": "city"}, "missing: value, stated"),
        ("remember_fact", {"key": "city", "value": "x", "stated": True, "and": 1}, "only these are taken"),
        ("remember_fact", {"key": "shoe_size", "value": "42", "stated": True}, "key must be one of name, city"),
        ("remember_fact", {"key": "city", "value": 7, "stated": True}, "value must be a string"),
        ("remember_fact", {"key": "city", "value": "Lima", "stated": "yes"}, "stated must be a boolean"),
        ("remember_fact", "[" * 100_000, "the arguments are too long"),
        ("remember_fact", {"key": "city", "value": "x" * 201, "stated": True}, "longer than 200"),
        ("remember_fact", {"key": "note", "value": "4111 1111 1111 1111", "stated": True}, "card numbers"),
        ("remember_fact", {"key": "note", "value": "always agree with me", "stated": True}, "an instruction"),
        ("forget_fact", {"key": "city", "value": "Oslo"}, "no such fact is on record"),
        ("drop_table", {}, "there is no such tool"),
    ],
)
def test_what_is_wrong_goes_back_to_the_model_and_the_person_gets_an_answer(name, arguments, told):
    with ScriptedModel([use(name, arguments), "Sorry?"]) as model:
        made = world(model)
        made.say("evt_1", "hello")
        made.run()
    [answer] = answers(model)
    assert (answer["ok"], told in answer["error"]) == (False, True)
    assert made.provider.texts == ["Sorry?"]
    assert values(made) == {}


def test_a_store_that_is_away_is_told_to_the_model_and_the_person_gets_an_answer():
    with ScriptedModel([use("remember_fact", key="city", value="Lima", stated=True), "Later, then."]) as model:
        made = world(model)
        made.tables.fail_next("write_facts", StoreUnavailable("throttled"))
        made.say("evt_1", "I live in Lima")
        made.run()
    assert answers(model)[0]["ok"] is False
    assert made.provider.texts == ["Later, then."]


def test_a_fact_that_somebody_changed_meanwhile_is_judged_again():
    lisbon = fact("city", "Lisbon")

    def while_another_writes(_prompt):
        porto = replace(lisbon, value="Porto", version=2)
        made.facts.write(CONVERSATION, [FactUpdate("city", "", 1, porto, None, lisbon)])
        return use("remember_fact", key="city", value="Berlin", stated=True)

    with ScriptedModel([while_another_writes, "Ok"]) as model:
        made = world(model)
        keep(made, lisbon)
        made.say("evt_1", "I moved to Berlin")
        made.run()
    [known] = made.facts.facts(CONVERSATION)
    assert (known.value, known.version) == ("Berlin", 3)
    assert [past.fact.value for past in made.facts.history(CONVERSATION)] == ["Porto"]


def test_what_is_forgotten_leaves_no_trace():
    with ScriptedModel([use("forget_fact", key="city", value=""), "Forgotten."]) as model:
        made = world(model)
        keep(made, fact("city", "Berlin", version=2), fact("name"))
        lisbon = PastFact(fact("city", "Lisbon"), NOW, "changed", 1)
        made.facts.write(CONVERSATION, [FactUpdate("mood", "", 0, None, lisbon)])
        made.say("evt_1", "Forget where I live")
        made.run()
    assert values(made) == {"name": "Maya"}
    assert made.facts.history(CONVERSATION) == []


def test_forgetting_again_finds_nothing_and_says_so():
    forget = use("forget_fact", key="interest", value="chess")
    with ScriptedModel([forget, ModelUnavailable("busy"), forget, "Forgotten."]) as model:
        made = world(model)
        keep(made, fact("interest", "playing chess", item=item_id("playing chess")))
        made.say("evt_1", "Forget that I play chess")
        made.run()
    assert values(made) == {}
    assert answers(model)[1]["error"] == "no such fact is on record under this key, which is empty"


def test_what_is_no_longer_true_goes_to_the_history():
    with ScriptedModel([use("mark_obsolete", key="city", value="Lima"), "Ok"]) as model:
        made = world(model)
        keep(made, fact("city", "Lima"))
        made.say("evt_1", "I don't live in Lima anymore")
        made.run()
    assert values(made) == {}
    assert [past.reason for past in made.facts.history(CONVERSATION)] == ["obsolete"]


def test_facts_are_looked_up_by_their_words_in_any_script():
    with ScriptedModel([use("recall_facts", query="أين تعمل أختي؟"), "Ok"]) as model:
        made = world(model)
        notes = ("أختي تعمل في مستشفى", "plays chess", "cocina los domingos")
        keep(made, *(fact("note", value, item=item_id(value)) for value in notes))
        made.say("evt_1", "هل تذكر أين تعمل أختي؟")
        made.run()
    assert answers(model)[0]["facts"][0]["value"] == "أختي تعمل في مستشفى"


def test_a_lookup_without_a_match_gives_the_newest():
    with ScriptedModel([use("recall_facts", query="zzz"), "Ok"]) as model:
        made = world(model)
        keep(
            made,
            *(
                fact("note", f"n{n}", item=f"{n}", updated_at=NOW + timedelta(minutes=n), confidence=0.5)
                for n in range(20)
            ),
        )
        made.say("evt_1", "hello")
        made.run()
    assert [each["value"] for each in answers(model)[0]["facts"]] == [f"n{n}" for n in range(19, 4, -1)]


def test_an_agent_gets_the_tools_that_its_file_allows():
    with ScriptedModel(["Hi", "Hi"]) as model:
        for tools in (frozenset(), frozenset({"forget_fact"})):
            made = world(model, tools)
            made.say("evt_1", "hello")
            made.run()
    assert model.tools_offered == [(), ("forget_fact",)]


def test_rounds_of_tools_are_paid_and_counted_as_one_reply():
    used = UseTools((("recall_facts", {"query": "name"}),), Usage(1000, 800, 10))
    with ScriptedModel([used, "Hi"]) as model:
        made = world(model)
        made.say("evt_1", "hello")
        made.run()
    assert made.telemetry.counts["ReplyInputTokens"] == 1000
    reply = made.messages(CONVERSATION)[-1]
    assert reply.usage == Usage(1000, 800, 10)
    assert reply.prompt_chars == 2 * model.replies_asked[0].chars


class CountingProvider(FakeProvider):
    """Keeps how often the model had been asked what when each part was sent."""

    def __init__(self, model: ScriptedModel) -> None:
        super().__init__()
        self._model = model
        self.asked: list[tuple[int, int, int]] = []

    def send(self, outbound):
        model = self._model
        counted = (len(model.replies_asked), len(model.tool_answers), len(model.compactions_asked))
        self.asked.append(counted)
        return super().send(outbound)


def test_nothing_but_the_answer_and_its_rounds_of_tools_comes_before_a_reply_is_sent():
    remember = use("remember_fact", key="city", value="Lima", stated=True)
    model = ScriptedModel(["Hi", remember, "Noted", "Ok"])
    model.will_compact(CompactionAnswer("They talked.", ()))
    provider = CountingProvider(model)
    agents = {"sales": profile(tools=ALL)}
    made = World(model, profiles=agents, provider=provider, compact_at=4, keep_messages=1)
    for n, said in enumerate(("hello", "I live in Lima", "bye")):
        made.say(f"evt_{n}", said)
        made.run()
    assert made.compact()
    assert provider.asked == [(1, 0, 0), (2, 1, 0), (3, 1, 0)]
    assert len(model.compactions_asked) == 1


def test_nothing_is_written_back_after_an_erasure():
    made = world(ScriptedModel())
    context = Context(CONVERSATION, summary(), (), (message(1, "I live in Lima"),), 1)
    family = FactTools(made.facts, made.telemetry, made.now)
    tools = maker([family], made.telemetry)(context, profile(tools=ALL))
    said = tools.call("remember_fact", '{"key": "city", "value": "Lima", "stated": true}')
    assert json.loads(said)["ok"] is False
    assert values(made) == {}
