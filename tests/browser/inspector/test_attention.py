"""Attention in the inspector, in a real browser: the tokens attended to, the map with its axes, and the colours."""

from __future__ import annotations

import re

from playwright import sync_api

from tests.helpers.stage import BROWSER, HEADS, LAYERS, WORDS, Stage, conversation, inspector, turn
from tests.helpers.visitor import wait_for_drawing

pytestmark = BROWSER


def test_what_was_looked_at_is_listed_and_the_sink_can_be_hidden(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    # the query of token 6 is token 5; it looks at 0 and at 4, one half each; bytes make 50 % of a half exactly
    attended = stage.find(".at-attended li")
    sync_api.expect(attended).to_have_count(2)
    assert [attended.nth(i).inner_text().split() for i in range(attended.count())] == [
        ["<s>", "50.00", "%"],
        ["␣a", "50.00", "%"],
    ]
    tick = stage.find(".at-sink input")
    tick.check()
    assert tick.evaluate("(box) => getComputedStyle(box).appearance") == "auto"  # a tick that can be seen in any theme
    sync_api.expect(attended).to_have_count(1)
    stage.find(".at-attended li button").click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 3 of 5")
    tick.uncheck()


def test_a_prompt_token_says_which_tokens_attended_to_it_most(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    stage.find('.at-box[data-index="1"]').click()
    sync_api.expect(stage.find(".at-no-map")).to_have_text("This token was attended to most when choosing:")
    # query 2, which chose token 3, is the only one that looks at token 1, with one half
    attended = stage.find(".at-attended li")
    sync_api.expect(attended).to_have_count(1)
    sync_api.expect(attended.locator(".at-number")).to_have_text("50.00\u00a0%")
    stage.find(".at-colours .at-switch label").nth(1).click()
    sync_api.expect(stage.find('.at-box[data-index="3"]')).to_have_attribute("data-attention", "10")
    sync_api.expect(stage.find('.at-box[data-index="4"]')).to_have_attribute("data-attention", "0")
    attended.locator("button").click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 2 of 5")
    stage.find('.at-box[data-index="0"]').click()
    sync_api.expect(stage.find(".at-attended li")).to_have_count(5)  # all attend to the first token
    # the strongest is query 1, both of whose halves are there; a byte can't tell all from nearly all
    numbers = [">99.99\u00a0%", *["50.00\u00a0%"] * 4]
    sync_api.expect(stage.find(".at-attended li .at-number")).to_have_text(numbers)
    stage.find(".at-colours .at-switch label").first.click()


def test_the_prompt_of_an_answer_is_explained_once_it_is_asked_about(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS, first=4, run="explained"))
    stage.find('.at-box[data-index="2"]').click()
    stage.find('.at-box[data-index="1"]').click()
    assert stage.wait_for_events() == [("explain", {"run": "explained"})]  # once, and for no other reason
    sync_api.expect(stage.find(".at-facts")).to_have_text("part of the prompt, not generated")
    steps = inspector(WORDS, first=1)["steps"][:3]
    stage.show(inspector=inspector(WORDS, first=4, since=5, run="explained", prompt_steps=steps))
    # of the choice: 25 %, with a better one; eleven shades by the square root: 10 · √0.25 = 5
    sync_api.expect(stage.find(".at-facts")).to_contain_text("25.00\u00a0% · rank 2 of 4,096")
    for number in (1, 2, 3):
        sync_api.expect(stage.find(f'.at-box[data-index="{number}"]')).to_have_attribute("data-level", "5")
    assert stage.find('.at-box[data-index="0"]').get_attribute("data-level") is None
    assert stage.find(".at-table button").count() == 0  # a token of the prompt can't be exchanged
    sync_api.expect(stage.find(".at-no-map")).to_have_text("This token was attended to most when choosing:")


def test_the_map_reads_out_its_cells_and_selects_rows(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    canvas, readout = stage.find(".at-canvas"), stage.find(".at-readout")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")  # in whose frame the map is drawn
    box = canvas.bounding_box()
    # 5 passes (queries 1 to 5) by 6 keys: the middle of the last row's fifth column is key 4
    position = {"x": box["width"] * 4.5 / 6, "y": box["height"] * 4.5 / 5}
    canvas.hover(position=position)
    sync_api.expect(readout).to_have_text("␣fox → ␣a: 50.00\u00a0%, when choosing .")
    canvas.click(position={"x": 3, "y": box["height"] * 2.5 / 5})
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 3 of 5")
    canvas.focus()
    stage.page.keyboard.press("ArrowUp")
    sync_api.expect(readout).to_have_text(re.compile("^I → "))


def test_a_growing_text_moves_neither_the_scale_of_the_map_nor_the_panels(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:4], busy=True))
    headline = sync_api.expect(stage.find(".at-headline"))  # what else depends on a token is drawn in the same frame
    headline.to_contain_text("Token 2 of 2")
    scale = stage.find(".at-map-foot .at-legend").inner_text()
    top = stage.find(".at-step").bounding_box()["y"]
    stage.find('.at-box[data-index="2"]').click()
    stage.show(inspector=inspector([*WORDS, *[" on"] * 20], since=4, busy=True))
    headline.to_contain_text("Token 1 of 25")
    assert stage.find(".at-map-foot .at-legend").inner_text() == scale == "0\n≥\u00a040\u00a0%"
    stage.show(inspector=inspector(WORDS))
    headline.to_contain_text("Token 1 of 5")
    for mode in (1, 2, 0):
        stage.find(".at-colours .at-switch label").nth(mode).click()
        wait_for_drawing(stage.page)
        assert stage.find(".at-step").bounding_box()["y"] == top


def test_the_axes_of_the_map_name_tokens(stage: Stage) -> None:
    """The axes are canvases, so their labels are counted as runs of painted pixels."""
    stage.show(inspector=inspector(WORDS))
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")  # in whose frame the axes are drawn
    ink = """(selector) => {
      const axis = document.querySelector(selector);
      const { data, width, height } = axis.getContext('2d').getImageData(0, 0, axis.width, axis.height);
      const across = Array(width).fill(0), down = Array(height).fill(0);
      for (let i = 3; i < data.length; i += 4) {
        if (!data[i]) continue;
        across[((i - 3) / 4) % width] += 1;
        down[Math.floor((i - 3) / 4 / width)] += 1;
      }
      const lines = (ink) => ink.filter((dots, index) => dots && !ink[index - 1]).length;
      return selector.includes('rows') ? lines(down) : lines(across);
    }"""
    # the lower mark of a space may stand apart from its word, so there are at least as many lines as tokens
    assert stage.page.evaluate(ink, ".at-axis-rows") >= 5
    assert stage.page.evaluate(ink, ".at-axis-columns") >= 6


def test_the_selected_row_stays_in_sight_when_the_map_gets_higher(stage: Stage) -> None:
    stage.show(inspector=inspector([*WORDS, *[" on"] * 120]))  # 125 rows, of which 64 are in sight
    stage.find('.at-box[data-index="100"]').click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 99 of 125")
    sync_api.expect(stage.find(".at-map .at-readout")).to_contain_text("scroll for the rest")
    stage.page.set_viewport_size({"width": 2000, "height": 900})
    stage.page.wait_for_function("""() => {
      const { scrollTop, clientHeight, scrollHeight } = document.querySelector('.at-map-scroll');
      const row = (98 / 125) * scrollHeight;
      return clientHeight > 250 && scrollTop <= row && row < scrollTop + clientHeight;
    }""")
    stage.page.set_viewport_size({"width": 1440, "height": 900})


def test_layers_and_heads_can_be_chosen(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS))
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")
    options = stage.page.evaluate(
        "[...document.querySelectorAll('.at-map-pane select:not([hidden])')].map((s) => s.options.length)"
    )
    assert options == [LAYERS + 1, HEADS + 1]
    stage.find('select[aria-label="Layer"]').select_option("1")
    stage.find('select[aria-label="Head"]').select_option("2")
    sync_api.expect(stage.find(".at-map .at-readout")).to_have_text("layer 2, head 3")
    sync_api.expect(stage.find(".at-attended li")).to_have_count(2)
    for name in ("Layer", "Head"):
        stage.find(f'select[aria-label="{name}"]').select_option("-1")


def test_the_colour_switch_is_for_both_and_is_remembered(fresh: Stage) -> None:
    text = "".join(WORDS[2:])
    fresh.show(conversation=conversation(turn("assistant", text, WORDS[2:])), inspector=inspector(WORDS))
    fresh.find(".at-colours .at-switch label").nth(1).click()
    # token 6 was chosen looking at 0 and 4; the shade is relative to the strongest but for the first
    sync_api.expect(fresh.find('.at-box[data-index="4"]')).to_have_attribute("data-attention", "10")
    sync_api.expect(fresh.find(".at-tok").nth(2)).to_have_attribute("data-attention", "10")
    sync_api.expect(fresh.find(".at-tok").nth(1)).to_have_attribute("data-attention", "0")
    fresh.find(".at-colours .at-switch label").nth(2).click()
    modes = "[...document.querySelectorAll('[data-colour]')].map((node) => node.dataset.colour)"
    assert fresh.page.evaluate(modes) == ["off", "off"]
    fresh.page.reload()
    fresh.page.wait_for_function(f"String({modes}) === 'off,off'")


def test_given_tokens_are_underlined_in_their_colour_where_there_is_one(stage: Stage) -> None:
    value = inspector(WORDS, first=4, mode="write")
    value["probabilities"][2] = 0.25
    stage.show(inspector=value)
    # eleven shades by the square root: 10 · √0.25 = 5
    sync_api.expect(stage.find('.at-box[data-index="2"]')).to_have_attribute("data-level", "5")
    paint = """(index) => {
      const style = getComputedStyle(document.querySelector(`.at-box[data-index="${index}"]`));
      return [style.backgroundColor, style.backgroundImage];
    }"""
    colour, image = stage.page.evaluate(paint, 4)
    assert stage.page.evaluate(paint, 2) == ["rgba(0, 0, 0, 0)", f"linear-gradient({colour} 0px, {colour} 0px)"]
    assert image == "none"
    assert stage.find('.at-box[data-index="1"]').get_attribute("data-level") is None
