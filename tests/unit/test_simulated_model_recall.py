"""The simulated model reads what was looked up for a message, and answers from it."""

from tests.builders import profile
from tools.local.simulated_model.respond import reply
from tools.local.simulated_model.view import View, read
from whatsapp_agent.memory.passages import Passage, Recalled
from whatsapp_agent.memory.recall_block import recall_item
from whatsapp_agent.memory.rules import reply_rules


def test_a_question_is_answered_from_what_was_looked_up_for_it_and_names_where_that_is_from() -> None:
    passages = (("prices.pdf › p. 2", "The blue lamp costs 42 euros."), ("manual.md", "Wipe the shade."))
    view = View("en", new=("How much is the blue lamp?",), passages=passages)

    assert "42 euros. (prices.pdf › p. 2)" in reply(view)
    assert "42" not in reply(View("en", new=("How much is the blue lamp?",)))


def test_looked_up_passages_are_read_and_not_taken_for_words_of_the_person() -> None:
    said = recall_item(profile(), Recalled([Passage("sales", 0, "It costs 42.", source="prices.pdf")]))
    assert said is not None

    view = read({"instructions": reply_rules(profile()), "input": [{"role": "user", "content": said.text}]})

    assert view.passages == (("prices.pdf", "It costs 42."),)
    assert view.new == ()
