"""The settings of each kind of model: a translator's are kept apart from those of a model that chats."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.helpers.browsing import Opener, reload
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose, set_number, to_tab, uses

pytestmark = BROWSER


def test_each_kind_of_model_keeps_its_settings_over_a_reload_in_any_tab(two_kinds_url: str, visit: Opener) -> None:
    page = visit(at=two_kinds_url)
    method = page.locator("#attend-method input:checked")

    def have(chosen: str, **lengths: str) -> None:
        expect(method).to_have_value(chosen)
        for name, length in lengths.items():
            number = page.locator(f"#attend-{name.replace('_', '-')} input[type=number]")
            expect(number).to_have_value(length)

    choose(page, "Custom")
    set_number(page, "max-new-tokens", 120)
    set_number(page, "min-new-tokens", 100)
    to_tab(page, "Translate")
    uses(page, "Translate", "attend-translate")
    expect(method).to_have_value("Beam search")
    choose(page, "Custom")
    have("Custom", min_new_tokens="0")  # which would force the length of every translation
    choose(page, "Greedy")
    set_number(page, "max-new-tokens", 9)
    expect(page).to_have_url(re.compile("max_new_tokens=9"))
    reload(page)
    uses(page, "Translate", "attend-translate")
    have("Greedy", max_new_tokens="9")
    to_tab(page, "Chat")
    uses(page, "Chat", "attend-chat")
    have("Custom", max_new_tokens="120", min_new_tokens="100")
    expect(page).to_have_url(re.compile("min_new_tokens=100"))
    reload(page)
    uses(page, "Chat", "attend-chat")
    have("Custom", max_new_tokens="120", min_new_tokens="100")
    to_tab(page, "Translate")
    uses(page, "Translate", "attend-translate")
    have("Greedy", max_new_tokens="9")


def test_the_settings_of_a_link_are_for_its_tab(two_kinds_url: str, visit: Opener) -> None:
    page = visit("?tab=Translate&method=Greedy&max_new_tokens=9", at=two_kinds_url)
    uses(page, "Translate", "attend-translate")
    expect(page.locator("#attend-method input:checked")).to_have_value("Greedy")
    expect(page.locator("#attend-method legend")).to_have_text("Decoding method for Translate")
    to_tab(page, "Chat")
    uses(page, "Chat", "attend-chat")
    expect(page.locator("#attend-method legend")).to_have_text("Decoding method for Chat and Write")
    expect(page.locator("#attend-method input:checked")).to_have_value("Temperature")
    expect(page.locator("#attend-max-new-tokens input[type=number]")).not_to_have_value("9")
