"""What consecutive prompts of a conversation have in common: everything up to what is new.

Providers bill input that they have seen before at a fraction, and only from the first character on.
"""

from dataclasses import replace
from datetime import timedelta

import pytest

from tests.builders import CONVERSATION, NOW, fact, message, profile, summary
from tests.fakes.model import ScriptedModel
from tests.fakes.world import World
from whatsapp_agent.memory.exchange import CompactionAnswer, Prompt
from whatsapp_agent.memory.likeness import item_id
from whatsapp_agent.memory.prompt import reply_prompt
from whatsapp_agent.memory.records import FactChange, FactUpdate


def text(prompt: Prompt) -> str:
    return "\n".join([prompt.instructions, *(f"{item.role}: {item.text}" for item in prompt.items)])


def shared(one: str, other: str) -> int:
    pairs = zip(one, other, strict=False)
    return next((place for place, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))


def up_to(prompt: Prompt, kind: str) -> int:
    """Characters before the first item of the kind."""
    kinds = [item.kind for item in prompt.items]
    return len(text(replace(prompt, items=prompt.items[: kinds.index(kind)])))


def answered(*turns: str):
    talk = []
    for said in turns:
        talk.append(message(len(talk) + 1, said))
        talk.append(message(len(talk) + 1, f"about {said}", "assistant"))
    return talk[:-1]


FACTS = [
    fact("name", "Maya"),
    fact("city", "Lima", created_at=NOW - timedelta(days=9)),
    fact("mood", "tired"),
    fact("interest", "go", item=item_id("go"), created_at=NOW - timedelta(days=5)),
    fact("note", "has a dog", item=item_id("has a dog"), created_at=NOW - timedelta(days=3)),
]


def prompt(facts=FACTS, stored="She started a job.", window=None):
    return reply_prompt(profile(), facts, summary(text=stored), window or answered("one", "two"), NOW)


def test_consecutive_prompts_share_everything_up_to_the_new_messages():
    with ScriptedModel([f"reply {n}" for n in range(8)]) as model:
        made = World(model)
        made.facts.write(CONVERSATION, [FactUpdate(each.key, each.item, 0, each, None) for each in FACTS])
        for n in range(8):
            made.say(f"evt_{n}", f"message number {n}")
            made.run()
            made.wait(hours=30)
    for one, other in zip(model.replies_asked, model.replies_asked[1:], strict=False):
        assert shared(text(one), text(other)) >= up_to(one, "notes")
        assert other.items[: len(one.items) - 2] == one.items[:-2]


def test_a_burst_of_new_messages_moves_nothing_before_them():
    one, other = prompt(), prompt(window=[*answered("one", "two"), message(4, "three"), message(5, "four")])
    assert shared(text(one), text(other)) >= up_to(one, "notes")


@pytest.mark.parametrize(
    ("changed", "before"),
    [
        (replace(FACTS[1], value="Quito", created_at=NOW, updated_at=NOW, version=2), '- city: "'),
        (replace(FACTS[2], value="happy", created_at=NOW, updated_at=NOW, version=2), '- mood: "'),
    ],
)
def test_a_changed_fact_moves_only_what_follows_it(changed, before):
    facts = [changed if (each.key, each.item) == (changed.key, changed.item) else each for each in FACTS]
    one, other = text(prompt()), text(prompt(facts))
    assert shared(one, other) >= one.index(before) + len(before)
    tail = [line.split(" since")[0] for line in one[one.index(before) :].splitlines()[1:]]
    assert [line.split(" since")[0] for line in other[other.index(before) :].splitlines()[1:]] == tail


def test_a_fact_that_is_heard_again_moves_nothing():
    again = replace(FACTS[2], updated_at=NOW + timedelta(days=1), expires_at=NOW + timedelta(days=8), version=2)
    assert text(prompt([*FACTS[:2], again, *FACTS[3:]])) == text(prompt())


def test_a_new_value_of_a_list_comes_after_all_the_others():
    new = fact("interest", "chess", item=item_id("chess"), created_at=NOW, updated_at=NOW)
    one, other = prompt(), prompt([new, *FACTS])
    assert other.items[0].text.startswith(one.items[0].text)


def test_a_new_summary_moves_neither_instructions_nor_facts():
    one, other = prompt(), prompt(stored="She moved.")
    assert (one.instructions, one.items[0]) == (other.instructions, other.items[0])
    assert shared(text(one), text(other)) >= up_to(one, "summary")


def test_after_a_compaction_that_learned_nothing_the_facts_are_still_shared():
    with ScriptedModel() as model:
        made = World(model, compact_at=6, keep_messages=2)
        made.facts.write(CONVERSATION, [FactUpdate(each.key, each.item, 0, each, None) for each in FACTS])
        known = FactChange("set", "city", "lima", evidence_seq=1)
        model.will_compact(CompactionAnswer("They talked about Lima.", (known,)))
        for n in range(5):
            model.will_reply(f"reply {n}")
            made.say(f"evt_{n}", f"Lima, message {n}")
            made.run()
            made.compact()
    before, after = model.replies_asked[0], model.replies_asked[-1]
    assert "They talked about Lima." in text(after)
    assert shared(text(before), text(after)) >= len(text(replace(before, items=before.items[:1])))
