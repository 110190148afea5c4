"""What reaches the page over a bad connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserContext, Page, Route, expect

from model import catalog
from tests.browser.history.test_history import turns, wait_for_turns
from tests.conftest import make_checkpoint, unused_port
from tests.helpers.browsing import DESK, READY, forget, load, wait_until_ready
from tests.helpers.served import models_of, served
from tests.helpers.stage import BROWSER, context_of
from tests.helpers.visitor import rest, send, set_number, to_write
from tests.helpers.waiting import Gate
from ui.page.layout import build
from ui.tour import SEEN

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


def test_what_is_typed_while_the_stream_of_replies_ends_is_not_lost(second_visitor: BrowserContext, url: str) -> None:
    page = second_visitor.new_page()
    forget(page, url)
    page.add_init_script(SLOW_ENDS)
    load(page, url)
    to_write(page)
    page.wait_for_function("window.ending")
    page.locator("#attend-text textarea").fill("The dog and the fox")
    expect(page.locator(".at-box").first).to_be_visible()
    page.close()


def test_no_event_is_sent_before_the_page_watches_the_streams(browser: Browser, url: str) -> None:
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    page, requests, held = context.new_page(), list[str](), list[Route]()
    page.on("request", lambda request: requests.append(request.url))
    page.route("**/page.js", lambda route: held.append(route))
    with page.expect_request("**/page.js"):
        page.goto(url)
    expect(page.locator("#attend-form input").first).to_be_attached()  # its script has loaded and sends events
    page.wait_for_timeout(1000)
    assert held and not [address for address in requests if "/queue/" in address]
    held[0].continue_()
    page.wait_for_selector(READY)
    assert [address for address in requests if "/queue/" in address]
    context.close()


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


def test_an_answer_a_message_and_a_text_outlive_the_server(browser: Browser, tmp_path: Path) -> None:
    loaded, port = catalog.load(str(make_checkpoint(tmp_path / "tiny", context_length=512))), unused_port()

    @contextmanager
    def started() -> Iterator[str]:
        """Another server at the same address, which writes no more than eight tokens and ends as if it were killed."""
        blocks: Any = build(models_of(loaded, wrap=Gate(free=8)))
        with served(blocks, port) as url:
            yield f"{url}/"
            blocks.server.should_exit = blocks.server.force_exit = True  # nobody is waited for
            for connection in [*blocks.server.server_state.connections]:
                connection.loop.call_soon_threadsafe(connection.abort)  # in the middle of what it sends

    with context_of(browser) as context:
        context.add_init_script(SEEN)
        with started() as url:
            page = load(context.new_page(), f"{url}?seed=7&min_new_tokens=300&max_new_tokens=300")
            box, answer = page.locator("#attend-message textarea"), page.locator(".at-assistant")
            send(page, "Hello")
            expect(answer.locator(".at-tok").nth(3)).to_be_attached()
        assert_lost(page)
        expect(answer.locator(".at-note")).to_be_visible()
        before = turns(page)
        send(page, "Are you there?")  # into the void
        expect(box).to_have_value("Are you there?")
        with started():
            assert_back(page)
            wait_for_turns(page, before)
            expect(box).to_have_value("Are you there?")
            set_number(page, "min-new-tokens", 2)
            set_number(page, "max-new-tokens", 2)
            box.press("Enter")
            expect(answer).to_have_count(2)
            rest(page)

            set_number(page, "max-new-tokens", 300)
            set_number(page, "min-new-tokens", 300)
            to_write(page)
            text = page.locator("#attend-text textarea")
            text.fill("The fox")
            page.locator("#attend-continue").click()
            expect(page.locator(".at-box.at-generated").nth(3)).to_be_attached()
        assert_lost(page)
        written = text.input_value()
        assert written.startswith("The fox") and len(written) > len("The fox")
        with started():
            assert_back(page)
            expect(text).to_have_value(written)
