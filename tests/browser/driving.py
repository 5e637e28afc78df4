"""What a person does on the page."""

from playwright.sync_api import Page

PATIENCE_MS = 120_000


def add_person(page: Page, phone: str, name: str) -> None:
    """Adds somebody and switches to them."""
    page.locator("#add-person").click()
    page.locator("#add-number").fill(phone)
    page.locator("#add-name").fill(name)
    page.locator("#dialog button[value=yes]").click()
    page.locator(f'#mind[data-phone="{phone}"]').wait_for()


def write(page: Page, text: str) -> None:
    """Sends a message with the keyboard."""
    page.locator("#words").fill(text)
    page.locator("#words").press("Enter")


def replies(page: Page) -> list[str]:
    """What the agent has said, as the phone shows it."""
    return page.locator("#talk .bubble.agent .text").all_inner_texts()


def wait_for_replies(page: Page, count: int) -> list[str]:
    """The replies, once there are so many."""
    enough = "count => document.querySelectorAll('#talk .bubble.agent').length >= count"
    page.wait_for_function(enough, arg=count)
    return replies(page)


def say(page: Page, text: str) -> str:
    """Writes, and returns the reply."""
    before = len(replies(page))
    write(page, text)
    return wait_for_replies(page, before + 1)[-1]


def attempt(page: Page, name: str) -> None:
    """Chooses one of the things to try."""
    page.locator("#try-button").click()
    page.locator(f"#try [data-name={name}]").click()


def open_tab(page: Page, name: str) -> None:
    """Switches to a tab."""
    page.locator(f"#tab-{name}").click()


def fact(page: Page, key: str) -> str:
    """The value of a fact, once it is shown."""
    row = page.locator("#facts .fact", has=page.locator(".key", has_text=key)).first
    row.wait_for()
    return row.locator(".value").inner_text()
