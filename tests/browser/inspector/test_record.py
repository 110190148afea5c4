"""Saved runs and "What if?" in a real browser: asking, saving a run, and opening the file again."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from decoding.counterfactual import Counterfactual, choose_again
from decoding.settings import DecodingSettings
from model import names
from model.loaded import LoadedModel
from tests.helpers.browsing import Opener, serving, until_held
from tests.helpers.stage import BROWSER
from tests.helpers.visitor import WITH_TEXT, choose, rest, say, send, set_number, to_empty_chat, to_write
from tests.helpers.waiting import Gate, steps_of
from ui.examples.recorded import MODELS
from ui.runs.models import Models
from ui.runs.traces import new_trace

pytestmark = BROWSER


@pytest.fixture(scope="module")
def gate() -> Gate:
    return Gate()


@pytest.fixture(scope="module")
def url(tiny: LoadedModel, gate: Gate) -> Iterator[str]:
    with serving(tiny, gate=gate) as address:
        yield address


@pytest.fixture
def page(shared_page: Page, gate: Gate) -> Page:
    """A page without a conversation, with its settings as they were."""
    gate.open()
    to_empty_chat(shared_page)
    shared_page.locator(".at-whatif").evaluate("fold => { fold.open = false; }")
    shared_page.locator(".toast-close").evaluate_all("all => all.forEach((one) => one.click())")
    choose(shared_page, "Custom")
    set_number(shared_page, "max-new-tokens", 12)
    return shared_page


def saved(page: Page) -> dict[str, Any]:
    with page.expect_download() as download:
        page.get_by_role("button", name="Save run").click()
    document = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
    settings = document["settings"]
    seed = "" if document["seed"] is None else f"-{document['seed']}"
    words = re.sub(r"[^a-z]+", "-", document["prompt"]["text"].lower()).strip("-")
    assert download.value.suggested_filename == f"tiny-chat-{words}-{settings['strategy']}{seed}.json"
    return document


def directly(tiny: LoadedModel, document: dict[str, Any], **changes: float) -> Counterfactual:
    """Repeat the saved run from its prompt and seed, and ask `decoding.counterfactual` directly."""
    settings = DecodingSettings.from_dict(document["settings"])
    models = Models((tiny.name,), lambda name, _: tiny)
    prompt = tuple(document["prompt"]["ids"])
    trace = new_trace(tiny, prompt, settings, text="", draws_used=document.get("drawn", 0))
    trace.collect(steps_of(models.decode(trace.call())))
    assert list(trace.ids) == document["ids"]
    return choose_again(
        tiny.model, trace.request, trace.choices(), DecodingSettings.from_dict({**settings.to_dict(), **changes})
    )


def agrees(page: Page, tiny: LoadedModel, document: dict[str, Any], result: Counterfactual, having: str) -> None:
    """The page shows the same sentence and marks as the direct answer."""
    index = result.first_difference
    expect(page.locator(".at-verdict")).to_contain_text(having)
    if index is None:
        expect(page.locator(".at-verdict")).to_have_text(f"{having}, all {len(document['ids'])} tokens stay the same.")
    else:
        token, other = document["ids"][index], result.choices[index].token
        stay = {0: "the first token is", 1: "the first token stays the same; then"}
        words = f"{having}, {stay.get(index, f'the first {index} tokens stay the same; then')}"
        expect(page.locator(".at-verdict")).to_contain_text(words)
        chips = page.locator(".at-verdict .at-chip").all_inner_texts()
        assert [chip.replace("\u2423", " ").replace("\u21b5", "\n") for chip in chips] == [
            tiny.tokenizer.label(id) for id in (other, token)
        ]
    expect(page.locator(".at-then")).to_have_count(len(document["ids"]))
    marks = page.locator(".at-then").evaluate_all("all => all.map((one) => one.className.split(' '))")
    differs = [index for index, classes in enumerate(marks) if "at-differs" in classes]
    ids = document["ids"]
    assert differs == [index for index, choice in enumerate(result.choices) if choice.token != ids[index]]
    first = [index for index, classes in enumerate(marks) if "at-first-difference" in classes]
    assert first == ([] if index is None else [index])
    supposed = [number for number, classes in enumerate(marks) if "at-supposed" in classes]
    assert supposed == ([] if index is None else list(range(index + 1, len(ids))))


def test_what_would_have_changed_an_answer(page: Page, tiny: LoadedModel) -> None:
    say(page, "How are you today?")
    document = saved(page)
    page.locator(".at-whatif summary").click()
    expect(page.locator(".at-verdict")).to_contain_text("With its original settings")
    heat = page.locator(".at-slider", has_text="Temperature").locator("input")
    assert float(heat.input_value()) == document["settings"]["temperature"]
    page.get_by_role("button", name="1.5", exact=True).click()
    agrees(page, tiny, document, directly(tiny, document, temperature=1.5), "With temperature 1.5")
    page.locator(".at-slider", has_text="Top-k").locator("input").press("Home")  # 0: all
    result = directly(tiny, document, temperature=1.5, top_k=0)
    agrees(page, tiny, document, result, "With temperature 1.5 and top-k 0")
    index = result.first_difference or 0
    page.locator(".at-then").nth(index).click()
    expect(page.locator(".at-headline")).to_contain_text(f"Token {index + 1} of")
    expect(page.locator(".at-then.at-shown")).to_have_count(1)
    expect(page.locator(".at-then").nth(index)).to_have_class(re.compile("at-shown"))
    page.get_by_role("button", name="original").click()
    expect(page.locator(".at-verdict")).to_contain_text("With its original settings")
    assert page.evaluate("document.scrollingElement.scrollWidth <= window.innerWidth")


def test_what_is_pressed_before_the_reply_to_the_press_before_counts(page: Page) -> None:
    def press(*targets: Locator) -> list[Route]:
        """Click on one after the other, and hold what each of them sends."""
        held: list[Route] = []

        def hold(route: Route) -> None:
            is_of_run = re.search('"(run|turn)":', route.request.post_data or "")  # not what keeps the conversation
            if is_of_run:
                held.append(route)
            else:
                route.continue_()

        page.route("**/queue/join*", hold)
        for count, target in enumerate(targets, start=1):
            target.click()
            # Playwright calls `hold` while it waits for a page's answer, such as its title.
            until_held(page, held, count)
        return held

    for text in ("Hello", "And you?", "And now?"):
        say(page, text)
    answers = page.locator(".at-assistant")
    tokens = (answers.nth(number).locator(WITH_TEXT).first for number in (0, 1))
    for number, route in enumerate(press(*tokens)):
        route.continue_()
        expect(answers.nth(number).locator(".at-tok.at-shown")).to_have_count(1)
    save = page.get_by_role("button", name="Save run")
    with page.expect_download():
        for route in press(save, save):
            route.continue_()
    page.unroute_all()
    page.locator(".at-whatif summary").click()
    expect(page.locator(".at-verdict")).to_contain_text("With its original settings")
    held = press(page.get_by_role("button", name="1.5", exact=True))
    page.get_by_role("button", name="0.5", exact=True).click()
    held[0].continue_()
    until_held(page, held, 2)  # the second follows the reply to the first
    held[1].continue_()
    expect(page.locator(".at-verdict")).to_contain_text("With temperature 0.5")
    page.unroute_all()


def test_after_a_refusal_the_answer_before_is_shown_again(page: Page) -> None:
    say(page, "Hello")
    page.locator(".at-whatif summary").click()
    verdict = page.locator(".at-verdict")
    expect(verdict).to_contain_text("With its original settings")
    heat = page.locator(".at-slider", has_text="Temperature").locator("input")
    before = heat.input_value()
    held: list[tuple[Route, str]] = []

    def hold(route: Route) -> None:
        data = route.request.post_data or ""
        if '"temperature":1.5' in data:
            held.append((route, data.replace('"temperature":1.5', '"temperature":99')))
        else:
            route.continue_()

    page.route("**/queue/join*", hold)
    page.get_by_role("button", name="1.5", exact=True).click()
    expect(verdict).to_have_text("Asking the model…")
    until_held(page, held, 1)
    [(route, refused)] = held
    route.continue_(post_data=refused)
    expect(verdict).to_contain_text("With its original settings")
    assert heat.input_value() == before
    page.unroute_all()


def test_it_follows_the_run_that_is_shown_and_rests_while_the_model_writes(page: Page, gate: Gate) -> None:
    say(page, "Hello")
    page.locator(".at-whatif summary").click()
    expect(page.locator(".at-then")).not_to_have_count(0)
    gate.close()
    send(page, "How are you?")
    expect(page.locator(".at-whatif.at-resting")).to_have_count(1)
    expect(page.get_by_role("button", name="Save run")).to_be_disabled()
    expect(page.locator(".at-then")).to_have_count(0)
    gate.open()
    rest(page)
    count = page.locator(".at-assistant").last.locator(".at-tok").count()
    expect(page.locator(".at-then")).not_to_have_count(0)
    assert count <= page.locator(".at-then").count() <= count + 1  # the end token has no text
    page.locator("#attend-clear").click()
    expect(page.locator(".at-whatif")).to_be_hidden()


@pytest.mark.skipif(not set(MODELS) <= set(names.embedded()), reason="the embedded models are not there")
def test_no_what_if_is_asked_about_an_example(embedded_url: str, visit: Opener) -> None:
    page = visit("?method=Greedy&max_new_tokens=4", at=embedded_url)
    say(page, "Hello")
    page.locator(".at-whatif summary").click()
    expect(page.locator(".at-then")).not_to_have_count(0)
    requests: list[str] = []
    page.on("request", lambda one: requests.append(one.post_data or "") if "queue/join" in one.url else None)
    page.locator("#attend-clear").click()
    expect(page.locator(".attend-inspector .at-example-note:visible")).to_have_count(1)
    expect(page.locator(".at-whatif")).to_be_hidden()
    rest(page)
    assert requests and not [data for data in requests if '"settings":{}' in data]


def test_a_what_if_can_be_computed_and_browsed_by_keyboard(page: Page, tiny: LoadedModel) -> None:
    to_write(page)
    page.locator("#attend-text textarea").fill("The quick")
    page.locator("#attend-continue").click()
    expect(page.locator("#attend-text textarea")).not_to_have_value("The quick")  # a short text shows no Stop for long
    rest(page)
    document = saved(page)
    assert document["prompt"]["text"] == "The quick"
    page.locator(".at-whatif summary").focus()
    page.keyboard.press("Enter")
    expect(page.locator(".at-then")).to_have_count(len(document["ids"]))
    page.locator(".at-then[tabindex='0']").focus()
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    last = len(document["prompt"]["ids"]) + len(document["ids"]) - 1
    expect(page.locator(".at-box").nth(last)).to_have_attribute("aria-selected", "true")


def test_a_saved_search_shows_its_tree_and_its_texts_again(page: Page, tmp_path: Path) -> None:
    choose(page, "Beam search")
    set_number(page, "max-new-tokens", 6)
    say(page, "How are you today?")
    page.locator(".at-box").last.click()  # the last step's
    expect(page.locator(".at-box").last).to_have_attribute("aria-selected", "true")
    expect(page.locator(".at-headline")).to_contain_text(re.compile(r"Token (\d+) of \1\b"))  # and its beams are drawn
    cells = page.locator(".at-beams tbody").inner_text()
    nodes = page.locator(".at-node").all_text_contents()
    assert cells and nodes
    file = tmp_path / "run.json"
    file.write_text(json.dumps(saved(page)), encoding="utf-8")
    page.locator(".attend-record input[type=file]").set_input_files(file)
    expect(page.locator(".at-record-bar")).to_contain_text("Opened from a file.")
    banner = page.locator(".at-opened")
    expect(banner).to_contain_text("You’re viewing run.json, a saved run.")
    expect(banner).to_be_in_viewport()
    page.locator(".at-box").last.click()
    expect(page.locator(".at-node")).to_have_text(nodes)
    expect(page.locator(".at-beams tbody")).to_have_text(cells, use_inner_text=True)
    banner.get_by_role("button", name="Close file").click()
    expect(page.locator(".at-record-bar")).not_to_contain_text("Opened from a file.")
    expect(banner).to_be_hidden()
    expect(page.locator(".at-box").first).to_be_visible()  # its own run again


def test_attention_that_is_too_large_to_be_sent_is_shown_all_the_same(page: Page, tmp_path: Path) -> None:
    say(page, "How are you today?")
    document = saved(page)
    before = len(document["prompt"]["ids"]) + len(document["ids"]) - len(document["steps"])
    attention = {"layers": 60, "heads": 80}  # a few hundred thousand bytes a row
    rows = (bytes(60 * 80 * (before + number)) for number in range(len(document["steps"])))
    document["attention"] = {**attention, "rows": [base64.b64encode(row).decode() for row in rows]}
    file = tmp_path / "run.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    assert file.stat().st_size > 1_000_000  # bytes, which the server takes in a request
    page.locator(".attend-record input[type=file]").set_input_files(file)
    expect(page.locator(".at-record-bar")).to_contain_text("Opened from a file.")
    expect(page.locator(".at-map-pane select").filter(has_text="all layers").locator("option")).to_have_count(1 + 60)


def test_a_saved_run_is_shown_again_without_a_model(page: Page, tmp_path: Path) -> None:
    say(page, "How are you today?")
    document = saved(page)
    first = document["steps"][0]
    file = tmp_path / "run.json"
    document["labels"][str(first["candidates"][1]["id"])] = hostile = "<img src=x onerror=alert(1)>"
    file.write_text(json.dumps(document), encoding="utf-8")
    chooser = page.locator(".attend-record input[type=file]")
    chooser.set_input_files(file)
    expect(page.locator(".at-record-bar")).to_contain_text("Opened from a file.")
    prompt_length, tokens = len(document["prompt"]["ids"]), len(document["prompt"]["ids"]) + len(document["ids"])
    expect(page.locator(".at-box")).to_have_count(tokens)
    page.locator(".at-box").nth(prompt_length).click()
    expect(page.locator(".at-map canvas, canvas.at-canvas").first).to_be_visible()  # of the attention in the file
    expect(page.locator(".at-table")).to_contain_text(hostile)
    assert page.locator("#attend-main img").count() == 0
    file.write_text("nonsense", encoding="utf-8")
    chooser.set_input_files(file)
    expect(page.locator(".at-record-bar")).to_contain_text("Opened from a file.")  # of the run that is still shown
    expect(page.locator(".toast-body").last).to_be_visible()
    expect(page.locator(".at-box")).to_have_count(tokens)  # what was shown stays
    page.locator(".at-assistant .at-tok:not(:empty)").first.click()
    expect(page.locator(".at-record-bar")).not_to_contain_text("Opened from a file.")
