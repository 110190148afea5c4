"""Settings on their way out and back: the address that carries them, links, and the copied code."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import BrowserContext, expect

import generate
from tests.browser.settings.test_settings import number
from tests.helpers.browsing import Opener, forget, reload, watch
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose, rest, say, set_number, to_tab, to_write

pytestmark = BROWSER


def printed(code: str) -> str:
    """The output of some lines of Python."""
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(compile(code, "copied", "exec"), {})
    return out.getvalue()


def test_the_address_brings_the_settings_back(visit: Opener) -> None:
    page = visit("")
    choose(page, "Top-k")
    set_number(page, "top-k", 7)
    set_number(page, "seed", 3)
    expect(page).to_have_url(re.compile(r"\?method=Top-k&seed=3&top_k=7$|\?method=Top-k&top_k=7&seed=3$"))
    reload(page)
    expect(page.locator("#attend-method label.selected .at-name")).to_have_text("Top-k")
    assert number(page, "top-k") == "7"
    say(page, "Hello")
    expect(page.locator(".at-stages tbody tr", has_text="top-k").locator("td").first).to_have_text("7")
    expect(page.locator("#attend-seed-used")).to_contain_text("Reuse seed 3")
    assert page.locator(".toast-body").count() == 0  # it is understood


def test_unknown_and_hostile_parts_of_a_link_are_reported_and_the_rest_applies(visit: Opener) -> None:
    page = visit("?method=<img src=x>&strategy=constructor&temperature=NaN&banned_words=<b>x</b>&warmth=1&top_k=7")
    expect(page.locator(".toast-body")).to_contain_text("method=<img src=x>, strategy=constructor, temperature=NaN")
    expect(page.locator("#attend-method label.selected .at-name")).to_have_text("Custom")
    assert [number(page, name) for name in ("top-k", "temperature")] == ["7", "0.8"]
    assert page.locator("#attend-banned-words input").input_value() == "<b>x</b>"
    assert page.locator(":is(#attend-form, .toast-body) :is(b, img)").count() == 0
    expect(page).not_to_have_url(re.compile("warmth|strategy|temperature"))  # it is written anew


def test_a_slow_browser_tells_of_a_bad_link_too(returning: BrowserContext, url: str) -> None:
    page = returning.new_page()  # whoever leaves a slow page cuts off what it waits for, and it complains
    forget(page, url)
    with watch(page, url) as faults:
        page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": 4})
        page.goto(url + "?temperature=9")
        expect(page.locator(".toast-body")).to_contain_text("temperature=9")
    page.close()
    assert faults == []


def test_copied_code_gives_the_same_text(visit: Opener, capsys: pytest.CaptureFixture[str]) -> None:
    page = visit("?max_new_tokens=12&min_new_tokens=12")  # or a model may end its text at once
    prompt = "It's \"you\" & $HOME, isn't it?"
    say(page, prompt)
    answer = page.locator(".at-assistant .at-text").inner_text()
    to_write(page)
    box = page.locator("#attend-text textarea")
    box.fill(prompt)
    expect(page.locator(".at-box").first).to_be_visible()
    page.locator("#attend-continue").click()
    expect(box).not_to_have_value(prompt)
    rest(page)
    for tab, text in (("Write", box.input_value().removeprefix(prompt)), ("Chat", answer)):
        to_tab(page, tab)
        page.locator("#attend-code").click()
        expect(page.locator(".attend-code pre").first).to_be_visible()  # closed, it still has its last texts
        link, command, code = page.locator(".attend-code pre").all_inner_texts()
        seed = re.search(r"--seed (\d+)", command)
        assert seed is not None
        linked = parse_qs(urlsplit(link).query)
        assert (linked["seed"], linked["prompt"]) == ([seed[1]], [prompt])  # the last run's, to repeat it
        words = shlex.split(command)
        assert words[:3] == ["python", "generate.py", prompt]
        if "--model" not in command:  # else the model has no name by which it could be loaded again
            capsys.readouterr()
            assert generate.main(words[2:]) == 0
            assert capsys.readouterr().out.strip() == text.strip() != ""
            assert printed(code).strip() == text.strip()
        page.keyboard.press("Escape")
        expect(page.locator(".attend-code")).to_be_hidden()
