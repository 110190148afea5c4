"""The page without a server in a browser: its files, a visit, and what tests do on it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler
from typing import Any

from playwright.sync_api import Browser, Locator, Page, expect

MESSAGE = "My name is Tom. What is my name?"
SENTENCE = "Je ne sais pas où est la gare."
SHORT: dict[str, Any] = {"max_new_tokens": 24, "seed": 3}
COURSE = ("start", "tokens", "vocabulary", "map")  # the whole of it takes long to record
ADDRESS = "?" + "&".join(f"{name}={value}" for name, value in SHORT.items())


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


@contextmanager
def visit(browser: Browser, own: str, **options: Any) -> Iterator[Page]:
    """The page, ready; in the end, nothing had failed and no other host was asked."""
    faults: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce", **options) as context:
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on(
            "request", lambda sent: None if sent.url.startswith((own, "data:", "blob:")) else faults.append(sent.url)
        )
        page.goto(own + ADDRESS)
        wait_until_ready(page)
        yield page
    assert faults == []


def wait_until_ready(page: Page) -> None:
    expect(page.get_by_text("attend-chat is ready.").first).to_be_attached(timeout=60_000)


def open_tab(page: Page, name: str) -> Locator:
    page.get_by_role("tab", name=name).click()
    return page.get_by_role("tabpanel", name=name)


def choose(page: Page, method: str) -> None:
    page.locator("#attend-method label", has_text=method).first.click()


def send(panel: Locator, box: str, text: str, button: str) -> None:
    """Send a text and wait for the end of what it starts."""
    panel.get_by_role("textbox", name=box, exact=True).fill(text)
    panel.get_by_role("button", name=button, exact=True).click()
    expect(panel.get_by_role("button", name="Stop")).to_be_hidden(timeout=60_000)


def say(page: Page, text: str, answers: int = 1) -> None:
    panel = open_tab(page, "Chat")
    send(panel, "Message", text, "Send")
    expect(panel.locator(".at-log > .at-assistant")).to_have_count(answers)
