"""Beam search in the inspector: the tree, the hypotheses of a step, and their outcomes."""

from __future__ import annotations

from typing import Any

from playwright import sync_api

from tests.helpers.stage import BROWSER, WORDS, Stage, inspector
from ui.inspector.inspector_contract import BeamRecord, DropRecord, SearchValue

pytestmark = BROWSER

# Tokens 2, 3 and 4 of WORDS lead: " I am a"; of the second row the first step's is dropped. Sums by hand; the text that
# ended has 3 tokens, and -1.5 / 3 = -0.5.
STEPS: list[list[BeamRecord]] = [
    [("I", -0.4, -0.4, -0.4, 0, None), ("You", -1.2, -1.2, -1.1, 0, None)],
    [(" am", -0.5, -0.9, -0.8, 0, None), (" was", -1.0, -1.4, -1.3, 0, None)],
    [(" a", -0.3, -1.2, -1.1, 0, None), (" the", -0.2, -1.6, -1.5, 1, None), (".", -0.6, -1.5, -1.4, 0, -0.5)],
]


# What the third step let go: the first step's second text, whose best continuation would have come to -1.6.
OUTSCORED: DropRecord = (0, 1, "outscored", -1.6, -1.4)
LEFT: list[DropRecord] = [(2, 0, "search over", -1.2, -1.0), (2, 1, "search over", -1.6, -1.0)]


def search(since: int = 0, end: int = 3, best: tuple[int, int] | None = None, *, over: bool = False) -> SearchValue:
    best = best or (end - 1, 0)
    return {
        "first": 2,
        "since": since,
        "steps": STEPS[since:end],
        "dropped": LEFT if over else [OUTSCORED],
        "best": best,
        "over": over,
        "returned": [best] if over else [],
    }


def rows(stage: Stage) -> list[list[str]]:
    read = "[...document.querySelectorAll('.at-beams tbody tr')].map((row) => [...row.cells].map((c) => c.textContent))"
    return stage.page.evaluate(read)


def outcomes(stage: Stage) -> Any:
    return stage.find(".at-beams tbody td:last-child")


def nodes(stage: Stage) -> dict[str, Any]:
    read = """Object.fromEntries([...document.querySelectorAll('.at-node')].map((node) =>
      [node.textContent, [...node.classList].filter((name) => /leads|survives|dropped/.test(name))[0]]))"""
    return stage.page.evaluate(read)


def test_the_texts_of_a_step_stand_best_first_with_what_became_of_them(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:5], search=search(), busy=True))
    sync_api.expect(outcomes(stage)).to_have_count(3)
    assert rows(stage) == [
        ["I am a", "−0.30", "−1.20", "−1.10", "", "#1", "in the lead"],
        ["I am.", "−0.60", "−1.50", "−1.40", "−0.50", "#1", "kept among the best"],
        ["I was the", "−0.20", "−1.60", "−1.50", "", "#2", "followed"],
    ]
    stage.page.get_by_role("button", name="Earlier token").click()
    sync_api.expect(outcomes(stage)).to_have_text(["in the lead", "followed"])
    stage.page.get_by_role("button", name="Earlier token").click()
    sync_api.expect(stage.find(".at-beams tbody tr").nth(1)).to_contain_text("outscored: −1.60, needed −1.40")


def test_of_a_long_text_the_table_shows_the_newest_token(stage: Stage) -> None:
    latin, hebrew = " something", " \u05de\u05e9\u05d4\u05d5"
    for word in (latin, hebrew):
        steps: list[list[BeamRecord]] = [[(word, -0.1, -0.1 * n, -0.1 * n, 0, None)] for n in range(1, 21)]
        value: SearchValue = {**search(), "steps": steps, "dropped": [], "best": (19, 0)}
        stage.show(inspector=inspector(["<s>", "Hi", *[word] * 20], search=value, run=word))
        last_word = """cell => {
          const text = cell.querySelector('.at-chip').firstChild, range = document.createRange();
          range.setStart(text, text.length - 4), range.setEnd(text, text.length);
          const [word, box] = [range.getBoundingClientRect(), cell.getBoundingClientRect()];
          return [cell.scrollWidth > cell.clientWidth, word.left - box.left, box.right - word.right];
        }"""
        sync_api.expect(stage.find(".at-beams tbody th")).to_contain_text(word.strip())
        cut, left, right = stage.find(".at-beams tbody th").evaluate(last_word)
        assert cut and left >= 0 and right >= 0, word
        assert (left > right) == (word is latin)  # it stands at its own language's end


def test_texts_returned_beside_the_best_say_so(stage: Stage) -> None:
    value: SearchValue = {**search(over=True), "dropped": [], "returned": [(2, 0), (2, 2), (2, 1)]}
    stage.show(inspector=inspector(WORDS[:5], search=value))
    sync_api.expect(outcomes(stage)).to_have_text(["returned, 1st of 3", "returned, 2nd of 3", "returned, 3rd of 3"])


def test_the_tree_shows_who_leads_who_survives_and_who_was_dropped(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:5], search=search(), busy=True))
    sync_api.expect(stage.find(".at-node")).to_have_count(7)
    assert nodes(stage) == {
        "I": "at-leads",
        "␣am": "at-leads",
        "␣a": "at-leads",
        "You": "at-dropped-beam",
        "␣was": "at-survives",
        "␣the": "at-survives",
        ".": "at-survives",
    }
    assert stage.find(".at-edge").count() == 2 + 3
    # the search returned the text that had ended: the other two were left
    stage.show(inspector=inspector(["<s>", "Hi", "I", " am", "."], since=3, search=search(2, 3, (2, 2), over=True)))
    unfinished = "unfinished when the search ended"
    sync_api.expect(outcomes(stage)).to_have_text([unfinished, "returned", unfinished])
    assert nodes(stage)["."] == "at-leads"


def test_the_tree_works_from_the_keyboard(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:5], search=search(), busy=True))
    sync_api.expect(stage.find(".at-node")).to_have_count(7)
    stage.find(".at-tree").focus()
    stage.page.keyboard.press("ArrowLeft")
    stage.page.keyboard.press("ArrowDown")
    status = stage.find(".at-tree-readout")
    sync_api.expect(status).to_have_text("␣was added −1.00, total −1.40: followed")
    stage.page.keyboard.press("Enter")
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 2 of 3")
    stage.find(".at-node").nth(0).hover()
    sync_api.expect(status).to_contain_text("I added −0.40")
    stage.find(".at-node").nth(0).click()
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 1 of 3")


def test_new_steps_are_appended_and_a_lost_one_is_requested(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:4], search=search(0, 2), busy=True))
    stage.show(inspector=inspector(WORDS[:5], since=4, search=search(2), busy=True))
    sync_api.expect(outcomes(stage)).to_have_count(3)
    stage.show(inspector=inspector(WORDS, run="r2", busy=True, search=search(0, 1)))
    stage.show(inspector=inspector(WORDS, run="r2", since=6, search=search(2)))
    assert stage.wait_for_events() == [("missing", {"run": "r2"})]


def test_no_beams_are_shown_where_none_were(stage: Stage) -> None:
    stage.show(inspector=inspector(WORDS[:5], search=search()))
    sync_api.expect(stage.find(".at-tree")).to_be_visible()
    stage.page.keyboard.press("Home")
    stage.find('.at-box[data-index="1"]').click()  # given: no search chose it
    sync_api.expect(stage.find(".at-tree")).to_be_hidden()
    stage.show(inspector=inspector(WORDS, run="r3"))
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")
    sync_api.expect(stage.find(".at-tree")).to_be_hidden()


def test_the_beams_fit_a_phone(phone: Stage) -> None:
    phone.show(inspector=inspector(WORDS[:5], search=search()))
    sync_api.expect(phone.find(".at-tree")).to_be_visible()
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    for selector in (".at-tree", ".at-beams-scroll", ".at-axis-columns", ".at-stages"):
        box = phone.find(selector).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, selector
