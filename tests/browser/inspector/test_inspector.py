"""The inspector in a real browser, fed values directly: what it draws, requests and leaves untouched."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright import sync_api

from tests.helpers.stage import BROWSER, WORDS, Stage, inspector
from tests.helpers.waiting import eventually

pytestmark = BROWSER


def test_the_newest_token_is_shown_with_its_table(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS, mode="compare"))  # where no token can be taken
    sync_api.expect(stage.find(".at-box[aria-selected=true]")).to_have_text(".")
    for part in ("Token 5 of 5", "25.00\u00a0%", "rank 2 of 4,096", "entropy 2.0 bits"):
        sync_api.expect(stage.find(".at-headline")).to_contain_text(part)
    read = "[...document.querySelectorAll('.at-table tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    cells = stage.page.evaluate(read)
    # 0.6 / 0.85 = 70.59 %, 0.25 / 0.85 = 29.41 %; the others have 0.4 - 0.25 - 0.00001
    assert cells == [
        ["␣better", "60.00\u00a0%", "70.59\u00a0%", "why?"],
        [". (chosen)", "25.00\u00a0%", "29.41\u00a0%", ""],
        ["␣removed", "<0.01\u00a0%", "removed by top-k", "why?"],
        ["4,093 others", "15.00\u00a0%", "0\u00a0%", ""],
    ]
    assert stage.find(".at-table thead th[scope=col]").count() == 4
    assert stage.find(".at-table tbody th[scope=row]").count() == 4


def test_a_token_that_ends_the_answer_is_not_the_newest(stage: Stage) -> None:
    value = inspector([*WORDS, "<end>"])
    value["kinds"][-1], value["labels"][str(value["ids"][-1])] = "control", "<end>"
    stage.show(inspector=value)
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 6")
    sync_api.expect(stage.find(".at-follow")).to_be_hidden()
    stage.page.get_by_role("button", name="Later token").click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 6 of 6")
    stage.page.get_by_role("button", name="Earlier token").click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 6")


@pytest.mark.parametrize(
    ("origin", "draw", "sentence"),
    [
        # 0.6 / 0.85 = 0.7059 is where the share of the token begins; greedy would have taken the other
        (
            "chosen",
            0.8,
            "Random draw 0.800 landed on . (0.706–1.000). Greedy decoding would choose ␣better.",
        ),
        (
            "chosen",
            None,
            "The most probable token was chosen; there was no random draw. Before the filters, the most probable was "
            "␣better.",
        ),
        (
            "given",
            None,
            "Part of the prompt, not generated. The model gave it 25.00\u00a0%, rank 2 of 4,096; the most likely was "
            "␣better.",
        ),
        ("taken", None, "Chosen by you. The model gave it 25.00\u00a0%, rank 2 of 4,096; the most likely was ␣better."),
        (
            "search",
            None,
            "Beam search ranks whole texts, not single tokens: of all the texts it followed, one with this token "
            "scored best. The model gave it 25.00\u00a0%, rank 2 of 4,096.",
        ),
    ],
)
def test_why_this_token_is_explained(stage: Stage, origin: Any, draw: float | None, sentence: str) -> None:
    value = inspector(WORDS, origin=origin)
    value["steps"][-1]["draw"] = draw
    stage.show(inspector=value)
    sync_api.expect(stage.find(".at-why")).to_have_text(sentence, use_inner_text=True)
    sync_api.expect(stage.find(".at-draw")).to_have_count(int(draw is not None))


def test_contrastive_search_shows_what_it_weighed(stage: Stage) -> None:
    value = inspector(WORDS)
    value["steps"][-1]["draw"] = None
    value["steps"][-1]["contrastive"] = [
        {"id": 900, "confidence": 0.6, "degeneration": 0.95, "score": -0.21},
        {"id": value["ids"][-1], "confidence": 0.25, "degeneration": 0.1, "score": 0.09},
    ]
    stage.show(inspector=value)
    sync_api.expect(stage.find(".at-why")).to_have_text(re.compile(r"^\. scored best of these candidates"))
    read = (
        "[...document.querySelectorAll('.at-contrastive tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    )
    assert stage.page.evaluate(read) == [
        ["␣better", "60.00\u00a0%", "0.950", "−0.210"],
        [".", "25.00\u00a0%", "0.100", "0.090"],
    ]
    sync_api.expect(stage.find(".at-contrastive tr.at-won th")).to_have_text(".")
    assert stage.find(".at-cumulative").count() == 0


def test_dola_shows_the_layer_and_how_far_each_is(stage: Stage) -> None:
    value = inspector(WORDS)
    value["steps"][-1]["contrast"] = {
        "layer": 2,
        "divergences": [{"layer": 0, "bits": 0.1}, {"layer": 2, "bits": 0.25}],
    }
    stage.show(inspector=value)
    for sentence in (
        "DoLa subtracted the prediction of layer 2",
        "it differs most from the last one, by 0.250 bits",
    ):
        sync_api.expect(stage.find(".at-reason")).to_contain_text(sentence, use_inner_text=True)
    read = "[...document.querySelectorAll('.at-contrast tbody tr')].map((r) => [...r.cells].map((c) => c.textContent))"
    assert stage.page.evaluate(read) == [["the embeddings", "0.100 bits"], ["layer 2", "0.250 bits"]]
    sync_api.expect(stage.find(".at-contrast tr.at-won th")).to_have_text("layer 2")
    # greedy decoding does not contrast layers, so its choice is not mentioned
    sync_api.expect(stage.find(".at-why").first).to_contain_text("The most probable token after DoLa was ␣better.")
    sync_api.expect(stage.find(".at-reason")).not_to_contain_text("Greedy")


def test_each_stage_is_explained(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    rows = stage.find(".at-stages tbody tr")
    sync_api.expect(rows).to_have_count(2)
    assert [rows.nth(i).inner_text().split() for i in range(rows.count())] == [
        ["model", "4,096", "0", "%", "2.00"],
        ["top-k", "2", "15.00", "%", "0.90"],
    ]
    rows.nth(0).focus()
    stage.page.keyboard.press("Tab")
    # 4,096 - 2 tokens, which held 1 - 0.85
    sentence = "Top-k removed 4,094 of 4,096 tokens, which had 15.00\u00a0% of the probability."
    sync_api.expect(stage.find(".at-filter-effect")).to_have_text(sentence)
    rows.nth(0).hover()
    # two bits are four equally likely tokens
    sync_api.expect(stage.find(".at-filter-effect")).to_contain_text(
        "as uncertain as a choice between 4.0 equally likely ones"
    )


def test_keys_and_clicks_select_without_the_server(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    stage.find('.at-box[data-index="3"]').click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 2 of 5")
    stage.page.keyboard.press("ArrowRight")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 3 of 5")
    stage.page.keyboard.press("Home")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Prompt token 1 of 2")
    stage.page.keyboard.press("End")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")
    assert stage.events == []
    stage.show(inspector=inspector(["<s>", "Hi", *[" word"] * 60], run="long"))
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 60 of 60")
    stage.find(".at-box[aria-selected='true']").focus()
    stage.page.keyboard.press("ArrowUp")
    sync_api.expect(stage.find(".at-headline")).not_to_contain_text("Token 60 of 60")
    stage.page.keyboard.press("ArrowDown")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 60 of 60")


def test_a_selection_stays_while_the_run_goes_on_until_it_follows_again(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:4], busy=True))
    sync_api.expect(stage.find(".at-follow")).to_be_hidden()
    stage.find('.at-box[data-index="2"]').click()
    stage.show(inspector=inspector(WORDS[:6], since=4, busy=True))
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 1 of 4")
    stage.find(".at-follow").click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 4 of 4")
    stage.show(inspector=inspector(WORDS, since=6))
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")


def test_an_update_adds_boxes_and_leaves_the_others_alone(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:4], busy=True))
    sync_api.expect(stage.find(".at-box")).to_have_count(4)
    stage.page.evaluate("document.querySelectorAll('.at-box').forEach((box) => { box.kept = true; })")
    stage.show(inspector=inspector(WORDS, since=3, busy=True))
    sync_api.expect(stage.find(".at-box")).to_have_count(7)
    kept = stage.page.evaluate("[...document.querySelectorAll('.at-box')].map((box) => Boolean(box.kept))")
    assert kept == [True] * 4 + [False] * 3
    assert stage.page.evaluate("[...document.querySelectorAll('.at-box')].map((box) => box.textContent)")[4:] == [
        "a",
        "fox",
        ".",
    ]


def test_a_beam_that_changes_its_mind_replaces_the_end(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS, busy=True))
    stage.show(inspector=inspector([*WORDS[:4], " the", " end"], since=4, busy=True))
    sync_api.expect(stage.find(".at-box")).to_have_text(["<s>", "Hi", "I", "am", "the", "end"])
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 4 of 4")


def test_a_map_of_the_newest_rows_is_completed_once_it_is_pointed_at(fresh: Stage) -> None:
    value = inspector(WORDS, first=1, mode="write")
    newest = value["rows"][-1:]
    fresh.show(inspector={**value, "rows": newest, "rows_from": len(WORDS) - 2})
    fresh.find(".at-canvas").hover()
    fresh.find(".at-box").first.click()  # whose column needs all rows, which are on their way
    assert fresh.wait_for_events() == [("missing", {"run": "r1"})]
    fresh.show(inspector=value)
    sync_api.expect(fresh.find(".at-attended li")).to_have_count(5)
    fresh.find(".at-canvas").hover()
    assert len(fresh.events) == 1


def test_a_lost_update_is_requested_once_the_run_is_over(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:3], busy=True))
    sync_api.expect(stage.find(".at-box")).to_have_count(3)
    stage.show(inspector=inspector(WORDS, since=5, busy=True))
    assert stage.find(".at-box").count() == 3
    stage.show(inspector=inspector(WORDS, since=6))
    assert stage.wait_for_events() == [("missing", {"run": "r1"})]
    stage.show(inspector=inspector(WORDS))
    sync_api.expect(stage.find(".at-box")).to_have_count(len(WORDS))


def test_an_update_that_comes_late_brings_back_no_other_run(fresh: Stage) -> None:
    fresh.show(inspector=inspector(WORDS, number=2))
    sync_api.expect(fresh.find(".at-box")).to_have_count(len(WORDS))
    fresh.show(inspector=inspector(["<s>"], run="begun before", number=1))
    assert fresh.find(".at-box").count() == len(WORDS)
    fresh.show(inspector=inspector(["<s>"], run="begun after", number=3))
    sync_api.expect(fresh.find(".at-box")).to_have_count(1)


def test_a_token_is_used_by_a_button_that_the_keyboard_reaches_at_any_width(phone: Stage) -> None:
    phone.show(inspector=inspector(WORDS))
    use, why = (phone.find(".at-table").get_by_role("button", name=name).first for name in ("use", "why"))
    for width in (1340, 344, 390):  # beside the map, as on a page of 320 pixels, and on a phone
        phone.page.set_viewport_size({"width": width, "height": 844})
        sync_api.expect(use).to_be_visible()
        why.focus()
        phone.page.keyboard.press("Tab")
        sync_api.expect(use).to_be_focused()
        table, column = (phone.find(selector).bounding_box() for selector in (".at-table", ".at-table-pane"))
        assert table["x"] + table["width"] <= column["x"] + column["width"] + 1, width


def test_the_buttons_of_a_candidate_cover_none_of_its_numbers(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    row = stage.find(".at-takeable").first
    row.hover()
    sync_api.expect(stage.find(".at-take-hint")).to_be_visible()  # "use" is hidden beside the map
    share, why = row.locator(".at-share").last.bounding_box(), row.get_by_role("button", name="why").bounding_box()
    assert share["x"] + share["width"] <= why["x"]


def test_in_write_and_chat_a_row_takes_its_token(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS, mode="write"))
    stage.find(".at-table tbody tr").nth(0).click()
    assert stage.wait_for_events() == [("take", {"index": 6, "token": 900})]
    stage.show(inspector=inspector(WORDS, run="r2", mode="chat"))
    stage.find(".at-table tbody tr").nth(0).click()
    assert stage.wait_for_events(2)[1:] == [("branch", {"run": "r2", "index": 6, "token": 900})]
    stage.show(inspector=inspector(WORDS, run="r3", mode="compare"))
    sync_api.expect(stage.find(".at-takeable")).to_have_count(0)
    stage.find(".at-table tbody tr").nth(0).click()
    stage.show(inspector=inspector(WORDS, run="r4"))  # the server has answered: it would have heard the click before
    assert len(stage.events) == 2


def test_the_numbers_can_be_copied(stage: Stage) -> None:
    stage.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    stage.show(inspector=inspector(["<s>", "Hi", '=1+"1"\n']))
    stage.find(".at-data summary").click()
    stage.find(".at-sheet button").nth(0).click()
    sync_api.expect(stage.find(".at-copied")).to_be_visible()
    lines = stage.page.evaluate("navigator.clipboard.readText()").splitlines()
    assert lines[0] == "id,token,model,top-k,outcome"
    assert lines[2] == r'2,"""=1+\""1\""\n""",0.25,0.294118,chosen'


def test_a_new_run_may_come_before_the_last_one_is_drawn(fresh: Stage) -> None:
    faults: list[str] = []
    fresh.page.on("pageerror", lambda error: faults.append(str(error)))
    fresh.page.evaluate(
        """() => { // frames come when the test says so, and no time passes between the two values
      window.held = [];
      window.requestAnimationFrame = (draw) => window.held.push(draw);
      performance.now = () => 1e6;
    }"""
    )
    # Every page begins with one value, so the first here is number 2.
    for number, (name, words) in enumerate((("first", WORDS), ("second", WORDS[:4])), start=2):
        fresh.value = {"inspector": {**inspector(words, busy=True), "run": name}}
        fresh.page.click("#show")
        fresh.page.wait_for_function(f"document.querySelector('#count input').value === '{number}'", polling=5)
    fresh.page.evaluate("window.held.splice(0).forEach((draw) => draw(0))")
    sync_api.expect(fresh.find(".at-box")).to_have_count(4)
    assert faults == []


def test_a_text_that_grows_for_less_than_a_drawing_says_so_too(fresh: Stage) -> None:
    fresh.page.evaluate(
        """async () => {
      const loaded = performance.getEntriesByType('resource').map(({ name }) => name);
      const { settledText } = await import(loaded.find((name) => name.endsWith('/signals.js')));
      window.growing = [];
      settledText.subscribe(null, ({ kind, isGrowing }) => kind === 'write' && window.growing.push(isGrowing));
      performance.now = () => 1e6; // no time passes, so that the text has come to rest before it is due to be drawn
      const soon = window.setTimeout;
      window.setTimeout = (act, delay, ...rest) => delay === 200 ? 0 : soon(act, delay, ...rest);
    }"""
    )
    for number, (count, busy) in enumerate(((4, False), (5, True), (6, False)), start=2):
        fresh.value = {"inspector": {**inspector(WORDS[:count], busy=busy), "mode": "write"}}
        fresh.page.click("#show")
        fresh.page.wait_for_function(f"document.querySelector('#count input').value === '{number}'")
    eventually(lambda: fresh.page.evaluate("window.growing") == [False, True, False])
