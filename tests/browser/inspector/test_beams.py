"""Beam search in the inspector: the tree, the hypotheses of a step, and their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from playwright import sync_api

from decoding.run.run_document import BeamEntry, DropEntry, SearchEntry
from decoding.step import DropReason
from tests.helpers.stage import BROWSER, WORDS, Stage, inspector
from ui.inspector.inspector_contract import InspectorValue, SearchValue

pytestmark = BROWSER

# Tokens 2, 3 and 4 of WORDS lead: " I am a"; of the second row the first step's is dropped. Sums by hand; the text that
# ended has 3 tokens, and -1.5 / 3 = -0.5.
TEXTS = ("I", "You", " am", " was", " a", " the", ".", " something", " \u05de\u05e9\u05d4\u05d5")
LABELS = {str(1000 + number): text for number, text in enumerate(TEXTS)}


def beam(text: str, added: float, score: float, own: float, parent: int = 0, final: float | None = None) -> BeamEntry:
    return {
        "id": 1000 + TEXTS.index(text),
        "parent": parent,
        "score": score,
        "step_score": added,
        "log_probability": own,
        "final_score": final,
        "finish_reason": None if final is None else "stop",
        "group": 0,
    }


BEAMS = [
    [beam("I", -0.4, -0.4, -0.4), beam("You", -1.2, -1.2, -1.1)],
    [beam(" am", -0.5, -0.9, -0.8), beam(" was", -1.0, -1.4, -1.3)],
    [beam(" a", -0.3, -1.2, -1.1), beam(" the", -0.2, -1.6, -1.5, 1), beam(".", -0.6, -1.5, -1.4, 0, -0.5)],
]


def drop(step: int, index: int, reason: DropReason, score: float, to_beat: float) -> DropEntry:
    return {"step": step, "index": index, "reason": reason, "row": None, "score": score, "to_beat": to_beat}


# What the third step let go: the first step's second text, whose best continuation would have come to -1.6.
OUTSCORED = drop(0, 1, "outscored", -1.6, -1.4)
LEFT = [drop(2, 0, "search over", -1.2, -1.0), drop(2, 1, "search over", -1.6, -1.0)]


def search(
    since: int = 0, end: int = 3, best: int = 0, *, over: bool = False, returned: Sequence[int] = ()
) -> SearchValue:
    """
    Args:
        best: the index of the last step's best text.
        returned: those of the texts that are returned; the best one alone where the search is over.
    """
    steps: list[SearchEntry] = [
        {"beams": beams, "best": {"step": number, "index": 0}, "returned": [], "dropped": []}
        for number, beams in enumerate(BEAMS[since:end], start=since)
    ]
    steps[-1]["best"] = {"step": end - 1, "index": best}
    steps[-1]["dropped"] = LEFT if over and not returned else [] if returned else [OUTSCORED]
    places = returned or ([best] if over else [])
    steps[-1]["returned"] = [{"step": end - 1, "index": index} for index in places]
    return {"first": 2, "since": since, "steps": steps}


def searched(words: list[str], value: SearchValue, **changes: Any) -> InspectorValue:
    inspector_value = inspector(words, search=value, **changes)
    inspector_value["labels"] |= LABELS
    return inspector_value


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
    stage.show(inspector=searched(WORDS[:5], search(), busy=True))
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
        steps: list[SearchEntry] = [
            {
                "beams": [beam(word, -0.1, -0.1 * n, -0.1 * n)],
                "best": {"step": n - 1, "index": 0},
                "returned": [],
                "dropped": [],
            }
            for n in range(1, 21)
        ]
        value: SearchValue = {"first": 2, "since": 0, "steps": steps}
        stage.show(inspector=searched(["<s>", "Hi", *[word] * 20], value, run=word))
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
    stage.show(inspector=searched(WORDS[:5], search(over=True, returned=(0, 2, 1))))
    sync_api.expect(outcomes(stage)).to_have_text(["returned, 1st of 3", "returned, 2nd of 3", "returned, 3rd of 3"])


def test_the_tree_shows_who_leads_who_survives_and_who_was_dropped(stage: Stage) -> None:
    stage.show(inspector=searched(WORDS[:5], search(), busy=True))
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
    stage.show(inspector=searched(["<s>", "Hi", "I", " am", "."], search(2, 3, 2, over=True), since=3))
    unfinished = "unfinished when the search ended"
    sync_api.expect(outcomes(stage)).to_have_text([unfinished, "returned", unfinished])
    assert nodes(stage)["."] == "at-leads"


def test_the_tree_works_from_the_keyboard(stage: Stage) -> None:
    stage.show(inspector=searched(WORDS[:5], search(), busy=True))
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
    stage.show(inspector=searched(WORDS[:4], search(0, 2), busy=True))
    stage.show(inspector=searched(WORDS[:5], search(2), since=4, busy=True))
    sync_api.expect(outcomes(stage)).to_have_count(3)
    stage.show(inspector=searched(WORDS, search(0, 1), run="r2", busy=True))
    stage.show(inspector=searched(WORDS, search(2), run="r2", since=6))
    assert stage.wait_for_events() == [("missing", {"run": "r2"})]


def test_no_beams_are_shown_where_none_were(stage: Stage) -> None:
    stage.show(inspector=searched(WORDS[:5], search()))
    sync_api.expect(stage.find(".at-tree")).to_be_visible()
    stage.page.keyboard.press("Home")
    stage.find('.at-box[data-index="1"]').click()  # given: no search chose it
    sync_api.expect(stage.find(".at-tree")).to_be_hidden()
    stage.show(inspector=inspector(WORDS, run="r3"))
    sync_api.expect(stage.find(".at-headline")).to_contain_text("Token 5 of 5")
    sync_api.expect(stage.find(".at-tree")).to_be_hidden()


def test_the_beams_fit_a_phone(phone: Stage) -> None:
    phone.show(inspector=searched(WORDS[:5], search()))
    sync_api.expect(phone.find(".at-tree")).to_be_visible()
    assert phone.page.evaluate("document.documentElement.scrollWidth") <= 390
    for selector in (".at-tree", ".at-beams-scroll", ".at-axis-columns", ".at-stages"):
        box = phone.find(selector).bounding_box()
        assert box["x"] >= 0 and box["x"] + box["width"] <= 390, selector
