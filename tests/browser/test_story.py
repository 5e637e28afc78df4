"""A person's story as the page shows it, from the first message to the erasure."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.browser.driving import (
    PATIENCE_MS,
    add_person,
    attempt,
    fact,
    open_tab,
    replies,
    say,
    wait_for_replies,
    write,
)
from tools.local.state import ROOT
from tools.local.talk import Talk

IMAGES = ROOT / "docs" / "img"
TOLD = (
    "Vivo en Sevilla y trabajo como enfermera.",
    "Hoy estoy cansada, pero me gusta la música cubana.",
    "Mi hermana se llama Laura.",
    "El martes tengo una entrevista de trabajo.",
    "Me he mudado a Cádiz.",
    "Me gusta correr por la mañana.",
)

expect.set_options(timeout=PATIENCE_MS)


def test_a_person_is_answered_remembered_greeted_and_forgotten(
    open_page: Callable[..., Page], talk: Talk, person: str
) -> None:
    page = open_page()
    add_person(page, person, "Maya")

    page.locator("#starters button").first.click()
    assert "Maya" in wait_for_replies(page, 1)[0]
    expect(page.locator("#talk .bubble.me .tick.sent")).to_have_count(1)
    assert fact(page, "name") == "Maya"

    for text in TOLD:
        say(page, text)
    expect(page.locator("#summary .summary-text")).to_be_visible()
    assert "Cádiz" in fact(page, "city")
    expect(page.locator("#history-box")).to_be_visible()

    attempt(page, "travel_21")
    expect(page.locator("#talk .note.travel")).to_be_visible()
    greeting = say(page, "¡Hola, he vuelto!")
    assert "Maya" in greeting
    told = {word.strip(".,") for text in TOLD for word in text.lower().split() if len(word) > 4}
    assert any(word in greeting.lower() for word in told), greeting
    _photographed(open_page, page, person)

    before = len(replies(page))
    attempt(page, "crash")
    expect(page.locator("#talk .note.crash")).to_be_visible()
    wait_for_replies(page, before + 1)
    expect(page.locator("#path li.done")).to_have_count(5)
    assert len(replies(page)) == before + 1
    assert len(talk.received(person)) == before + 1

    page.locator("#erase").click()
    page.locator("#dialog button[value=yes]").click()
    expect(page.locator("#talk .note.erased")).to_be_visible()
    for rows in (
        "#talk .bubble",
        "#facts .fact",
        "#summary .summary-text",
        "#messages .message",
        "#turns .turn",
    ):
        expect(page.locator(rows)).to_have_count(0)
    open_tab(page, "prompt")
    expect(page.locator("#prompt .part")).to_have_count(0)
    assert talk.remembered(person).empty
    assert talk.turn_states(person) == {}

    write(page, "¿Cómo me llamo?")
    assert "Maya" not in wait_for_replies(page, 1)[0]


def _photographed(open_page: Callable[..., Page], first: Page, person: str) -> None:
    """The pictures of the README: the same talk, light and dark."""
    IMAGES.mkdir(parents=True, exist_ok=True)
    for theme in ("light", "dark"):
        page = open_page(theme=theme, language="en-GB")
        page.evaluate("phone => localStorage.setItem('playground.person', phone)", person)
        page.reload()
        page.locator("#summary .summary-text").wait_for()
        page.locator("#plot svg").wait_for()
        page.evaluate("document.fonts.ready")
        page.wait_for_timeout(400)
        page.screenshot(path=IMAGES / f"playground-{theme}.png")
        page.context.close()
    first.bring_to_front()
