"""What the visitor's browser keeps: it comes back after a reload and after a restart of the server."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from model.loaded import LoadedModel
from tests.browser.test_layout import SHIFTS
from tests.conftest import unused_port
from tests.helpers.browsing import DESK, READY, SHORT, Tab, forget, load, page_of
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import WITH_TEXT, rest, say, to_write
from tests.helpers.waiting import eventually
from ui.runs.documents.document import first_words
from ui.runs.models import Models

pytestmark = BROWSER

KEPT = """() => new Promise((resolve, reject) => {
  const request = indexedDB.open('attend', 1);
  request.onerror = () => reject(request.error);
  request.onupgradeneeded = () => { request.transaction.abort(); resolve([]) };
  request.onsuccess = () => {
    const all = request.result.transaction('entries').objectStore('entries').getAll();
    all.onsuccess = () => { request.result.close(); resolve(all.result) };
  };
})"""


def kept(page: Page, *titles: str) -> None:
    """Wait until exactly these documents are kept."""
    eventually(lambda: sorted(entry["title"] for entry in page.evaluate(KEPT)) == sorted(titles))


def reload(page: Page) -> None:
    page.reload()
    page.locator(READY).wait_for()


def turns(page: Page) -> list[str]:
    return page.locator(".at-log > .at-turn .at-bubble").all_inner_texts()


def test_a_reload_comes_back_to_the_conversation_with_every_token(tab: Tab, url: str) -> None:
    page = tab.open()  # unwatched: Gradio complains of a page that is left while it waits for a reply
    page.set_viewport_size(DESK)
    forget(page, url)
    load(page, f"{url}?{SHORT}&seed=7")
    say(page, "Hello there")
    token = page.locator(f".at-log > .at-assistant {WITH_TEXT}").last
    token.click()
    headline = page.locator(".at-headline").inner_text()
    before, table = turns(page), page.locator(".at-table").inner_text()
    kept(page, "Hello there")
    reload(page)
    assert turns(page) == before  # as soon as the page is ready
    assert sum(page.evaluate(SHIFTS)) < 0.02
    token.click()
    expect(page.locator(".at-headline")).to_have_text(headline, use_inner_text=True)
    assert page.locator(".at-table").inner_text() == table
    expect(page.locator(".at-map canvas, .at-looked-at").first).to_be_visible()
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("img", name="Version 2 of 2")).to_be_visible()
    rest(page)
    page.locator("#attend-clear").click()
    expect(page.locator(".at-log > .at-turn")).to_have_count(0)
    reload(page)
    assert turns(page) == []
    forget(page, url)  # as a visitor clears the data of sites while the page is open: the browser closes the database
    say(page, "Once more")
    kept(page, "Once more")
    tab.leave()


def test_a_reload_comes_back_to_the_text_of_write(tab: Tab, url: str) -> None:
    page = tab.open()
    page.set_viewport_size(DESK)
    forget(page, url)
    load(page, f"{url}?{SHORT}&seed=7")
    to_write(page)
    page.locator("#attend-text textarea").fill("Once upon")
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-continue")).to_be_visible()
    tokens, text = page.locator(".at-strip .at-box"), page.locator("#attend-text textarea")
    expect(tokens.nth(5)).to_be_visible()
    before, written = tokens.all_inner_texts(), text.input_value()
    kept(page, first_words(written))
    reload(page)
    expect(text).to_have_value(written)
    expect(tokens).to_have_text(before)
    tokens.last.click()
    expect(page.locator(".at-table tbody tr").first).to_be_visible()
    page.locator("#attend-empty").click()
    expect(text).to_have_value("")
    reload(page)
    to_write(page)
    expect(text).to_have_value("")
    tab.leave()


def test_a_restart_of_the_server_changes_nothing(tab: Tab, tiny: LoadedModel) -> None:
    port, models, page = unused_port(), Models((tiny.name,), lambda name, _: tiny), tab.open()
    page.set_viewport_size(DESK)
    with page_of(models, port) as address:
        forget(page, address)
        load(page, f"{address}?max_new_tokens=8")
        say(page, "Hello there")
        before = turns(page)
        kept(page, "Hello there")
    with page_of(models, port) as address:
        load(page, f"{address}?max_new_tokens=8", drawn=".at-headline")
        assert turns(page) == before
        say(page, "And now?")
        assert turns(page)[:2] == before
        kept(page, "Hello there")
    tab.leave()
