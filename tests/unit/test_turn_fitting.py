"""A budget in tokens: estimated, and counted where the estimate is close to it."""

import pytest

from tests.builders import message
from tests.fakes.model import ScriptedModel
from tests.fakes.telemetry import RecordingTelemetry
from tests.fakes.world import World
from whatsapp_agent.errors import ContextTooLong, ModelRefused, ModelUnavailable
from whatsapp_agent.memory.records import Usage
from whatsapp_agent.turns.fitting import MOST_COUNTS, ContextLimits, Fitter


def talk(turns: int, chars: int = 400, chars_per_token: float = 0.0):
    """Turns of that many characters; with a ratio, replies tell the tokens that they took."""
    told = {}
    if chars_per_token:
        told = {"prompt_chars": 1000, "usage": Usage(int(1000 / chars_per_token))}
    messages = []
    for n in range(turns):
        messages += [
            message(2 * n + 1, "q" * (chars // 2)),
            message(2 * n + 2, "a" * (chars // 2), "assistant", **told),
        ]
    return [*messages, message(2 * turns + 1, "and now?")]


def fit(messages, tokens, count=None):
    model = ScriptedModel()
    model.counts = count
    telemetry = RecordingTelemetry()
    window = Fitter(model, telemetry).fit(messages, ContextLimits(12_000, 500, tokens))
    return window, model.counted, telemetry


def chars(window) -> int:
    return sum(len(each.text) for each in window)


def test_characters_are_never_counted_as_tokens():
    window, counted, _ = fit(talk(20), tokens=0)
    assert len(window) == 41
    assert counted == []


def test_far_from_the_limit_nothing_is_asked():
    window, counted, _ = fit(talk(10, chars_per_token=4), tokens=2000)
    assert len(window) == 21
    assert counted == []


def test_near_the_limit_the_service_counts_the_messages_alone():
    window, counted, _ = fit(talk(20, chars_per_token=4), tokens=2100, count=lambda prompt: 2050)
    [asked] = counted
    assert len(window) == 41
    assert asked.instructions == ""
    assert [item.text for item in asked.items] == [each.text for each in window]


def test_what_does_not_fit_is_shrunk_until_it_does():
    window, counted, _ = fit(talk(20, chars_per_token=4), tokens=2000, count=lambda prompt: prompt.chars // 3)
    assert chars(window) // 3 <= 2000
    assert chars(window) // 3 > 1600
    assert window[-1].text == "and now?"
    assert len(counted) <= MOST_COUNTS


def test_a_talk_without_calibration_is_counted_where_it_could_be_one_token_a_character():
    arabic = [message(1, "كلمة " * 300)]
    window, counted, _ = fit(arabic, tokens=1000, count=lambda prompt: prompt.chars)
    assert len(counted) >= 1
    assert chars(window) <= 1000


def test_counting_is_bounded_and_the_newest_message_always_goes_in():
    window, counted, _ = fit(talk(20, chars_per_token=4), tokens=260, count=lambda prompt: 10_000)
    assert 1 <= len(counted) <= MOST_COUNTS
    assert window
    assert window[-1].seq == 41


@pytest.mark.parametrize(
    "error", [ModelUnavailable("slow"), ModelRefused("no such path", code="model_not_found")]
)
def test_a_service_that_cannot_count_leaves_a_margin(error):
    def fails(prompt):
        raise error

    window, counted, telemetry = fit(talk(20, chars_per_token=4), tokens=2000, count=fails)
    assert len(counted) == 1
    assert chars(window) <= 0.9 * 8000
    assert telemetry.counts["TokenCountFailed"] == 1


def test_a_whole_turn_keeps_within_the_tokens():
    with ScriptedModel(["Hi"]) as model:
        model.counts = lambda prompt: prompt.chars // 2
        made = World(model, limits=ContextLimits(12_000, 60, 300))
        made.say("evt_1", "word " * 500)
        made.run()
    new = [item for item in model.replies_asked[0].items if item.kind == "new"]
    assert sum(len(item.text) for item in new) // 2 <= 300


def test_a_prompt_that_is_too_long_all_the_same_is_asked_again_with_half():
    with ScriptedModel([ContextTooLong("long"), "Hi"]) as model:
        model.counts = lambda prompt: prompt.chars // 4
        made = World(model, limits=ContextLimits(12_000, 60, 300))
        made.say("evt_1", "word " * 500)
        made.run()
    first, second = (prompt.items[-1].text for prompt in model.replies_asked)
    assert len(second) < 0.6 * len(first)
