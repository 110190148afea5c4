"""The whole page in a real browser, with no error in its console and no request to another host.

A worker has one browser and serves its pages itself: to start either takes seconds. A page takes seconds to load as
well, so tests that leave nothing behind share one (`shared_page`), and the others load theirs in one tab (`tab`): to
begin a tab costs half as much as to load the page.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import pytest
from playwright import sync_api
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Request, ViewportSize, expect

from model import catalog, names
from model.loaded import LoadedModel
from tests.browser.chromium import CHROMIUM, FLAGS
from tests.conftest import make_checkpoint, unused_port
from tests.helpers.served import models_of, served
from tests.helpers.visitor import PATIENCE, POLLING
from tests.helpers.waiting import Gate, eventually
from ui.kit import assets
from ui.page.layout import build
from ui.runs.models import Models
from ui.tour import SEEN

Opener = Callable[..., Page]
DESK: ViewportSize = {"width": 1440, "height": 900}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
READY = (
    "body[data-ready]:is([data-connected], :not(:has(#attend-form)))"  # its script runs, and Gradio hears its events
)
DRAWN = ".attend-inspector > :not([hidden])"  # what is drawn last of a page
_left_ports: list[int] = []
_streams: WeakKeyDictionary[Page, set[Request]] = WeakKeyDictionary()  # of replies, which are open
SHORT = "max_new_tokens=12"  # in an address: a model with random weights hardly ever ends a text by itself


# ---- pages ----


@contextmanager
def page_of(models: Models, port: int | None = None, **options: Any) -> Iterator[str]:
    """The address of a page with these models, served by this process.

    Without a `port` it takes one that an earlier page has left, under whose address the browser has the scripts cached.
    `options` are those of `launch`.
    """
    at = port or (_left_ports.pop() if _left_ports else unused_port())
    with served(build(models), at, **options) as address:
        yield f"{address}/"
    if port is None:
        _left_ports.append(at)


@contextmanager
def serving(*loaded: LoadedModel, gate: Gate | None = None) -> Iterator[str]:
    """The address of a page with these models, whose tokens wait at the gate, if there is one."""
    with page_of(models_of(*loaded, wrap=gate or (lambda decode: decode))) as address:
        yield address


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A page of one model that chats and reads as much as the embedded one."""
    tiny = catalog.load(str(make_checkpoint(tmp_path_factory.mktemp("page") / "tiny", context_length=512)))
    with serving(tiny) as address:
        yield address


@pytest.fixture(scope="session")
def embedded_url(tiny: LoadedModel) -> Iterator[str]:
    """A page with the embedded models, where they are installed."""
    embedded = names.embedded()
    with page_of(Models(embedded, lambda name, _: catalog.load(name))) if embedded else serving(tiny) as address:
        yield address


@pytest.fixture(scope="module")
def two_kinds_url(tiny: LoadedModel, tiny_translator: LoadedModel) -> Iterator[str]:
    """A page of two small models under names of the catalogue, which says what they are for."""
    by_name = {"attend-chat": tiny, "attend-translate": tiny_translator}
    with page_of(Models(tuple(by_name), lambda name, _: by_name[name])) as address:
        yield address


@dataclass(frozen=True, slots=True)
class HeldPage:
    """A page whose first model cannot chat and whose second can; their tokens wait at the gate."""

    url: str
    gate: Gate


@pytest.fixture(scope="session")
def served_held(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HeldPage]:
    folder, gate = tmp_path_factory.mktemp("held"), Gate()
    writer, chat = (
        catalog.load(str(make_checkpoint(folder / name, chat=name == "tiny-chat", context_length=512)))
        for name in ("tiny-writer", "tiny-chat")
    )
    with serving(writer, chat, gate=gate) as address:
        yield HeldPage(address, gate)


@pytest.fixture
def held(served_held: HeldPage) -> Iterator[HeldPage]:
    """The page with its gate closed."""
    served_held.gate.close()
    yield served_held
    served_held.gate.open()


# ---- the browser ----


@pytest.fixture(scope="session")
def returning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[BrowserContext]:
    """The worker's browser, which caches Gradio's scripts; everything else is cleared before each visit."""
    with sync_api.sync_playwright() as playwright:
        profile = tmp_path_factory.mktemp("profile")
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=FLAGS, reduced_motion="reduce"
        )
        context.add_init_script(SEEN)
        yield context
        context.close()


@dataclass(slots=True)
class Tab:
    """The tab that one test after another uses; a new one where the last test closed it."""

    context: BrowserContext
    page: Page | None = None

    def open(self) -> Page:
        if self.page is None or self.page.is_closed():
            self.page = self.context.new_page()
        self.page.bring_to_front()
        return self.page

    def visit(self, at: str, path: str) -> Page:
        """The page as a new visitor opens it; unwatched: Gradio complains of one that is left while it waits."""
        page = self.open()
        page.set_viewport_size(DESK)
        forget(page, at)
        return load(page, at + path)

    def leave(self) -> None:
        """Leave nothing of the visitor behind."""
        if self.page is not None and not self.page.is_closed():
            self.page.unroute_all()
            self.page.goto("about:blank")


@pytest.fixture(scope="session")
def tab(returning: BrowserContext) -> Tab:
    return Tab(returning)


@pytest.fixture(scope="session")
def browser(returning: BrowserContext) -> Browser:
    """The same browser, for separate visitors."""
    assert returning.browser is not None
    return returning.browser


@pytest.fixture(scope="session")
def small_screen(browser: Browser) -> Iterator[BrowserContext]:
    """A phone, which caches the scripts as well."""
    context = browser.new_context(**PHONE, reduced_motion="reduce")
    context.add_init_script(SEEN)
    yield context
    context.close()


@pytest.fixture(scope="session")
def second_visitor(browser: Browser) -> Iterator[BrowserContext]:
    """Another visitor's browser, which caches the scripts as well: a page costs three times as much without."""
    context = browser.new_context(viewport=DESK, reduced_motion="reduce")
    context.add_init_script(SEEN)
    yield context
    context.close()


@contextmanager
def watch(page: Page, at: str) -> Iterator[list[str]]:
    """Collects what goes wrong on a page: errors, dialogs, and requests to other addresses."""
    faults: list[str] = []
    streams = _streams[page] = set()

    def record(request: Request) -> None:
        if "queue/data" in request.url:
            streams.add(request)
        if not request.url.startswith((at, "data:", "blob:")):
            faults.append(f"asked for {request.url}")

    def refused(dialog: sync_api.Dialog) -> None:
        faults.append(f"a dialog: {dialog.message}")
        dialog.dismiss()

    listeners: dict[Any, Callable[..., None]] = {
        "request": record,
        "requestfinished": lambda request: streams.discard(request),
        "requestfailed": lambda request: streams.discard(request),
        "pageerror": lambda error: faults.append(f"script error: {error}"),
        "dialog": refused,
        "console": lambda message: faults.append(f"console: {message.text}") if message.type == "error" else None,
    }
    for event, listener in listeners.items():
        page.on(event, listener)
    yield faults
    for event, listener in listeners.items():
        page.remove_listener(event, listener)


def forget(page: Page, at: str) -> None:
    """Clear everything that this address has stored in the browser, except the cached scripts."""
    stored = {"origin": at.rstrip("/"), "storageTypes": "cookies,local_storage,session_storage,indexeddb"}
    page.context.new_cdp_session(page).send("Storage.clearDataForOrigin", stored)


def load(page: Page, address: str, drawn: str = DRAWN) -> Page:
    """Open an address and wait until the page can be used; `drawn` is what comes last."""
    page.set_default_timeout(PATIENCE)
    page.goto(address)
    wait_until_ready(page)
    expect(page.locator(drawn).first).to_be_visible()
    return page


def wait_until_ready(page: Page) -> None:
    page.wait_for_function("ready => document.querySelector(ready)", arg=READY, polling=POLLING, timeout=PATIENCE)


def reload(page: Page) -> None:
    _wait_for_replies(page)
    page.reload()
    wait_until_ready(page)


def follow(link: Locator) -> None:
    """Click a link that leads to another address of the page."""
    page = link.page
    _wait_for_replies(page)
    with page.expect_navigation(wait_until="load"):
        link.click()
    wait_until_ready(page)


def revisit(page: Page, at: str, path: str) -> Page:
    """Open an address in a page that has forgotten everything."""
    _wait_for_replies(page)
    forget(page, at)
    return load(page, at + path)


def _wait_for_replies(page: Page) -> None:
    """Gradio complains in the console of a stream of replies that is cut off.

    A reply may overtake the answer to its event's request. Gradio's client then opens a stream that has nothing to
    bring, and that only the reply to another event ends.
    """
    quiet, end, next_event = 0, time.monotonic() + PATIENCE / 1000, time.monotonic() + 2
    while quiet < 10:  # between two events there is none for a moment
        assert time.monotonic() < end, f"no end of {[request.url for request in _streams[page]]}"
        if time.monotonic() > next_event:
            page.evaluate(assets.call("kit/js/signals.js", "streamMissing.publish"))
            next_event = time.monotonic() + 2
        page.wait_for_timeout(50)
        quiet = 0 if _streams[page] else quiet + 1


@pytest.fixture
def visit(request: pytest.FixtureRequest, tab: Tab) -> Iterator[Opener]:
    """Opens the page as a new visitor, but without the tour; fails on any error or request to another host."""
    faults: list[list[str]] = []
    with ExitStack() as left:

        def visitor(options: dict[str, Any]) -> Page:
            assert len(faults) < 2, "a third visitor would share the second one's storage"
            assert options == PHONE or not options.keys() - {"viewport"}, "no browser is like that"
            if faults or options == PHONE:
                page = request.getfixturevalue("small_screen" if options == PHONE else "second_visitor").new_page()
                left.callback(page.close)
                return page
            page = tab.open()
            left.callback(tab.leave)
            page.set_viewport_size(options.get("viewport", DESK))
            return page

        def open_page(path: str = f"?{SHORT}", at: str | None = None, drawn: str = DRAWN, **options: Any) -> Page:
            address = at or request.getfixturevalue("url")
            page = visitor(options)
            forget(page, address)
            faults.append(left.enter_context(watch(page, address)))
            return load(page, address + path, drawn)

        yield open_page
    all_faults = [fault for of_one in faults for fault in of_one]
    if all_faults:
        pytest.fail("\n".join(all_faults))


@pytest.fixture(scope="module")
def opened(url: str, returning: BrowserContext) -> Iterator[tuple[Page, list[str]]]:
    page = returning.new_page()
    page.set_viewport_size(DESK)
    forget(page, url)
    with watch(page, url) as faults:
        yield load(page, f"{url}?{SHORT}"), faults
    page.close()


@pytest.fixture
def shared_page(opened: tuple[Page, list[str]]) -> Iterator[Page]:
    """A page that several tests use in turn; none may leave a changed setting behind."""
    page, faults = opened
    page.bring_to_front()
    faults.clear()
    yield page
    assert faults == []


def show_predictions(chapter: Locator) -> None:
    """Show all of a chapter of Learn, without guessing what it asks to predict."""
    expect(chapter.locator(".at-exercises")).to_be_visible()
    for button in chapter.get_by_role("button", name="Show it without a guess").all():
        button.click()


def until_held(page: Page, held: Sequence[object], count: int) -> None:
    """Wait until this many requests are held: Playwright only notices them while it waits for the page's answer, such
    as its title."""
    eventually(lambda: bool(page.title()) and len(held) == count)
