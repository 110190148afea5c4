"""What reaches the page over a bad connection."""

from __future__ import annotations

from playwright.sync_api import Browser, Route, expect

from tests.helpers.browsing import DESK, READY, load
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import to_write

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


def test_what_is_typed_while_the_stream_of_replies_ends_is_not_lost(browser: Browser, url: str) -> None:
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    page = context.new_page()
    page.add_init_script(SLOW_ENDS)
    load(page, url)
    to_write(page)
    page.wait_for_function("window.ending")
    page.locator("#attend-text textarea").fill("The dog and the fox")
    expect(page.locator(".at-box").first).to_be_visible()
    context.close()


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
