"""What one person may use within an hour."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.builders import NOW
from whatsapp_agent.memory.allowance import BURST, WINDOW, Limits, Spent, heard, replied, within

LIMITS = Limits(turns=2, characters=10, media=1, burst=3)


NOTHING = Spent()


def hear(spent: Spent = NOTHING, limits: Limits = LIMITS, **changes: int) -> Spent:
    return heard(spent, limits, NOW, sent_at=NOW, **{"characters": 1, "media": 0, **changes})


@pytest.mark.parametrize(
    ("spent", "changes", "over"),
    [
        (Spent(), {}, ""),
        (Spent(NOW, turns=1), {}, ""),
        (Spent(NOW, turns=2), {}, "turns"),
        (Spent(NOW, characters=9), {}, ""),
        (Spent(NOW, characters=10), {}, "characters"),
        (Spent(NOW, media=1), {}, ""),
        (Spent(NOW, media=1), {"media": 1}, "media"),
        (Spent(minute=NOW, replies=2), {}, ""),
        (Spent(minute=NOW, replies=3), {}, "burst"),
        (Spent(minute=NOW - BURST, replies=3), {}, ""),
        (Spent(minute=NOW + BURST, replies=3), {}, "burst"),
        (Spent(NOW - WINDOW, turns=2, characters=10, media=1), {"media": 1}, ""),
    ],
)
def test_each_limit_is_reached_and_passes_with_the_hour(
    spent: Spent, changes: dict[str, int], over: str
) -> None:
    assert hear(spent, **changes).over == over


def test_zero_sets_no_limit() -> None:
    spent = Spent(NOW, turns=9_999, characters=10**9, media=9_999, minute=NOW, replies=99)
    assert hear(spent, Limits(0, 0, 0, 0)).over == ""


def test_a_window_that_begins_in_the_future_is_begun_anew() -> None:
    assert within(Spent(NOW + timedelta(minutes=1), turns=9), NOW) == Spent(NOW)


def test_the_notice_is_remembered_through_the_window_and_the_mark_is_the_messages_own() -> None:
    over = hear(Spent(NOW, turns=2))
    assert (over.over, over.noticed) == ("turns", True)
    after = replied(over, NOW)
    assert (after.turns, after.over, after.noticed) == (3, "", True)
    assert within(after, NOW + WINDOW) == Spent(NOW + WINDOW, minute=NOW, replies=1)


@given(st.lists(st.tuples(st.integers(0, 60_000), st.integers(0, 1), st.integers(0, 4000)), max_size=80))
def test_whoever_writes_however_much_is_never_over_for_longer_than_an_hour(
    steps: list[tuple[int, int, int]],
) -> None:
    spent, now, over_since = Spent(), NOW, None
    for characters, media, pause in steps:
        now += timedelta(seconds=pause)
        spent = heard(spent, Limits(), now, characters=characters, media=media, sent_at=now)
        if not spent.over:
            spent, over_since = replied(spent, now), None
        else:
            over_since = over_since or now
            assert now - over_since < WINDOW
