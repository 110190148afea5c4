"""The page without a server in a real browser, served as any static host would serve it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

import attend
from tests.helpers.stage import BROWSER
from web import static

pytestmark = BROWSER

MESSAGE = "My name is Tom. What is my name?"


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("static")
    static.write(folder)
    return folder


@pytest.fixture
def host(folder: Path) -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as host:
        thread = threading.Thread(target=host.serve_forever)
        thread.start()
        yield host
        host.shutdown()
        thread.join()


@pytest.fixture
def page(browser: Browser, host: ThreadingHTTPServer) -> Iterator[Page]:
    """The page, ready; in the end, nothing had failed and no other host was asked."""
    faults: list[str] = []
    with browser.new_context(viewport={"width": 1280, "height": 900}) as context:
        page, own = context.new_page(), f"http://127.0.0.1:{host.server_port}/"
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text) if message.type == "error" else None)
        page.on(
            "request", lambda sent: None if sent.url.startswith((own, "data:", "blob:")) else faults.append(sent.url)
        )
        page.goto(own)
        expect(page.get_by_role("button", name="Send")).to_be_enabled(timeout=60_000)
        yield page
    assert faults == []


def say(page: Page, text: str, answers: int = 1) -> None:
    page.get_by_label("Message").fill(text)
    page.get_by_role("button", name="Send").click()
    expect(page.locator(".at-alone-written")).to_have_count(answers)
    expect(page.get_by_role("button", name="Send")).to_be_enabled(timeout=60_000)


def test_an_answer_is_that_of_python_and_every_token_can_be_looked_into(page: Page, rounded_chat: attend.Model) -> None:
    page.get_by_label("Decoding method").select_option("Greedy")
    say(page, MESSAGE)
    expected = rounded_chat.chat(MESSAGE, strategy="greedy", max_new_tokens=128)
    expect(page.locator(".at-alone-written")).to_have_text(expected.text)
    expect(page.locator(".at-box")).to_have_count(len(expected.document()["prompt"]["ids"]) + len(expected.tokens))
    page.locator(".at-box").last.click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token {len(expected.tokens)} of {len(expected.tokens)}")
    expect(page.locator(".at-table tbody tr")).to_have_count(11)
    expect(page.locator(".at-map canvas, canvas.at-canvas").first).to_be_visible()


def test_an_earlier_answer_comes_back_to_the_inspector(page: Page) -> None:
    page.get_by_label("Decoding method").select_option("Greedy")
    say(page, "Hello!")
    first = page.locator(".at-box").all_text_contents()
    say(page, MESSAGE, 2)
    assert page.locator(".at-box").count() > len(first)  # it knows the conversation
    page.locator(".at-alone-written").first.click()
    expect(page.locator(".at-box")).to_have_text(first)


def test_a_search_shows_its_tree(page: Page) -> None:
    page.get_by_label("Decoding method").select_option("Beam search")
    page.get_by_label("Longest answer").fill("8")
    say(page, "Hello!")
    expect(page.locator(".at-node").first).to_be_visible()


def test_a_wrong_setting_is_said_and_the_message_stays(page: Page) -> None:
    page.get_by_label("Longest answer").fill("100000")
    page.get_by_label("Message").fill("Hello!")
    page.get_by_role("button", name="Send").click()
    page.locator("form").evaluate("form => { form.noValidate = true; form.requestSubmit(); }")
    expect(page.get_by_role("status").first).to_contain_text("max_new_tokens is 100000, but must be")
    expect(page.get_by_label("Message")).to_have_value("Hello!")
    expect(page.locator(".at-alone-said")).to_have_count(0)


def test_it_opens_without_a_network_after_the_first_visit(page: Page, host: ThreadingHTTPServer) -> None:
    page.wait_for_function("navigator.serviceWorker.ready.then((ready) => ready.active?.state === 'activated')")
    page.reload()  # now by the service worker, which keeps nothing but what it has installed
    expect(page.get_by_role("button", name="Send")).to_be_enabled(timeout=60_000)
    page.context.set_offline(True)
    page.reload()
    expect(page.get_by_role("button", name="Send")).to_be_enabled(timeout=60_000)
    say(page, "Hello!")
