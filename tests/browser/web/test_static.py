"""The page without a server in a real browser, served as any static host would serve it."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

import attend
from model.loaded import LoadedModel
from tests.browser.page import axe
from tests.helpers.browsing import DESK, load
from tests.helpers.browsing import SHORT as SHORT_LENGTH
from tests.helpers.served import models_of, served
from tests.helpers.stage import BROWSER
from ui.page.layout import build
from ui.tour import SEEN
from web import static
from web.served import _written, routes

pytestmark = BROWSER

MESSAGE = "My name is Tom. What is my name?"
SENTENCE = "Je ne sais pas où est la gare."
SHORT: dict[str, Any] = {"max_new_tokens": 24, "seed": 3}
COURSE = ("start", "tokens", "vocabulary", "map")  # the whole of it takes long to record
ADDRESS = "?" + "&".join(f"{name}={value}" for name, value in SHORT.items())


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Nothing is printed."""


KEPT = """async names => {
  const opened = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const kept = (await Promise.all(opened.map((cache) => cache.keys()))).flat().map(({ url }) => url);
  return names.every((name) => kept.some((url) => url.includes(name)));
}"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's files."""
    folder = tmp_path_factory.mktemp("static")
    static.write(folder, course=COURSE)
    return folder


@pytest.fixture(scope="module")
def own(folder: Path) -> Iterator[str]:
    """The page's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as host:
        thread = threading.Thread(target=host.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{host.server_port}/"
        host.shutdown()
        thread.join()


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


@pytest.fixture(scope="module")
def shared(browser: Browser, own: str) -> Iterator[Page]:
    with visit(browser, own) as page:
        yield page


@pytest.fixture
def page(shared: Page, own: str) -> Page:
    """A page that several tests use one after the other, in Chat."""
    open_tab(shared, "Chat")
    choose(shared, "Greedy")
    return shared


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


def test_an_answer_is_that_of_python_and_every_token_can_be_looked_into(page: Page, rounded_chat: attend.Model) -> None:
    say(page, MESSAGE)
    expected = rounded_chat.chat(MESSAGE, strategy="greedy", **SHORT)
    expect(page.locator(".at-log .at-assistant .at-text")).to_have_text(expected.text)
    expect(page.locator(".at-box")).to_have_count(len(expected.document()["prompt"]["ids"]) + len(expected.tokens))
    page.locator(".at-log .at-assistant .at-tok").first.click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token 1 of {len(expected.tokens)}")
    expect(page.locator(".at-step table.at-candidates tbody tr, .at-table tbody tr").first).to_be_visible()
    expect(page.locator(".at-map canvas").first).to_be_visible()

    say(page, "Hello!", answers=2)  # it knows the conversation
    assert page.locator(".at-box").count() > len(expected.tokens) + len(expected.document()["prompt"]["ids"])
    page.locator(".at-log .at-assistant").first.locator(".at-tok").nth(1).click()  # the earlier run comes back
    expect(page.locator(".at-headline")).to_contain_text(f"Token 2 of {len(expected.tokens)}")
    page.locator(".attend-inspector .at-term", has_text="entropy").first.click()
    expect(page.get_by_role("dialog", name="Entropy")).to_be_visible()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Undo").last.click()
    expect(page.locator(".at-log > .at-assistant")).to_have_count(1)
    expect(page.get_by_role("textbox", name="Message")).to_have_value("Hello!")


def test_a_wrong_setting_is_said_and_the_message_stays(page: Page) -> None:
    page.locator("#attend-run").evaluate("fold => { fold.open = true; }")
    length = page.locator("#attend-max-new-tokens-value")
    length.fill("100000")
    panel = open_tab(page, "Chat")
    before = panel.locator(".at-log > *").count()
    send(panel, "Message", "Hello!", "Send")
    expect(panel.get_by_role("status").last).to_contain_text("max_new_tokens is 100000, but must be")
    expect(panel.get_by_role("textbox", name="Message")).to_have_value("Hello!")
    assert panel.locator(".at-log > *").count() == before
    length.fill(str(SHORT["max_new_tokens"]))


def test_a_text_is_continued_in_its_box(page: Page, rounded_chat: attend.Model) -> None:
    panel = open_tab(page, "Write")
    send(panel, "Text", "Once upon a time", "Continue")
    expected = rounded_chat.generate("Once upon a time", strategy="greedy", **SHORT)
    expect(panel.get_by_role("textbox")).to_have_value("Once upon a time" + expected.text)
    panel.get_by_role("button", name="Undo").click()
    expect(panel.get_by_role("textbox")).to_have_value("Once upon a time")


def test_a_translation_is_that_of_python_with_its_alignment(page: Page, rounded_translator: attend.Model) -> None:
    panel = open_tab(page, "Translate")
    expect(panel.locator(".at-recorded")).to_be_visible()  # an example comes before the model
    choose(page, "Beam search")
    send(panel, "Text to translate", SENTENCE, "Translate")
    expected = rounded_translator.generate(SENTENCE, strategy="beam", num_beams=4, **SHORT)
    expect(panel.locator(".at-translated .at-text")).to_have_text(expected.text)
    source, text = (panel.locator(f".at-link[data-side='{side}']") for side in (0, 1))
    expect(source).to_have_count(len(expected.document()["source"]))
    expect(text).to_have_count(len(expected.tokens))
    expect(panel.locator(".at-kind:visible")).to_have_count(3)
    text.first.click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token 1 of {len(expected.tokens)}")
    expect(page.locator(".at-node").first).to_be_visible()  # the beams


def test_cards_are_those_of_python_and_open_in_the_inspector(page: Page, rounded_chat: attend.Model) -> None:
    panel = open_tab(page, "Compare")
    panel.get_by_role("button", name="Strategy", exact=True).click()
    panel.get_by_role("textbox", name="Prompt for all cards").fill("The dog")
    panel.get_by_role("button", name="Compare", exact=True).click()
    expect(panel.get_by_role("status").filter(has_text="Done: ")).to_contain_text("in 3 cards", timeout=60_000)
    runs = [rounded_chat.generate("The dog", strategy=name, **SHORT) for name in ("greedy", "sample", "beam")]
    for card, expected in zip(panel.locator(".at-card").all(), runs, strict=True):
        expect(card.locator(".at-text")).to_have_text(expected.text)
        mean = sum(token.log_probability for token in expected.tokens) / len(expected.tokens)
        expect(card.locator(".at-metric", has_text="Log-prob")).to_contain_text(f"{-mean:.2f}")
    page.locator(".at-card").last.locator(".at-tok").nth(2).click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token 3 of {len(runs[-1].tokens)}")


def test_a_run_is_shared_as_a_file_and_opened_again(page: Page, tmp_path: Path) -> None:
    say(page, "Hello!", answers=page.locator(".at-log > .at-assistant").count() + 1)
    tokens = page.locator(".at-box").all_text_contents()
    with page.expect_download() as download:
        page.get_by_role("button", name="Share run").click()
    download.value.save_as(tmp_path / "run.html")
    open_tab(page, "Write")
    page.locator("#attend-alone input[type=file]").set_input_files(tmp_path / "run.html")
    expect(page.get_by_text("viewing run.html")).to_be_visible()
    expect(page.locator(".at-box")).to_have_text(tokens)
    page.get_by_role("button", name="Close file").click()
    expect(page.get_by_text("viewing run.html")).to_be_hidden()
    page.locator("#attend-alone input[type=file]").set_input_files(
        {"name": "thesis.json", "mimeType": "application/json", "buffer": b"[]"}
    )
    expect(page.get_by_text("thesis.json can’t be opened")).to_be_visible()


def test_recorded_runs_open_without_a_model(page: Page) -> None:
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="a translation").click()
    recorded = opened.value
    expect(recorded.locator(".at-headline")).to_be_visible()
    expect(recorded.locator(".at-link")).not_to_have_count(0)
    recorded.close()


def test_the_tabs_are_reached_with_the_keys_and_by_the_address(page: Page, own: str) -> None:
    page.get_by_role("tab", name="Chat").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    expect(page.get_by_role("tabpanel", name="Translate")).to_be_visible()
    assert page.url.endswith("#translate")
    page.go_back()
    expect(page.get_by_role("tabpanel", name="Chat")).to_be_visible()

    page.goto(f"{own}?prompt=The+dog&top_k=7&model=SmolLM2-135M-Instruct#write")
    expect(page.get_by_text("made with SmolLM2-135M-Instruct, which doesn’t run here")).to_be_visible()
    expect(page.get_by_role("textbox", name="Text")).to_have_value("The dog")
    expect(page.locator("#attend-top-k-value")).to_have_value("7")
    page.goto(own + ADDRESS)


def test_students_of_a_class_link_made_here_see_its_text_alone_and_guess(page: Page, own: str) -> None:
    panel = open_tab(page, "Write")
    panel.get_by_role("textbox", name="Text").fill("Once upon a time")
    panel.get_by_role("button", name="For a class").click()
    sheet = page.locator("#attend-class-dialog")
    sheet.get_by_label("Guesses").fill("2")
    page.goto(sheet.locator("pre").inner_text())
    wait_until_ready(page)
    box = page.get_by_role("textbox", name="Text", exact=True)
    expect(box).to_have_value("Once upon a time")
    assert box.get_attribute("readonly") is not None
    for hidden in ("tablist", "complementary"):  # the other tabs and the settings
        expect(page.get_by_role(hidden)).to_be_hidden()
    page.get_by_role("button", name="Continue", exact=True).click()
    for _ in range(2):
        expect(page.locator(".at-guess-choice").first).to_be_focused()
        expect(page.locator("#attend-main")).to_be_hidden()
        page.keyboard.press("1")
        expect(page.locator("#attend-guessing .at-verdict")).to_be_visible()
        page.keyboard.press("Enter")
    expect(page.locator("#attend-main")).to_be_visible()
    expect(page.locator("#attend-guessing")).to_contain_text(
        "This page has no server, so there is no mean of the class"
    )
    page.goto(own + ADDRESS)


def test_a_class_link_has_the_message_that_was_typed_during_a_run(browser: Browser, own: str) -> None:
    with visit(browser, own) as page:
        panel = open_tab(page, "Chat")
        box = panel.get_by_role("textbox", name="Message", exact=True)
        box.fill(MESSAGE)
        box.evaluate("""box => {
            box.form.requestSubmit();
            box.value = 'And mine?';
            box.dispatchEvent(new Event('input'));
        }""")
        expect(panel.get_by_role("button", name="Stop")).to_be_hidden(timeout=60_000)
        panel.get_by_role("button", name="For a class").click()
        link = urlsplit(page.locator("#attend-class-dialog pre").inner_text())
        assert parse_qs(link.query)["prompt"] == ["And mine?"]


def test_a_page_with_a_server_leads_here_with_its_text_and_makes_class_links_to_it(
    browser: Browser, folder: Path, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static, "write", lambda to, course: shutil.copytree(folder, to))  # has been written before
    models = models_of(replace(tiny, name="attend-chat"))
    with served(build(models), in_browser=routes()) as address, browser.new_context(viewport=DESK) as context:
        context.add_init_script(SEEN)
        page = load(context.new_page(), f"{address}/?tab=Write&{SHORT_LENGTH}")
        page.locator("#attend-text textarea").fill("The dog")
        page.locator("#attend-code").click()
        page.get_by_role("button", name="For a class").click()
        sheet = page.locator("#attend-class-dialog")
        sheet.get_by_label("Their browsers run the model").check()
        assert sheet.locator("pre").inner_text().startswith(f"{address}/in-browser/?tab=Write&")
        sheet.get_by_role("button", name="Close").click()
        page.locator("#attend-share-dialog").get_by_role("button", name="Close").click()
        with context.expect_page() as opened:
            page.get_by_role("link", name="Run in my browser").click()
        expect(opened.value.get_by_role("textbox", name="Text", exact=True)).to_have_value("The dog")
        wait_until_ready(opened.value)
    _written.cache_clear()


def test_axe_finds_nothing(browser: Browser, own: str) -> None:
    with visit(browser, own, bypass_csp=True) as page:  # which forbids to inject axe
        for name in ("Chat", "Write", "Translate", "Compare", "Learn"):
            open_tab(page, name)
            expect(page.locator(".at-cuts section" if name == "Learn" else ".at-headline").first).to_be_visible()
            assert axe.violations(page) == [], name
            page.locator("body").evaluate("body => body.classList.toggle('dark')")
            assert axe.violations(page, "color-contrast") == [], f"{name}, dark"
            page.locator("body").evaluate("body => body.classList.toggle('dark')")


def test_it_opens_without_a_network_after_the_first_visit(browser: Browser, own: str) -> None:
    with visit(browser, own) as page:
        page.wait_for_function(
            "() => navigator.serviceWorker.ready.then((ready) => ready.active.state === 'activated')"
        )
        page.reload()  # now by the service worker, which keeps nothing but what it has installed
        wait_until_ready(page)
        page.context.set_offline(True)
        page.reload()
        wait_until_ready(page)
        say(page, "Hello!")


def test_the_course_opens_and_judges_exercises_without_a_network(browser: Browser, own: str) -> None:
    with visit(browser, own) as page:
        panel = open_tab(page, "Learn")
        expect(panel.get_by_role("heading", name="Tokens, side by side")).to_be_visible()
        page.wait_for_function(KEPT, arg=[f"course/{name}.json" for name in COURSE])
        page.wait_for_function(KEPT, arg=["attend-translate/tokenizer.json"])
        page.wait_for_function(
            "() => navigator.serviceWorker.ready.then((ready) => ready.active.state === 'activated')"
        )
        open_tab(page, "Chat")
        page.reload()
        wait_until_ready(page)
        page.context.set_offline(True)
        page.reload()
        wait_until_ready(page)
        open_tab(page, "Learn")
        expect(panel.locator(".at-cut").first).to_be_visible()
        panel.get_by_role("textbox").first.fill("Bonjour, Mia!")  # computed here
        expect(panel.locator(".at-cut").first).to_contain_text("4 tokens")
        panel.get_by_role("button", name="French", exact=True).click()
        expect(panel.locator(".at-cut").first).to_contain_text("élèves")

        exercise = panel.locator(".at-exercises > li").first
        exercise.get_by_role("spinbutton").fill("11")
        exercise.get_by_role("button", name="Check").click()
        expect(exercise.get_by_role("status")).not_to_be_empty()
        expect(exercise).not_to_contain_text("Right.")
        exercise.get_by_role("spinbutton").fill("12")
        exercise.get_by_role("button", name="Check").click()
        expect(exercise).to_contain_text("Right.")

        panel.get_by_role("button", name="A vocabulary of your own →").click()
        expect(panel.get_by_text("This page has no server. It has recorded")).to_be_visible()
        expect(panel.get_by_label("New text", exact=True)).to_be_disabled()
        panel.get_by_role("button", name="← Tokens, side by side").click()
        panel.get_by_role("button", name="Open the map").click()
        expect(panel.get_by_role("heading", name="Map")).to_be_visible()
        panel.locator("[data-part='decoder.weights']").click()
        panel.get_by_label("Layer").select_option("2")
        expect(panel.locator(".at-model-map-place")).to_contain_text("layer 2")
