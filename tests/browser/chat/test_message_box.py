"""The message box: a message leaves it once it is accepted, and what is typed after it stays."""

from __future__ import annotations

from playwright.sync_api import Route, expect

from tests.helpers.browsing import SHORT, Opener, until_held
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import rest, send, set_number

pytestmark = BROWSER


def test_what_is_typed_before_the_answer_begins_stays(visit: Opener) -> None:
    page, held = visit(f"?{SHORT}"), list[Route]()
    box, answers = page.locator("#attend-message textarea"), page.locator(".at-assistant:not(.at-recorded *)")

    def hold_message(route: Route) -> None:
        is_message = not held and '"Hello"' in (route.request.post_data or "")
        held.append(route) if is_message else route.continue_()

    page.route("**/queue/join*", hold_message)
    for typed, left in (("Hello", ""), ("Hello, and you?", ", and you?"), ("Another message", "Another message")):
        before = answers.count()
        held.clear()
        send(page, "Hello")
        until_held(page, held, 1)
        box.fill(typed)
        held[0].continue_()
        expect(answers).to_have_count(before + 1)
        rest(page)
        expect(box).to_have_value(left)


def test_a_message_whose_updates_are_lost_leaves_its_box(visit: Opener) -> None:
    page = visit(f"?{SHORT}")
    box, answers = page.locator("#attend-message textarea"), page.locator(".at-assistant:not(.at-recorded *)")

    def lose_updates(route: Route) -> None:
        response = route.fetch()  # once the answer is complete
        events = [event for event in response.text().split("\n\n") if "process_generating" not in event]
        route.fulfill(response=response, body="\n\n".join(events))

    page.route("**/queue/data*", lose_updates)
    for count in (1, 2):
        send(page, "Hello")
        expect(answers).to_have_count(count)
        rest(page)
        expect(box).to_have_value("")


def test_a_refused_message_stays_in_its_box_though_an_example_sends_the_same(visit: Opener) -> None:
    page = visit()
    example = page.locator(".at-example").first
    message = example.inner_text()
    set_number(page, "max-new-tokens", 100_000)
    send(page, message)
    expect(page.locator(".toast-body")).to_have_count(1)
    set_number(page, "max-new-tokens", 4)
    example.click()
    expect(page.locator(".at-assistant:not(.at-recorded *)")).to_have_count(1)
    rest(page)
    expect(page.locator("#attend-message textarea")).to_have_value(message)
