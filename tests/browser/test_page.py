"""The page itself: other things to try, keyboard, languages, accessibility, narrow screens, long talks."""

import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
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
from tools.local import http_json
from tools.local.clients import client
from tools.local.state import StackInfo
from tools.local.talk import Talk
from whatsapp_agent.memory.records import Message, Role
from whatsapp_agent.store.items import message_item
from whatsapp_agent.store.wire import to_wire

PHONE = (390, 844)
TABS = ("memory", "messages", "prompt", "turns", "queues")
expect.set_options(timeout=PATIENCE_MS)

MANY = 5_000
MOST_ROWS = 400
"""Rows of a list that may be in the page at the same time, however long the list is."""


def test_a_burst_gets_one_answer_and_a_repeated_event_too(open_page: Callable[..., Page], person: str) -> None:
    page = open_page()
    add_person(page, person, "Marco")
    attempt(page, "burst")
    expect(page.locator("#talk .bubble.me .tick.sent")).to_have_count(3)
    assert len(replies(page)) == 1
    attempt(page, "repeat")
    wait_for_replies(page, 2)
    expect(page.locator("#talk .bubble.me .tick.sent")).to_have_count(4)
    assert len(replies(page)) == 2


def test_what_gets_lost_comes_again_and_is_answered_once(open_page: Callable[..., Page], person: str) -> None:
    page = open_page()
    add_person(page, person, "Marco")
    attempt(page, "lose")
    wait_for_replies(page, 1)
    attempt(page, "lose_answer")
    wait_for_replies(page, 2)
    expect(page.locator("#talk .bubble.me .tick.sent")).to_have_count(2)
    assert len(replies(page)) == 2


def test_a_failing_model_is_asked_again_and_its_failures_are_shown(
    open_page: Callable[..., Page], person: str
) -> None:
    page = open_page()
    add_person(page, person, "Marco")
    attempt(page, "fail")
    wait_for_replies(page, 1)
    open_tab(page, "turns")
    expect(page.locator("#turns .turn .link.bad").first).to_be_visible()


def test_memory_comes_along_when_the_number_is_replaced_and_stop_is_heeded(
    open_page: Callable[..., Page], person: str
) -> None:
    page = open_page()
    add_person(page, person, "Maya")
    say(page, "Hola, me llamo Maya.")
    attempt(page, "number")
    expect(page.locator("#talk .note.number")).to_be_visible()
    assert "Maya" in say(page, "¿Cómo me llamo?")
    attempt(page, "stop")
    expect(page.locator("#person-state")).to_contain_text("no quiere mensajes")


@pytest.mark.parametrize(
    ("kind", "words"), [("voice", "Me llamo Maya"), ("image", ""), ("document", "mi cita")]
)
def test_media_are_sent_and_become_text(
    open_page: Callable[..., Page], person: str, kind: str, words: str
) -> None:
    page = open_page()
    add_person(page, person, "Maya")
    page.locator("#composer [popovertarget=attach]").click()
    page.locator(f"#attach [data-name={kind}]").click()
    page.locator("#medium-words").fill(words)
    page.locator("#dialog button[value=yes]").click()
    expect(page.locator(f"#talk .bubble.me .medium.{kind}")).to_be_visible()
    wait_for_replies(page, 1)
    open_tab(page, "messages")
    expect(page.locator("#messages .message.user .said")).to_contain_text(f"[{kind}]")


def test_a_location_is_sent(open_page: Callable[..., Page], person: str) -> None:
    page = open_page()
    add_person(page, person, "Maya")
    page.locator("#composer [popovertarget=attach]").click()
    page.locator("#attach [data-name=location]").click()
    wait_for_replies(page, 1)
    open_tab(page, "messages")
    expect(page.locator("#messages .message.user .said")).to_contain_text("Plaza de España")


def test_facts_can_be_written_changed_and_removed_and_everything_exported(
    open_page: Callable[..., Page], person: str
) -> None:
    page = open_page()
    add_person(page, person, "Maya")
    page.locator("#new-key").select_option("city")
    page.locator("#new-value").fill("Granada")
    page.locator("#new-fact button").click()
    assert fact(page, "city") == "Granada"
    page.locator("#facts .fact .actions button").first.click()
    page.locator("#edit-value").fill("Málaga")
    page.locator("#dialog button[value=yes]").click()
    expect(page.locator("#facts .fact .value")).to_have_text("Málaga")
    expect(page.locator("#history-box")).to_be_visible()
    with page.expect_download() as download:
        page.locator("#export").click()
    exported = json.loads(download.value.path().read_text(encoding="utf-8"))
    assert [one["value"] for one in exported["facts"]] == ["Málaga"]
    page.locator("#facts .fact .actions button").nth(1).click()
    expect(page.locator("#facts .fact")).to_have_count(0)


def test_what_the_model_saw_stands_in_its_parts(open_page: Callable[..., Page], person: str) -> None:
    page = open_page()
    add_person(page, person, "Maya")
    say(page, "Hola, me llamo Maya.")
    say(page, "Tengo un gato.")
    open_tab(page, "prompt")
    for kind in ("instructions", "facts", "message", "notes", "new"):
        expect(page.locator(f"#prompt .part.kind-{kind}").first).to_be_visible()
    assert "Tengo un gato." in page.locator("#prompt .part.kind-new pre").inner_text()
    expect(page.locator("#prompt .shared-mark").first).to_be_visible()


def test_everything_can_be_reached_with_the_keyboard(open_page: Callable[..., Page], person: str) -> None:
    page = open_page()
    add_person(page, person, "Maya")
    page.locator("#words").focus()
    page.keyboard.type("Hola")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("¿qué tal?")
    page.keyboard.press("Enter")
    wait_for_replies(page, 1)
    assert page.locator("#talk .bubble.me .text").inner_text() == "Hola\n¿qué tal?"
    page.locator("#try-button").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#try")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.evaluate("document.activeElement.dataset.name") == "repeat"
    page.keyboard.press("Escape")
    expect(page.locator("#try")).to_be_hidden()
    page.locator("#tab-memory").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#tab-messages")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.locator("#panel-queues")).to_be_visible()


@pytest.mark.parametrize(
    ("language", "tab", "write_here"),
    [
        ("en-GB", "Memory", "Write a message"),
        ("es-ES", "Memoria", "Escribe un mensaje"),
        ("it-IT", "Memoria", "Scrivi un messaggio"),
    ],
)
def test_the_page_speaks_the_readers_language(
    open_page: Callable[..., Page], language: str, tab: str, write_here: str
) -> None:
    page = open_page(language=language)
    assert page.locator("#tab-memory").inner_text() == tab
    assert page.locator("#words").get_attribute("placeholder") == write_here
    assert page.locator("html").get_attribute("lang") == language[:2]


def test_every_word_is_there_in_every_language(open_page: Callable[..., Page]) -> None:
    page = open_page()
    words: dict[str, list[str]] = page.evaluate(
        """async () => Object.fromEntries(await Promise.all(["en", "es", "it"].map(async (code) =>
             [code, Object.keys((await import(`/js/words/${code}.js`))[code]).sort()])))"""
    )
    assert words["en"] == words["es"] == words["it"]


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "http://evil.example", "Host": "evil.example"}, 400),
    ],
)
def test_orders_from_elsewhere_are_refused(stack: StackInfo, headers: dict[str, str], status: int) -> None:
    body = json.dumps({"phone": "+34600111222"}).encode()
    url = f"{stack.playground_url}api/do/erase"
    assert http_json.send("POST", url, body, {"Content-Type": "application/json", **headers})[0] == status


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [(1280, 800), PHONE], ids=["desktop", "phone"])
def test_axe_finds_no_serious_fault(
    open_page: Callable[..., Page], talked: str, theme: str, size: tuple[int, int]
) -> None:
    page = open_page(theme=theme, size=size)
    page.evaluate("phone => localStorage.setItem('playground.person', phone)", talked)
    page.reload()
    page.locator("#talk .bubble.agent").first.wait_for()
    faults = _faults(page)
    for tab in TABS:
        open_tab(page, tab)
        faults += _faults(page)
    if size != PHONE:
        page.locator("#try-button").click()
        faults += _faults(page)
        page.keyboard.press("Escape")
    page.locator("#add-person").click()
    faults += _faults(page)
    assert faults == []


def test_a_phones_width_needs_no_sideways_scrolling(open_page: Callable[..., Page], talked: str) -> None:
    page = open_page(size=PHONE)
    page.evaluate("phone => localStorage.setItem('playground.person', phone)", talked)
    page.reload()
    page.locator("#talk .bubble.agent").first.wait_for()
    for tab in ("phone", *TABS):
        open_tab(page, tab)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        panels = page.evaluate(
            "[...document.querySelectorAll('[role=tabpanel]:not([hidden]), #talk')]"
            ".every((panel) => panel.scrollWidth <= panel.clientWidth)"
        )
        assert (wide, panels) == (0, True), tab


def test_five_thousand_messages_keep_the_page_small(
    open_page: Callable[..., Page], talk: Talk, person: str
) -> None:
    _seed(talk, person)
    page = open_page()
    add_person(page, person, "Maya")
    rows = page.locator("#talk .row .bubble")
    rows.last.wait_for()
    expect(page.locator("#talk .bubble", has_text=f"Mensaje {MANY} ")).to_be_visible()
    assert rows.count() < MOST_ROWS

    page.evaluate("document.querySelector('#talk').scrollTop = 0")
    expect(page.locator("#talk .bubble", has_text=re.compile(r"^Mensaje 1 "))).to_be_visible()
    assert rows.count() < MOST_ROWS
    height = page.evaluate("document.querySelector('#talk').scrollHeight")
    for place in range(0, height, height // 40):
        page.evaluate("place => { document.querySelector('#talk').scrollTop = place }", place)
        page.wait_for_timeout(30)
        assert rows.count() < MOST_ROWS
    page.locator("#to-end").click()

    page.evaluate(
        """() => { window.added = 0; new MutationObserver((changes) => {
             for (const change of changes) window.added += change.addedNodes.length;
           }).observe(document.querySelector("#talk"), { childList: true, subtree: true }); }"""
    )
    write(page, "¿Sigues ahí?")
    page.locator("#talk .bubble.me", has_text="¿Sigues ahí?").wait_for()
    expect(page.locator("#talk .bubble", has_text="¿Sigues ahí?")).to_be_visible()
    # Nothing is drawn again that has not changed.
    assert page.evaluate("window.added") < MOST_ROWS
    open_tab(page, "messages")
    assert page.locator("#messages .message").count() < MOST_ROWS


@pytest.fixture(scope="session")
def talked(talk: Talk) -> str:
    """Somebody who has talked a little."""
    person = "+34699000111"
    for text in ("Hola, me llamo Vera.", "Vivo en Lugo y hoy estoy cansada."):
        (delivery,) = talk.write(person, text)
        assert talk.wait_until_answered(person, [delivery["event_id"]])
    return person


def _faults(page: Page) -> list[str]:
    page.wait_for_timeout(350)  # until what has just appeared has its final colours
    found: list[dict[str, Any]] = Axe().run(page).response["violations"]
    return [
        f"{one['id']}: {node['html'][:160]} {node['any'][:1] and node['any'][0]['message']}"
        for one in found
        if one["impact"] in ("serious", "critical")
        for node in one["nodes"]
    ]


def _seed(talk: Talk, person: str) -> None:
    """Puts a long talk into the table of messages, as the product writes them."""
    conversation = talk.conversation(person)
    start = datetime.now(UTC) - timedelta(days=100)
    table = talk.info.outputs["MessagesTable"]
    dynamodb = client("dynamodb", talk.info.endpoint)
    requests = []
    for seq in range(1, MANY + 1):
        at = start + timedelta(minutes=20 * seq)
        text = f"Mensaje {seq} " + "de una charla larga. " * (seq % 9)
        role: Role = "user" if seq % 2 else "assistant"
        message = Message(conversation, seq, role, text, "text", at, at, f"evt_seed_{seq}")
        requests.append({"PutRequest": {"Item": to_wire(message_item(message, None))}})
    for first in range(0, MANY, 25):
        dynamodb.batch_write_item(RequestItems={table: requests[first : first + 25]})
