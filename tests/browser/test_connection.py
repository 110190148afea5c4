"""What reaches the page over a bad connection."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from model.loaded import LoadedModel
from tests.browser.history.test_history import turns, wait_for_turns
from tests.conftest import unused_port
from tests.helpers.browsing import DESK, READY, Tab, forget, load, serving, wait_until_ready
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, send, set_number, to_write
from tests.helpers.waiting import Gate

pytestmark = BROWSER

# The client notices a second late that the stream of replies has ended; events sent meanwhile rely on it.
SLOW_ENDS = """
const ask = window.fetch;
window.fetch = async (...given) => {
  const response = await ask(...given);
  const url = given[0] instanceof Request ? given[0].url : String(given[0]);
  if (!url.includes('/queue/data')) return response;
  const decoder = new TextDecoder();
  const late = new TransformStream({
    async transform(chunk, controller) {
      if (decoder.decode(chunk).includes('close_stream')) {
        window.ending = true;
        await new Promise((go) => setTimeout(go, 1000));
        window.ending = false;
      }
      controller.enqueue(chunk);
    },
  });
  return new Response(response.body.pipeThrough(late), response);
};
"""


def test_what_is_typed_while_the_stream_of_replies_ends_is_not_lost(returning: BrowserContext, url: str) -> None:
    page = returning.new_page()
    page.set_viewport_size(DESK)
    forget(page, url)
    page.add_init_script(SLOW_ENDS)
    load(page, url)
    to_write(page)
    page.wait_for_function("window.ending")
    page.locator("#attend-text textarea").fill("The dog and the fox")
    expect(page.locator(".at-box").first).to_be_visible()
    page.close()


def test_no_event_is_sent_before_the_page_watches_the_streams(returning: BrowserContext, url: str) -> None:
    page, requests, held = returning.new_page(), list[str](), list[Route]()
    forget(page, url)
    page.on("request", lambda request: requests.append(request.url))
    page.route("**/page.js", lambda route: held.append(route))
    with page.expect_request("**/page.js"):
        page.goto(url)
    expect(page.locator("#attend-form input").first).to_be_attached()  # its script has loaded and sends events
    page.wait_for_timeout(500)
    assert held and not [address for address in requests if "/queue/" in address]
    held[0].continue_()
    page.wait_for_selector(READY)
    assert [address for address in requests if "/queue/" in address]
    page.close()


@contextmanager
def relayed(port: int, to: int) -> Iterator[None]:
    """What arrives at one port goes on to another, until all connections end at once, as if their server was killed."""
    sockets = [socket.create_server(("127.0.0.1", port))]

    def pass_on(source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)

    def accept() -> None:
        with suppress(OSError):
            while True:
                pair = sockets[0].accept()[0], socket.create_connection(("127.0.0.1", to))
                sockets.extend(pair)
                for ends in (pair, pair[::-1]):
                    threading.Thread(target=pass_on, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield
    for each in sockets:
        with suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
        each.close()


@dataclass(slots=True)
class MortalPage:
    """A page of one model that writes no more than eight tokens; the next one under its address knows nothing of it.

    This process serves it: another Python would take seconds to start.
    """

    model: LoadedModel
    port: int = field(default_factory=unused_port)
    _life: ExitStack = field(default_factory=ExitStack)

    def start(self) -> None:
        gate = Gate(free=8)
        page = self._life.enter_context(serving(self.model, gate=gate))
        self._life.callback(gate.open)
        self._life.enter_context(relayed(self.port, urlsplit(page).port or 0))

    def kill(self) -> None:
        self._life.close()


@pytest.fixture
def mortal(tiny: LoadedModel) -> Iterator[MortalPage]:
    page = MortalPage(tiny)
    page.start()
    yield page
    page.kill()


def assert_lost(page: Page) -> None:
    """A line says that the server is away, which a click or a key doesn't take away, and nothing seems to go on."""
    line = page.locator(".at-offline")
    expect(line).to_be_visible()
    line.click(position={"x": 4, "y": 4}, trial=True)  # over the open settings, too
    page.locator(".attend-header").dispatch_event("click")
    page.keyboard.press("Enter")
    expect(line).to_be_visible()
    for stop in page.locator("#attend-stop, #attend-halt").all():
        expect(stop).to_be_hidden()
    expect(page.locator(".at-caret")).to_have_count(0)


def assert_back(page: Page) -> None:
    expect(page.locator(".at-offline")).to_have_count(0)
    wait_until_ready(page)


def test_an_answer_a_message_and_a_text_outlive_the_server(tab: Tab, mortal: MortalPage) -> None:
    page = tab.visit(f"http://127.0.0.1:{mortal.port}/", "?seed=7&min_new_tokens=60&max_new_tokens=60")
    box, answer = page.locator("#attend-message textarea"), page.locator(".at-assistant")
    send(page, "Hello")
    expect(answer.locator(".at-tok").nth(3)).to_be_attached()
    mortal.kill()
    assert_lost(page)
    expect(answer.locator(".at-note")).to_be_visible()
    before = turns(page)
    send(page, "Are you there?")  # into the void
    expect(box).to_have_value("Are you there?")
    mortal.start()
    assert_back(page)
    wait_for_turns(page, before)
    expect(box).to_have_value("Are you there?")
    set_number(page, "min-new-tokens", 2)
    set_number(page, "max-new-tokens", 2)
    box.press("Enter")
    expect(answer).to_have_count(2)
    rest(page)

    set_number(page, "max-new-tokens", 60)
    set_number(page, "min-new-tokens", 60)
    to_write(page)
    text = page.locator("#attend-text textarea")
    text.fill("The fox")
    page.locator("#attend-continue").click()
    expect(page.locator(".at-box.at-generated").nth(3)).to_be_attached()
    mortal.kill()
    assert_lost(page)
    written = text.input_value()
    assert written.startswith("The fox") and len(written) > len("The fox")
    mortal.start()
    assert_back(page)
    expect(text).to_have_value(written)
    tab.leave()
