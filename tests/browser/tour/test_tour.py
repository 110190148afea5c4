"""The tour of the page: a first visitor sees it once, and it is in nobody's way."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlencode

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from model import names
from tests.browser.page.test_address import BOX, seen
from tests.browser.page.test_address import parts as parts_of
from tests.browser.test_layout import SHIFTS
from tests.helpers.browsing import DESK, PHONE, SHORT, HeldPage, Opener, forget, load, reload, watch
from tests.helpers.stage import BROWSER, context_of
from tests.helpers.visitor import rest, send, to_chat, to_tab
from tests.helpers.waiting import eventually
from ui.examples.recorded import MODELS

pytestmark = [
    *BROWSER,
    pytest.mark.skipif(not set(MODELS) <= set(names.embedded()), reason="the embedded models are not there"),
]

FETCHED = (
    """() => performance.getEntriesByType('resource').map(({ name }) => name.split('/tour/')[1]).filter(Boolean)"""
)
TITLES = [
    *("Every token was a choice", "What it could have said", "Why this token", "Where the model looked"),
    *("Change how it chooses", "Your turn"),
]


@pytest.fixture(scope="module")
def newcomers(browser: Browser) -> Iterator[BrowserContext]:
    """A browser that has not seen the tour and caches the scripts: a page costs three times as much without."""
    with context_of(browser) as context:
        yield context


@pytest.fixture
def newcomer(newcomers: BrowserContext, embedded_url: str) -> Iterator[Page]:
    """A tab of somebody who has never been on the page; fails afterwards on any error."""
    page = newcomers.new_page()
    forget(page, embedded_url)
    with watch(page, embedded_url) as faults:
        yield page
    page.close()
    assert faults == []


def first_visit(page: Page, embedded_url: str) -> Page:
    return load(page, f"{embedded_url}?max_new_tokens=4", ".at-headline")


def assert_clear(page: Page) -> None:
    """The bubble comes to cover nothing of the example and, where there is room beside it, no suggestion and no box."""
    eventually(lambda: is_clear(page))


def is_clear(page: Page) -> bool:
    wanted = page.locator(".at-recorded .at-turn").all()
    if page.evaluate("innerWidth > 1000"):
        wanted += [page.locator("#attend-conversation .at-examples"), page.locator("#attend-message-row")]
    return covers_none(page, wanted)


def covers_none(page: Page, wanted: list[Locator]) -> bool:
    left, top, right, bottom = edges(bubble_of(page))
    boxes = [edges(one) for one in wanted]
    return all(right <= box[0] or box[2] <= left or bottom <= box[1] or box[3] <= top for box in boxes)


def bubble_of(page: Page) -> Locator:
    return page.locator(".at-tour-bubble")


def assert_beside(page: Page) -> None:
    """The bubble comes to lie whole in the window, as does the ring around its target, and does not cover it."""
    eventually(lambda: is_beside(page))


def is_beside(page: Page) -> bool:
    left, top, right, bottom = edges(bubble_of(page))
    ring = edges(page.locator(".at-tour-ring"))
    width, height = page.evaluate("[innerWidth, innerHeight]")
    whole = min(left, top, *ring) >= 0 and max(right, ring[2]) <= width and max(bottom, ring[3]) <= height
    return whole and (right <= ring[0] or ring[2] <= left or bottom <= ring[1] or ring[3] <= top)


def edges(one: Locator) -> tuple[float, float, float, float]:
    box = one.bounding_box()
    assert box
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def assert_offered(page: Page) -> None:
    """The tour has begun by itself: it covers nothing of the example, moves nothing and takes no focus."""
    expect(bubble_of(page).get_by_role("heading")).to_have_text(TITLES[0])
    assert page.evaluate("!document.activeElement.closest('.at-tour')")
    assert_clear(page)
    assert sum(page.evaluate(SHIFTS)) < 0.02
    assert page.locator(".at-log").evaluate("log => log.scrollTop") == 0


def test_a_first_visitor_sees_six_steps_once_and_can_take_them_again(newcomer: Page, embedded_url: str) -> None:
    """First on a phone, then with the keys of a desk."""
    newcomer.set_viewport_size(PHONE["viewport"])
    touch = newcomer.context.new_cdp_session(newcomer)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": True})
    page = first_visit(newcomer, embedded_url)
    bubble = bubble_of(page)
    heading = bubble.get_by_role("heading")
    assert_offered(page)
    for number, title in enumerate(TITLES, start=1):
        expect(heading).to_have_text(title)
        expect(bubble).to_contain_text(f"{number} of 6")
        assert_beside(page)
        if title == TITLES[4]:  # which speaks of the settings
            eventually(lambda: covers_none(page, page.locator(".attend-settings .at-field:visible").all()))
        bubble.locator(".at-primary").click()  # the last one is Done
    expect(bubble).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    reload(page)
    expect(page.locator(".at-headline")).to_be_visible()
    assert page.evaluate(FETCHED) == ["offer.js"]
    page.locator("#attend-keys").click()
    again = page.get_by_role("button", name="Take the tour")
    expect(again).to_be_in_viewport(ratio=1)
    touch.send("Emulation.setTouchEmulationEnabled", {"enabled": False})
    page.set_viewport_size(DESK)
    expect(again).to_be_in_viewport(ratio=1)
    again.press("Enter")
    for title in [*TITLES, TITLES[4]]:
        expect(heading).to_have_text(title)
        assert_beside(page)
        page.keyboard.press("ArrowRight" if title != TITLES[5] else "ArrowLeft")
    expect(heading).to_have_text(TITLES[5])
    page.keyboard.press("Enter")  # the focus is on Done
    expect(bubble).to_have_count(0)
    expect(page.locator("#attend-message textarea")).to_be_focused()


def test_the_tour_follows_a_click_on_a_token_and_gives_way_to_work(newcomer: Page, embedded_url: str) -> None:
    page = first_visit(newcomer, embedded_url)
    bubble = bubble_of(page)
    assert_offered(page)
    page.locator(".at-recorded .at-tok", has_text="Your").click()
    expect(bubble).to_contain_text(TITLES[1])
    expect(page.locator(".at-headline")).to_contain_text("Your")
    page.locator("#attend-message textarea").fill("H")
    expect(bubble).to_have_count(0)
    page.locator("#attend-message textarea").fill("")

    def take() -> None:
        page.locator("#attend-keys").click()
        page.get_by_role("button", name="Take the tour").click()
        expect(bubble).to_contain_text(TITLES[0])

    take()
    page.keyboard.press("Escape")
    expect(bubble).to_have_count(0)
    expect(page.locator("#attend-keys")).to_be_focused()
    take()
    bubble.get_by_role("button", name="Skip").click()
    expect(bubble).to_have_count(0)
    take()
    to_tab(page, "Learn")
    expect(bubble).to_have_count(0)
    page.locator("#attend-keys").click()
    expect(page.get_by_text("open Chat to take it")).to_be_visible()  # since the tour changes no tab
    expect(page.get_by_role("button", name="Take the tour")).to_be_hidden()
    page.keyboard.press("Escape")
    to_tab(page, "Chat")
    take()
    page.locator(".at-example").first.click()
    expect(bubble).to_have_count(0)  # the model writes
    rest(page)


def test_the_tour_gives_way_to_a_text_that_comes_at_once(newcomer: Page, embedded_url: str) -> None:
    page = first_visit(newcomer, embedded_url)
    expect(bubble_of(page)).to_contain_text(TITLES[0])
    page.evaluate(
        """async () => {
            const urls = performance.getEntriesByType('resource').map(({ name }) => name);
            const { inspectedToken } = await import(urls.find((url) => url.includes('signals.js')));
            inspectedToken.publish({ ...inspectedToken.latest, run: 'chat-1' });
        }"""
    )
    expect(bubble_of(page)).to_have_count(0)


@pytest.mark.parametrize(
    ("parts", "selected"),  # the token, in the example or of the prompt
    [
        ({"tab": "Write", "prompt": "Once upon", "method": "Custom", "top_k": "7"}, "upon"),
        ({"tab": "Translate", "prompt": "Bonjour", "model": "attend-translate", "num_beams": "3"}, "red"),
        ({"tab": "Compare", "prompt": "Hello", "seed": "3"}, "16 of 16"),  # tokens of the example
        ({"tab": "Learn", "chapter": "positions"}, ""),
        ({"prompt": "Hello", "method": "Greedy", "model": "attend-chat", "seed": "3"}, " B"),
    ],
    ids=["Write", "Translate", "Compare", "Learn", "Chat"],
)
def test_what_a_link_opens_stays_for_a_newcomer(
    newcomer: Page, embedded_url: str, parts: dict[str, str], selected: str
) -> None:
    tab = parts.get("tab", "Chat")
    drawn = f".at-headline:has-text('{selected}')" if selected else ".attend-lesson h3"
    page = load(newcomer, f"{embedded_url}?{urlencode(parts)}", drawn)
    bubble = bubble_of(page)
    seen(page, tab, parts.get("model", "attend-chat"))
    assert parts_of(page) == parts
    if tab != "Learn":
        expect(page.locator(BOX[tab])).to_have_value(parts["prompt"])
        if tab != "Chat":  # where it begins by itself
            expect(bubble).to_have_count(0)
            page.locator("#attend-keys").click()
            page.get_by_role("button", name="Take the tour").click()
        expect(bubble).to_contain_text(TITLES[0])
        bubble.locator(".at-primary").click()
        expect(bubble).to_contain_text(TITLES[1])
        bubble.get_by_role("button", name="Skip").click()
        expect(bubble).to_have_count(0)
        assert parts_of(page) == parts
        expect(page.locator(BOX[tab])).to_have_value(parts["prompt"])
    else:
        to_tab(page, "Chat")  # by the visitor's own click, after which the tour is offered
        expect(bubble).to_contain_text(TITLES[0])


def test_the_tour_can_be_taken_while_the_model_writes(held: HeldPage, visit: Opener) -> None:
    page = visit(f"?method=Custom&{SHORT}", at=held.url)
    to_chat(page)
    send(page, "Hello")
    expect(page.locator(".at-headline")).to_be_visible()
    page.locator("#attend-keys").click()
    page.get_by_role("button", name="Take the tour").click()
    bubble, tokens = bubble_of(page), page.locator(".at-box")
    expect(bubble).to_contain_text(TITLES[0])
    count = tokens.count()
    held.gate.let(1)
    expect(tokens).to_have_count(count + 1)
    expect(bubble).to_contain_text(TITLES[0])
    held.gate.open()
    rest(page)
    expect(bubble).to_contain_text(TITLES[0])
