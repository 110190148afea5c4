"""The page without a server and its course without a network, or with a bad one."""

from __future__ import annotations

from playwright.sync_api import Browser, expect

from tests.browser.web.static_page import ADDRESS, COURSE, open_tab, say, visit, wait_until_ready
from tests.helpers.stage import BROWSER

pytestmark = BROWSER


KEPT = """async names => {
  const opened = await Promise.all((await caches.keys()).map((name) => caches.open(name)));
  const kept = (await Promise.all(opened.map((cache) => cache.keys()))).flat().map(({ url }) => url);
  return names.every((name) => kept.some((url) => url.includes(name)));
}"""


def test_without_a_network_the_page_opens_answers_and_judges_exercises_of_the_course(
    browser: Browser, own: str
) -> None:
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
        say(page, "Hello!")


def test_a_tab_that_could_not_be_fetched_opens_once_it_can_be(browser: Browser, own: str) -> None:
    with browser.new_context(service_workers="block") as context:
        page = context.new_page()
        page.route("**/course/start.json*", lambda route: route.abort())
        page.goto(own + ADDRESS)
        wait_until_ready(page)
        panel = open_tab(page, "Learn")
        expect(panel.get_by_text("This tab couldn’t be opened")).to_be_visible()
        page.unroute("**/course/start.json*")
        open_tab(page, "Chat")
        open_tab(page, "Learn")
        expect(panel.get_by_role("heading", name="Tokens, side by side")).to_be_visible()
        expect(panel.get_by_text("This tab couldn’t be opened")).to_have_count(0)
