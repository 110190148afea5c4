"""The texts of the chapters: every one fits its chapter, and what a teacher breaks is named in one sentence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ui.learn import course
from ui.learn.chapter import TEXTS
from ui.learn.text.chapter_text import read_text
from ui.learn.text.markdown import TextError
from ui.learn.text.slots import DRAWING, VALUE, Slot, cases, slider

SLOTS: dict[str, Slot] = {
    "width": slider(1, 9),
    "scores": VALUE,
    "words": VALUE,
    "loss": VALUE,
    "verdict": cases("better", "worse"),
    "picture": DRAWING,
}
WHOLE = """---
title: A title
aim: An aim.
minutes: 5
---

It takes {{steps}} steps of $e^{{steps}}$, `f({{steps}})`, and the loss is {{loss}}.

{{width: Width}} {{scores: Scores | {words} × x, y | shares}}

## ▸ A part

> {{verdict}}
> - better: It is **better**.
> - worse: It is worse by {{loss}}.

+ {{picture}}
+ A word <b>about</b> it.

## Exercises

### {{sum}}

What is 1 + {{steps}}?

- Hint: Count.
- Explanation: It is a sum.
"""


def read(tmp_path: Path, text: str) -> Any:
    (tmp_path / "lesson.md").write_text(text, encoding="utf-8")
    return read_text(tmp_path / "lesson.md", SLOTS, {"steps": "3"}, ("sum",))


def test_a_text_becomes_trees_with_its_numbers_filled_in(tmp_path: Path) -> None:
    text = read(tmp_path, WHOLE)
    assert (text.title, text.aim, text.minutes) == ("A title", "An aim.", 5)
    paragraph, row, part = text.blocks
    assert paragraph["parts"] == [
        *("It takes 3 steps of ", {"formula": "e^3"}, ", ", {"code": "f(3)"}),
        *(", and the loss is ", {"slot": "loss", "label": ""}, "."),
    ]
    assert row["kind"] == "row" and [part["label"] for part in row["parts"] if part != " "] == ["Width", "Scores"]
    assert (text.slots["loss"].kind, text.slots["scores"].kind) == ("text", "table")
    assert text.slots["scores"].options == {"rows": "words", "columns": ["x", "y"], "scale": "share", "digits": 2}
    verdict, columns = part["blocks"]
    assert (part["title"], part["fold"], verdict["quiet"]) == (["A part"], "closed", True)
    assert verdict["cases"]["better"] == ["It is ", {"strong": ["better"]}, "."]
    assert [column[0]["kind"] for column in columns["columns"]] == ["row", "text"]
    assert columns["columns"][1][0]["parts"] == ["A word <b>about</b> it."], "markup stays text"
    assert text.exercises["sum"].question == "What is 1 + 3?"


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("minutes: 5\n", "", "must begin with the lines ---, title, aim, minutes and ---."),
        ("{{width: Width}}", "{{wdith: Width}}", "has a slot {{wdith}}, but its chapter has nothing of this name."),
        ("{{width: Width}} ", "", "has no slot {{width}}, but its chapter has something to put there."),
        ("| shares", "| share", "has a slot {{scores}} that can't be “share”."),
        ("Width}}", "Width | shares}}", "has a slot {{width}} that can't be “shares”."),
        (
            "{{scores: Scores | {words} × x, y | shares}}",
            "{{scores | columns: x, y}}",
            "has a slot {{scores}} that has columns but no title, by which a screen reader could call it.",
        ),
        ("× x, y", "× {xy}", "has a slot {{xy}}, but its chapter has nothing of this name."),
        ("is {{loss}}", "is {{los}}", "has a slot {{los}}, but its chapter has nothing of this name."),
        ("e^{{steps}}", "e^{{stops}}", "has a slot {{stops}}, but its chapter has nothing of this name."),
        (
            "> - worse: It is worse by {{loss}}.\n",
            "",
            "doesn't say under {{verdict}} what it is in the case “worse”, but must.",
        ),
        (
            "> - worse",
            "> - bad: So.\n> - worse",
            "says under {{verdict}} what it is in the case “bad”, which is never the case.",
        ),
        ("- better: It", "- It", "has a line under {{verdict}} that doesn't begin with a case and a colon."),
        ("+ {{picture}}", "+ {{picture}}\n\n  ```\n  code\n  ```", "has something that no chapter can show: fence."),
        ("### {{sum}}", "### {{product}}", "has an exercise “{{product}}”, but its chapter has none of this name."),
        ("### {{sum}}\n", "", "doesn't ask the exercise {{sum}}."),
        (
            "- Explanation: It is a sum.\n",
            "",
            "must have one question, one explanation and at most one hint in the exercise {{sum}}.",
        ),
        (
            "- Hint: Count.",
            "- Hints: Count.",
            "has a line “Hints” in the exercise {{sum}}: it must be one of Hint, Explanation, Option, "
            "Feedback, Mistake NAME, Answer, On the page.",
        ),
        (
            "- Hint: Count.",
            "- Feedback: No.",
            "has a line “Feedback” in the exercise {{sum}} that follows no “Option”.",
        ),
        (
            "## ▸ A part",
            "{{code: lesson/vocabulary.py unlearn}}\n\n## ▸ A part",
            "names the code lesson/vocabulary.py unlearn, but lesson/vocabulary.py doesn't define unlearn.",
        ),
        (
            "## ▸ A part",
            "{{code: lesson/nothing.py}}\n\n## ▸ A part",
            "names the code lesson/nothing.py, but there is no such file.",
        ),
        (
            "It takes",
            "{{code: lesson/vocabulary.py}} It takes",
            "has {{code: lesson/vocabulary.py}} beside other words: give it its own paragraph.",
        ),
        (
            "1 + {{steps}}",
            "1 + {{loss}}",
            "has a slot {{loss}} in an exercise, but its chapter has nothing of this name.",
        ),
    ],
)
def test_what_a_teacher_breaks_is_named_in_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    assert old in WHOLE
    with pytest.raises(TextError) as refused:
        read(tmp_path, WHOLE.replace(old, new, 1))
    assert str(refused.value) == f"lesson.md {sentence}"


@pytest.mark.parametrize("name", course.CHAPTERS)
def test_no_chapter_speaks_of_a_lecture_that_its_reader_has_not_heard(name: str) -> None:
    assert "lecture" not in json.dumps(course.texts()[name].blocks).lower()


@pytest.mark.parametrize("name", course.CHAPTERS)
def test_every_chapter_has_its_text_and_no_more_than_is_small_to_send(name: str) -> None:
    chapter, text = course.CHAPTERS[name], course.texts()[name]
    page = json.dumps(chapter.page(text))
    assert len(page) < 80_000 and not any(f"{{{{{fact}}}}}" in page for fact in chapter.facts)


@pytest.mark.parametrize(
    ("exercise", "old", "new", "sentence"),
    [
        ("most_lopsided", "- Option: 1 and −1\n", "", "has 2 lines “Option”, but its chapter expects 3."),
        ("half_of_the_weight", "- Answer: (2, 2, 2)\n", "", "must have a line “Answer”."),
        ("half_of_the_weight", "- On the page: “A whole sentence”\n", "", "must have a line “On the page”"),
        ("weight_of_fruit", "- Hint: Type 0.6", "- Answer: 1\n- Hint: Type 0.6", "must have no line “Answer”."),
        (
            "weight_of_fruit",
            "- Hint: Type 0.6",
            "- Mistake of_mine: Ah.\n- Hint: Type 0.6",
            "chapter's mistakes: ratio, softmax.",
        ),
    ],
)
def test_an_exercise_without_its_words_is_refused(
    exercise: str, old: str, new: str, sentence: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (TEXTS / "attention.md").read_text(encoding="utf-8")
    assert old in source
    (tmp_path / "attention.md").write_text(source.replace(old, new), encoding="utf-8")
    monkeypatch.setattr("ui.learn.chapter.TEXTS", tmp_path)
    with pytest.raises(TextError, match=sentence) as refused:
        course.CHAPTERS["attention"].read_text("attention")
    assert str(refused.value).startswith(f"The exercise {{{{{exercise}}}}} of attention.md ")


def test_code_is_named_with_the_source_of_its_definition(tmp_path: Path) -> None:
    text = read(
        tmp_path, WHOLE.replace("## ▸ A part", "{{code: model/transformer/attention.py attend}}\n\n## ▸ A part")
    )
    (code,) = (block for block in text.blocks if block["kind"] == "code")
    (named,) = code["items"]
    assert (named["path"], named["name"]) == ("model/transformer/attention.py", "attend")
    assert named["source"].startswith("def attend(") and "softmax" not in named["source"].splitlines()[0]
