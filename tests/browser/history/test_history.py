"""What the visitor's browser keeps: it comes back after a reload and after a restart of the server."""

from __future__ import annotations

from playwright.sync_api import Page, Route, expect

from model.loaded import LoadedModel
from tests.browser.test_layout import SHIFTS
from tests.conftest import unused_port
from tests.helpers.browsing import DESK, SHORT, HeldPage, Tab, forget, load, page_of, wait_until_ready
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import WITH_TEXT, rest, say, send, set_number, to_chat, to_tab, to_write
from tests.helpers.waiting import eventually
from ui.compare.comparison_value import EXAMPLE
from ui.runs.documents.kept_document import first_words
from ui.runs.models import Models

pytestmark = BROWSER


def read_all(store: str, *fields: str) -> str:
    """A script that reads these fields of all entries of a store; whole runs would take tens of milliseconds."""
    return f"""() => new Promise((resolve, reject) => {{
      const request = indexedDB.open('attend', 1);
      request.onerror = () => reject(request.error);
      request.onupgradeneeded = () => {{ request.transaction.abort(); resolve([]) }};
      request.onsuccess = () => {{
        const all = request.result.transaction('{store}').objectStore('{store}').getAll();
        all.onsuccess = () => {{
          request.result.close();
          resolve(all.result.map(({{ {", ".join(fields)} }}) => ({{ {", ".join(fields)} }})));
        }};
      }};
    }})"""


KEPT = read_all("entries", "title", "name", "revision", "changed")
CONTENTS = read_all("documents", "content")

# Runs of more bytes than can be sent, in place of the shorter ones.
ENLARGE = """() => new Promise((resolve, reject) => {
  const request = indexedDB.open('attend', 1);
  request.onerror = () => reject(request.error);
  request.onsuccess = () => {
    const transaction = request.result.transaction('documents', 'readwrite');
    const documents = transaction.objectStore('documents');
    documents.getAll().onsuccess = ({ target }) => target.result.forEach((kept) => documents.put(
      { ...kept, runs: Object.fromEntries(Object.keys(kept.runs).map((name) => [name, 'A'.repeat(1_000_000)])) }));
    transaction.oncomplete = () => { request.result.close(); resolve() };
  };
})"""
FULL = "() => { IDBObjectStore.prototype.put = () => { throw new DOMException('', 'QuotaExceededError') } }"


def kept(page: Page, *titles: str) -> None:
    """Wait until exactly these documents are kept."""
    eventually(lambda: sorted(entry["title"] for entry in page.evaluate(KEPT)) == sorted(titles))


def newest_revision(page: Page) -> int:
    return max(entry["revision"] for entry in page.evaluate(KEPT))


def reload(page: Page) -> None:
    page.reload()
    wait_until_ready(page)


def turns(page: Page) -> list[str]:
    return page.locator(".at-log > .at-turn .at-bubble").all_inner_texts()


def wait_for_turns(page: Page, texts: list[str]) -> None:
    """Wait until these are the turns."""
    expect(page.locator(".at-log > .at-turn .at-bubble")).to_have_text(texts, use_inner_text=True)


def test_a_reload_comes_back_to_the_conversation_with_every_token(tab: Tab, url: str) -> None:
    page = tab.visit(url, f"?{SHORT}&seed=7")
    say(page, "Hello there")
    token = page.locator(f".at-log > .at-assistant {WITH_TEXT}").last
    token.click()
    number = int(token.get_attribute("data-index") or "") + 1
    expect(page.locator(".at-headline")).to_contain_text(f"Token {number} of {page.locator('.at-log .at-tok').count()}")
    headline = page.locator(".at-headline").inner_text()
    before, table = turns(page), page.locator(".at-table").inner_text()
    kept(page, "Hello there")
    reload(page)
    wait_for_turns(page, before)
    assert sum(page.evaluate(SHIFTS)) < 0.02
    token.click()
    expect(page.locator(".at-headline")).to_have_text(headline, use_inner_text=True)
    expect(page.locator(".at-table")).to_have_text(table, use_inner_text=True)
    expect(page.locator(".at-map canvas, .at-attended-token").first).to_be_visible()
    page.get_by_role("button", name="Retry").click()
    expect(page.get_by_role("img", name="Version 2 of 2")).to_be_visible()
    rest(page)
    page.locator("#attend-clear").click()
    expect(page.locator(".at-log > .at-turn")).to_have_count(0)
    reload(page)
    assert turns(page) == []  # what is kept has come back by now
    forget(page, url)  # as a visitor clears the data of sites while the page is open: the browser closes the database
    say(page, "Once more")
    kept(page, "Once more")
    page.evaluate(FULL)
    say(page, "Too much")
    expect(page.locator(".at-kept-notice")).to_contain_text(
        "storage is full"
    )  # said on the page, not in the closed list
    tab.leave()


def test_a_message_that_was_not_sent_survives_a_reload_and_nothing_else(tab: Tab, url: str) -> None:
    page = tab.visit(url, f"?{SHORT}")
    box = page.locator("#attend-message textarea")
    box.fill("Hello there")
    reload(page)
    expect(box).to_have_value("Hello there")
    page.route("**/panel.js", lambda _: None)  # without it, the page hears of no event
    page.reload()
    page.wait_for_function("document.body.hasAttribute('data-started')")
    page.unroute_all()
    reload(page)
    expect(box).to_have_value("Hello there")
    page.goto(f"{url}healthz")
    page.goto(f"{url}?{SHORT}")
    wait_until_ready(page)
    expect(box).to_have_value("")
    box.fill("Hello again")
    page.locator("#attend-history-button").click()
    page.get_by_label("Stop saving").check()
    page.keyboard.press("Escape")
    reload(page)
    expect(box).to_have_value("")
    tab.leave()


def test_a_reload_comes_back_to_the_text_of_write(tab: Tab, url: str) -> None:
    page = tab.visit(url, f"?{SHORT}&seed=7")
    to_write(page)
    page.locator("#attend-text textarea").fill("Once upon")
    page.locator("#attend-continue").click()
    tokens, text = page.locator(".at-strip .at-box"), page.locator("#attend-text textarea")
    expect(text).not_to_have_value("Once upon")
    rest(page)
    expect(tokens.nth(5)).to_be_visible()
    rest(page)
    expect(page.locator("#attend-continue")).to_be_visible()
    before, written = tokens.all_inner_texts(), text.input_value()
    kept(page, first_words(written))
    reload(page)
    expect(text).to_have_value(written)
    expect(tokens).to_have_text(before)
    tokens.last.click()
    expect(page.locator(".at-table tbody tr").first).to_be_visible()
    load(page, f"{url}?{SHORT}&tab=Write&prompt=Another+beginning")  # a link's prompt wins
    expect(text).to_have_value("Another beginning")
    kept(page, first_words(written), "Another beginning")
    page.locator("#attend-empty").click()
    expect(tokens).to_have_count(0)  # the box is emptied before the server knows
    expect(text).to_have_value("")
    reload(page)
    to_write(page)
    expect(text).to_have_value("")
    tab.leave()


def test_a_text_whose_tables_are_too_large_to_come_back_says_so(tab: Tab, url: str) -> None:
    page = tab.visit(url, f"?{SHORT}&seed=7&tab=Write")
    box, notice = page.locator("#attend-text textarea"), page.locator(".at-kept-notice")
    box.fill("Once upon")
    page.locator("#attend-continue").click()
    expect(box).not_to_have_value("Once upon")
    rest(page)
    written = box.input_value()
    as_in_a_box = str.maketrans("\r", "\n")
    eventually(
        lambda: [each["content"]["text"].translate(as_in_a_box) for each in page.evaluate(CONTENTS)] == [written]
    )
    address = page.url
    page.goto(f"{url}/healthz")  # which keeps nothing, so that the page doesn't write over what is enlarged
    page.evaluate(ENLARGE)
    page.goto(address)
    wait_until_ready(page)
    expect(box).to_have_value(written)
    expect(notice).to_contain_text("tables were not restored: with all of them it takes 1,001 kB")
    page.locator(".at-strip .at-box").last.click()  # explained anew, as if it had been typed
    expect(page.locator(".at-table tbody tr").first).to_be_visible()
    to_tab(page, "Chat")
    expect(notice).to_have_text("")
    to_write(page)
    expect(notice).to_contain_text("tables were not restored")
    page.locator("#attend-continue").click()
    expect(notice).to_have_text("")
    rest(page)
    tab.leave()


def test_translate_and_compare_come_back_after_a_restart_with_every_token(
    tab: Tab, tiny: LoadedModel, tiny_translator: LoadedModel
) -> None:
    by_name = {"attend-chat": tiny, "attend-translate": tiny_translator}
    models, port = Models(tuple(by_name), lambda name, _: by_name[name]), unused_port()
    with page_of(models, port) as address:
        page = tab.visit(address, f"?{SHORT}&seed=7")
        to_tab(page, "Compare")
        expect(page.locator(".at-card").first).to_be_visible()
        page.locator(".at-ask-text").fill("The old house")
        page.locator("#attend-compare-go").click()
        expect(page.locator(".at-compare-status")).to_contain_text("Done")
        cards, numbers = page.locator(".at-card .at-text"), page.locator(".at-card .at-metrics")
        compared = cards.all_text_contents(), numbers.all_text_contents()
        token = page.locator(".at-card").nth(1).locator(WITH_TEXT).nth(2)
        token.click()
        number = int(token.get_attribute("data-index") or "") + 1
        expect(page.locator(".at-headline")).to_contain_text(f"Token {number} of 12")  # and not the first card's last
        headline = page.locator(".at-headline").inner_text()
        kept(page, "The old house")
        to_tab(page, "Translate")
        expect(page.locator(".attend-model-coming")).to_have_attribute("data-current", "attend-translate")
        set_number(page, "max-new-tokens", 12)
        page.locator("#attend-given textarea").fill("Le chat est grand.")
        page.keyboard.press("Enter")
        answer = page.locator(".attend-translation > .at-translated")  # not the example's
        expect(answer).to_be_visible()
        expect(page.locator("#attend-translate-stop")).to_be_hidden()
        expect(page.locator(".at-kind canvas.at-canvas")).to_have_count(3)
        translated = answer.locator(".at-tok").all_text_contents()
        kept(page, "The old house", "Le chat est grand.")
    held: list[Route] = []
    released = False

    def hold_comparison(route: Route) -> None:
        data = route.request.post_data or ""
        if not released and '"attempt"' in data and '"kind":"compare"' in data:
            held.append(route)
        else:
            route.continue_()

    with page_of(Models(tuple(by_name), lambda name, _: by_name[name]), port):
        page.route("**/queue/join*", hold_comparison)
        reload(page)
        expect(page.locator("#attend-given textarea")).to_have_value("Le chat est grand.")
        expect(answer.locator(".at-tok.at-shown")).to_have_count(1)
        eventually(lambda: answer.locator(".at-tok").all_text_contents() == translated)
        expect(page.locator(".at-kind canvas.at-canvas")).to_have_count(3)
        answer.locator(WITH_TEXT).first.click()
        expect(page.locator(".at-table tbody tr").first).to_be_visible()
        eventually(lambda: bool(page.title() and held))  # asked while another tab is in sight
        to_tab(page, "Compare")
        expect(page.locator(".attend-meter-text")).to_contain_text(" 0 of ")  # the server knows of the tab
        expect(page.locator(".at-card")).to_have_count(4)  # the example's
        expect(page.locator(".at-card").first).to_be_hidden()  # while what was kept is on its way
        released = True
        for route in held:
            route.continue_()
        expect(cards).to_have_text(compared[0])
        expect(cards.first).to_be_visible()
        expect(numbers).to_have_text(compared[1])
        expect(page.locator(".at-card").first.locator(".at-tok.at-shown")).to_have_count(1)  # all of it has come
        expect(page.locator(".at-compare-status")).to_contain_text("Done")  # and nothing has changed since
        expect(page.locator(".at-ask-text")).to_have_value("The old house")
        token.click()
        expect(page.locator(".at-headline")).to_have_text(headline, use_inner_text=True)
        assert len(page.evaluate(KEPT)) == 2
        page.locator("#attend-history-button").click()
        page.get_by_role("button", name="Delete “The old house”").click()
        expect(page.locator(".at-card .at-tok")).to_have_count(0)
        expect(page.locator(".at-ask-text")).to_have_value(EXAMPLE)
        expect(page.locator(".at-outdated:visible")).to_have_count(0)
        expect(page.locator(".attend-inspector .at-empty")).to_be_visible()  # and no example
    tab.leave()


def test_two_tabs_that_show_one_conversation_do_not_overwrite_each_other(tab: Tab, url: str) -> None:
    first = tab.visit(url, f"?{SHORT}&seed=7")
    say(first, "Hello there")
    kept(first, "Hello there")
    state = first.evaluate("sessionStorage.getItem('attend-shown')")
    second = first.context.new_page()
    second.set_viewport_size(DESK)
    second.add_init_script(f"sessionStorage.setItem('attend-shown', {state!r})")  # as "Duplicate tab" does
    load(second, f"{url}?{SHORT}&seed=7", drawn=".at-headline")
    wait_for_turns(second, turns(first))
    say(second, "In the second tab")
    eventually(lambda: second.evaluate(KEPT)[0]["revision"] >= 2)
    first.bring_to_front()
    say(first, "In the first tab")
    kept(first, "Hello there", "Hello there")  # under a new name, since the other has written it
    first.locator("#attend-history-button").click()
    oldest = first.locator(".at-kept-open").last
    oldest.click()
    expect(first.get_by_role("dialog", name="History")).to_be_hidden()
    expect(first.locator(".at-log > .at-turn .at-bubble").nth(2)).to_contain_text("In the second tab")
    wait_for_turns(first, turns(second))
    before = newest_revision(first)
    say(first, "Both in one")
    eventually(lambda: newest_revision(first) > before)
    assert len(first.evaluate(KEPT)) == 2
    second.close()
    tab.leave()


def test_an_answer_that_still_grows_is_kept_when_the_page_is_left(tab: Tab, held: HeldPage) -> None:
    page = tab.visit(held.url, "?max_new_tokens=100&seed=7&min_new_tokens=100")
    to_chat(page)
    held.gate.let(10)
    send(page, "Hello there")
    kept(page, "Hello there")
    expect(page.locator(".at-caret")).to_be_visible()  # it goes on
    reload(page)
    expect(page.locator(".at-assistant .at-note").last).to_contain_text("stopped")
    page.locator(f".at-log > .at-assistant {WITH_TEXT}").first.click()
    expect(page.locator(".at-table tbody tr").first).to_be_visible()
    page.get_by_role("button", name="Continue", exact=True).click()
    expect(page.locator(".at-caret")).to_be_visible()
    tab.leave()
