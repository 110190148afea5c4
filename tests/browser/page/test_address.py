"""The page's address in a real browser: what a link opens, Back and Forward, and what it never says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from playwright.sync_api import Page, expect

from model import catalog
from model.loaded import LoadedModel
from tests.conftest import make_checkpoint
from tests.helpers.browsing import Opener, page_of, reload, revisit
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import choose, name_by_hand, pick, say
from ui.runs.models import Models

pytestmark = BROWSER
BOX = {
    "Chat": "#attend-message textarea",
    "Write": "#attend-text textarea",
    "Compare": ".at-ask-text",
    "Translate": "#attend-given textarea",
}


@pytest.fixture(scope="module")
def url(embedded_url: str) -> str:
    return embedded_url


@pytest.fixture(scope="module")
def two_models(tiny: LoadedModel, tiny_writer: LoadedModel) -> Iterator[str]:
    """A private page of two models, where others can be named."""
    known = {model.name: model for model in (tiny, tiny_writer)}
    with page_of(Models(tuple(known), lambda name, _: known.get(name) or catalog.load(name), any_name=True)) as address:
        yield address


def parts(page: Page) -> dict[str, str]:
    return {name: value for name, (value,) in parse_qs(urlsplit(page.url).query).items()}


def seen(page: Page, tab: str, model: str, chapter: str = "") -> None:
    """Wait until the page shows this tab, model and chapter."""
    expect(page.locator("#attend-model-chosen b").first).to_have_text(model)
    expect(page.locator(".attend-model-coming")).to_have_text("")
    expect(page.locator("#attend-tabs label.selected")).to_have_text(tab)
    if chapter:
        expect(page.get_by_role("region", name=chapter, exact=True)).to_be_visible()


def test_back_and_forward_lead_through_tabs_chapters_and_models(visit: Opener) -> None:
    page = visit("?top_k=7")
    page.locator("#attend-tabs label", has_text="Learn").click()
    page.locator(".at-lesson-list button", has_text="Positions").click()
    page.locator("#attend-tabs label", has_text="Translate").click()
    seen(page, "Translate", "attend-translate")
    expect(page).not_to_have_url(re.compile("top_k"))  # the settings follow the model
    assert parts(page) == {"tab": "Translate", "model": "attend-translate"}
    page.go_back()
    seen(page, "Learn", "attend-chat", "Positions")
    page.go_back()
    seen(page, "Learn", "attend-chat", "Tokens, side by side")
    page.go_back()
    seen(page, "Chat", "attend-chat")
    choose(page, "Greedy")
    expect(page).to_have_url(re.compile("method=Greedy"))
    page.go_forward()
    page.go_forward()
    seen(page, "Learn", "attend-chat", "Positions")
    expect(page).to_have_title("Learn · Attend")
    expect(page).to_have_url(re.compile("method=Greedy"))  # the settings stay as they are
    reload(page)
    seen(page, "Learn", "attend-chat", "Positions")
    page.go_forward()
    seen(page, "Translate", "attend-translate")

    page.locator("#attend-tabs label", has_text="Chat").click()
    seen(page, "Chat", "attend-chat")
    for tab in ("Learn", "Chat", "Learn"):
        page.locator("#attend-tabs label", has_text=tab).click()
    page.locator(".at-lesson-list button", has_text="A vocabulary of your own").click()
    page.evaluate("history.go(-2)")
    seen(page, "Chat", "attend-chat")
    page.go_back()
    seen(page, "Learn", "attend-chat", "Positions")  # an entry's own chapter, not the one that was open last
    expect(page).to_have_url(re.compile("chapter=positions"))


def test_a_copied_link_opens_what_it_was_copied_from_with_the_cards_of_a_comparison(visit: Opener, url: str) -> None:
    page = visit("?max_new_tokens=4")
    choose(page, "Top-k")
    say(page, 'It\'s "me" & you?')
    page.locator("#attend-code").click()
    link = page.locator(".attend-code pre").first.inner_text()
    expect(page.locator("#attend-seed-used")).to_contain_text("Reuse seed ")
    seed = page.locator("#attend-seed-used").inner_text().split()[-1]
    query = parse_qs(urlsplit(link).query)
    assert query["model"] == ["attend-chat"] and len(query["weights"][0]) == 12
    other = visit(f"?{urlsplit(link).query}")
    expect(other).not_to_have_url(re.compile("weights="))  # they are the same here
    assert other.locator(".toast-body").count() == 0
    expect(other.locator(BOX["Chat"])).to_have_value('It\'s "me" & you?')
    expect(other.locator("#attend-method label.selected .at-name")).to_have_text("Top-k")
    other.locator(BOX["Chat"]).press("Enter")
    answers = [each.locator(".at-assistant:not(.at-recorded *) .at-text") for each in (page, other)]
    expect(answers[1]).to_have_text(answers[0].inner_text(), use_inner_text=True)
    expect(other.locator("#attend-seed-used")).to_contain_text(f"Reuse seed {seed}")

    prompt = 'Say "hi" & smile'
    page.keyboard.press("Escape")
    page.locator("#attend-tabs label", has_text="Compare").click()
    page.get_by_role("button", name="Strategy", exact=True).click()
    page.locator(BOX["Compare"]).fill(prompt)
    page.locator(".at-ask-row label", has_text="answer as a message").click()
    page.locator("#attend-compare-go").click()
    expect(page.locator(".at-compare-status")).to_contain_text("Done")
    page.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text }")
    page.get_by_role("button", name="Copy link", exact=True).click()
    expect(page.locator(".at-files .at-copied")).to_have_text("Copied")
    link = page.evaluate("window.copied")
    assert "/work" not in link and "/tmp" not in link
    revisit(other, url, f"?{urlsplit(link).query}")
    seen(other, "Compare", "attend-chat")
    expect(other.locator(BOX["Compare"])).to_have_value(prompt)
    expect(other.get_by_label("answer as a message")).to_be_checked()
    names, texts = (page.locator(f".at-card {part}").all_inner_texts() for part in ("h3", ".at-text"))
    expect(other.locator(".at-card h3")).to_have_text(names)
    other.locator("#attend-compare-go").click()
    expect(other.locator(".at-compare-status")).to_contain_text("Done")
    expect(other.locator(".at-card .at-text")).to_have_text(texts, use_inner_text=True)
    assert not {"prompt", "comparison"} & parts(other).keys()  # they leave the address once the visitor is at work


def test_a_link_with_bad_parts_is_refused_in_a_sentence_and_the_rest_opens(visit: Opener) -> None:
    prompt = 'a "b" <img src=x onerror=alert(1)> & ?tab=Learn\nand more'
    page = visit(f"?tab=<b>Chat&chapter=__proto__&model=/etc/passwd&top_k=7&prompt={quote(prompt)}")
    expect(page.locator(".toast-body")).to_contain_text("tab=<b>Chat, chapter=__proto__ and model=/etc/passwd")
    seen(page, "Chat", "attend-chat")
    expect(page.locator(BOX["Chat"])).to_have_value(prompt)
    expect(page).to_have_url(re.compile("method=Custom"))  # it is written anew, in one go
    assert parts(page) == {"method": "Custom", "top_k": "7", "prompt": prompt}
    page.locator("#attend-tabs label", has_text="Learn").click()
    expect(page).to_have_url(re.compile("chapter=tokens"))
    assert "prompt" not in parts(page)


def test_a_link_made_with_other_weights_says_so_and_runs_nothing(visit: Opener) -> None:
    page = visit("?model=attend-chat&weights=0123456789ab&prompt=Hi&seed=3")
    expect(page.locator(".toast-body")).to_contain_text("whose weights differ from those of attend-chat here")
    expect(page.locator(BOX["Chat"])).to_have_value("Hi")
    expect(page).not_to_have_url(re.compile("weights="))
    assert page.locator(".at-assistant:not(.at-recorded *)").count() == 0


def test_the_method_of_a_link_belongs_to_its_model_which_compare_takes_only_if_it_is_chosen(visit: Opener) -> None:
    page = visit("?tab=Translate&model=attend-translate&method=Greedy")
    seen(page, "Translate", "attend-translate")
    method = page.locator("#attend-method label.selected .at-name")
    expect(method).to_have_text("Greedy")
    page.locator("#attend-tabs label", has_text="Chat").click()
    seen(page, "Chat", "attend-chat")
    expect(method).to_have_text("Temperature")
    page.locator("#attend-tabs label", has_text="Translate").click()
    seen(page, "Translate", "attend-translate")
    page.locator("#attend-tabs label", has_text="Compare").click()
    seen(page, "Compare", "attend-chat")
    pick(page, "attend-translate")
    seen(page, "Compare", "attend-translate")


def test_a_folder_comes_back_after_a_reload_and_is_never_in_the_address(
    two_models: str, visit: Opener, tmp_path: Path, tiny_writer: LoadedModel
) -> None:
    folder = make_checkpoint(tmp_path / "secret" / "fox")
    page = visit(at=two_models)
    name_by_hand(page, str(folder))
    seen(page, "Chat", "fox")
    pick(page, tiny_writer.name)
    seen(page, "Write", tiny_writer.name)
    page.go_back()
    seen(page, "Chat", "fox")
    assert "fox" not in page.url
    reload(page)
    seen(page, "Chat", "fox")
    page.locator("#attend-code").click()
    link = page.locator(".attend-code section").first
    expect(link).to_contain_text("It can’t name your model")
    assert "fox" not in link.inner_text()
