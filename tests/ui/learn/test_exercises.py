"""The exercises of every chapter: what their own code computes is right, and anything else is not."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from lesson.block import BlockSettings, make_model
from model import catalog, names
from model.errors import AttendError
from ui.learn import course
from ui.learn.exercises.exercise import ChangeExercise, ChoiceExercise, Exercise, NumberExercise
from ui.learn.exercises.exercise_text import ExerciseText
from ui.runs.models import Models

pytestmark = pytest.mark.skipif(
    not {"attend-chat", "attend-translate"} <= set(names.embedded()), reason="the embedded models are not there"
)
EVERY = [(name, index) for name, chapter in course.CHAPTERS.items() for index in range(len(chapter.exercises))]


def exercise_of(chapter: str, index: int) -> tuple[Exercise, ExerciseText]:
    """What it checks, and its words."""
    name, exercise = list(course.CHAPTERS[chapter].exercises.items())[index]
    return exercise, course.texts()[chapter].exercises[name]


EXERCISES = pytest.mark.parametrize(("chapter", "index"), EVERY)
SOLUTIONS: Mapping[tuple[str, int], float | str] = {  # by hand, or what the explanation says of trained models
    ("tokens", 0): 8 + 2 * 2,  # eight characters of ASCII, and two of two bytes in UTF-8
    ("tokens", 1): "日本",  # three bytes each
    ("vocabulary", 0): 8,  # e s, es t, est </w>, l o, lo w, n e, ne w, new est</w>: Sennrich et al., 2016
    ("positions", 0): math.sin(1),
    ("positions", 1): math.sin(50 / 10000 ** (2 / 4)),
    ("positions", 2): "Binary digits",  # 1 to 2 changes two of them, √2, and 2 to 3 one
    ("why_attention", 0): 512 / 100,  # n d² / (n² d)
    ("why_attention", 1): 4,  # 3⁴ = 81
    ("why_attention", 2): "4",
    ("attention", 0): 0.6 / 1.6,
    ("attention", 1): "1 and −1",  # a lead of 2, beside 0.75 and 1
    ("attention", 3): 0.5 * 0.6 + 0.4 * 0.9,
    ("attention_by_hand", 0): 8 / math.sqrt(2),  # (3, 1) W_q = (4, −2), times (2, 0)
    ("attention_by_hand", 1): 1 / (1 + math.exp(0.6 - 0.1)),
    ("attention_by_hand", 2): "4 × 3",
    ("heads", 0): 4 * (512**2 + 512),  # ../shared/REFERENCE.md, "Models": width 512, 8 heads
    ("heads", 1): 8 * 100 * 100,
    ("block", 0): math.sqrt(6 / 2),
    ("block", 1): math.log(10),
    ("generation", 0): 100 / (1 + math.exp(6.28 - 6.75)),  # the two highest of Raschka's logits
    ("generation", 1): "frequency penalty 1",  # forward 6.75 - 2, toward 6.28 - 1
    ("context", 2): "spring",  # the season and the coil
    ("context", 3): "1 and 2",  # the verb twice
    ("today", 0): 5 / math.sqrt(5**2),
    ("today", 1): "SiLU",  # at -1.25: -1.25 / (1 + e^1.25) = -.28; GELU stays above -.17
    ("today", 2): 2 * 6 * 8 * 32 * 512 * 4 / 2**20,
}


@pytest.fixture(scope="module")
def models() -> Models:
    return Models(("attend-chat", "attend-translate"), lambda name, _: catalog.load(name))


def ask(models: Models, chapter: str, **given: Any) -> dict[str, Any]:
    """Ask as the page does, through JSON both ways."""
    answer = course.answer(models, "exercises", json.loads(json.dumps({"chapter": chapter, **given})))
    assert answer["error"] == "", answer["error"]
    return json.loads(json.dumps(answer["result"], allow_nan=False))


def right_answer(models: Models, chapter: str, exercise: Exercise) -> Any:
    def compute(given: Any) -> Any:
        return course.CHAPTERS[chapter].answer(models, given)

    return exercise.solve(compute) if isinstance(exercise, NumberExercise | ChoiceExercise) else None


def test_every_chapter_has_two_to_four_and_tells_no_answer(models: Models) -> None:
    for name, chapter in course.CHAPTERS.items():
        page = course.answer(models, "text", {"chapter": name})["result"]
        assert page is not None
        listed = page["exercises"]
        assert 2 <= len(listed) == len(chapter.exercises) <= 4
        assert all(one.keys() == {"kind", "question", "hint", "options"} for one in listed)
        assert len({one["question"] for one in listed}) == len(listed)  # progress is kept by the question


@EXERCISES
def test_the_solution_is_right_and_explained(models: Models, chapter: str, index: int) -> None:
    exercise, text = exercise_of(chapter, index)
    state = dict(exercise.example) if isinstance(exercise, ChangeExercise) else {}
    answer = right_answer(models, chapter, exercise)
    checked = ask(models, chapter, exercise=index, answer=answer, state=state)
    assert checked == {"exercise": index, "right": True, "explanation": text.explanation}
    revealed = ask(models, chapter, exercise=index, reveal=True)
    assert revealed["right"] is None and revealed["solution"] and revealed["explanation"] == text.explanation
    assert revealed["example"] == (json.loads(json.dumps(state)) or None)


@pytest.mark.parametrize(("chapter", "index"), SOLUTIONS)
def test_the_solution_is_that_of_plain_arithmetic(models: Models, chapter: str, index: int) -> None:
    (exercise, text), expected = exercise_of(chapter, index), SOLUTIONS[chapter, index]
    found = right_answer(models, chapter, exercise)
    if isinstance(exercise, ChoiceExercise):
        assert text.options[found] == expected
    else:
        assert found == pytest.approx(expected, rel=5e-4)  # the page's numbers have four digits


def test_the_solutions_of_training_are_pytorchs(models: Models) -> None:
    """The target's share of nn.Softmax and the exponential of nn.CrossEntropyLoss."""
    block = BlockSettings()
    logits = make_model(block)(torch.tensor([block.source]), torch.tensor([block.decoder_input]))[0].detach()
    share, perplexity = (right_answer(models, "training", exercise_of("training", index)[0]) for index in (0, 1))
    assert share == pytest.approx(100 * nn.Softmax(dim=-1)(logits)[0, block.answer[0]].item(), rel=1e-3)
    assert perplexity == pytest.approx(math.exp(nn.CrossEntropyLoss()(logits, torch.tensor(block.answer))), rel=1e-3)


def test_the_nearest_word_is_that_of_torchs_cosines(models: Models) -> None:
    """The nearest of "Monday", by torch's cosines over the whole matrix."""
    loaded = models.get(models.default)
    (monday,) = loaded.tokenizer.encode(" Monday")
    matrix: torch.Tensor = loaded.model.embedding.weight.detach().float()  # type: ignore[attr-defined]
    alike = functional.cosine_similarity(matrix, matrix[monday], dim=-1)
    alike[monday] = -1
    found = right_answer(models, "vectors", exercise_of("vectors", 0)[0])
    assert found == pytest.approx(alike.max().item(), rel=5e-4)


@EXERCISES
def test_a_chapter_that_computes_nothing_has_no_solution(chapter: str, index: int) -> None:
    """So none is stored: every answer, and the verdict on every change, is read from a result."""
    exercise, text = exercise_of(chapter, index)
    with pytest.raises(KeyError):
        if isinstance(exercise, ChangeExercise):
            exercise.check(lambda _: {}, None, exercise.example, text)
        else:
            exercise.solve(lambda _: {})


@EXERCISES
def test_anything_else_is_wrong(models: Models, chapter: str, index: int) -> None:
    exercise, text = exercise_of(chapter, index)
    right = right_answer(models, chapter, exercise)
    if isinstance(exercise, NumberExercise):
        wrong = [right + 3 * 10.0**-exercise.digits, right - 3 * 10.0**-exercise.digits, -right - 1]
    elif isinstance(exercise, ChoiceExercise):
        wrong = [option for option in range(len(text.options)) if option != right]
    else:
        wrong = [None]  # the chapter's own example must not fulfil it already
    for answer in wrong:
        checked = ask(models, chapter, exercise=index, answer=answer, state={})
        assert (checked["right"], checked["explanation"]) == (False, ""), answer


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"chapter": "tokens", "exercise": 0, "answer": "12"}, "Type a number first."),
        ({"chapter": "tokens", "exercise": 0, "answer": None}, "Type a number first."),
        ({"chapter": "tokens", "exercise": 0, "answer": True}, "Type a number first."),
        ({"chapter": "today", "exercise": 0, "state": {"model": "x"}, "answer": 5.0}, "must be one of"),
        ({"chapter": "tokens", "exercise": 1, "answer": 4}, "Choose one of the answers first."),
        ({"chapter": "tokens", "exercise": 1, "answer": -1}, "Choose one of the answers first."),
        ({"chapter": "tokens", "exercise": 99}, "must be a whole number from 0 to 2"),
        ({"chapter": "tokens", "exercise": 2, "state": "x"}, "reload it"),
        ({"chapter": "tokens", "exercise": 2, "state": {"text": "a" * 2_001}}, "2,001 characters"),
        ({"chapter": "nowhere"}, "reload it"),
        ({"chapter": ["tokens"]}, "reload it"),
        ({}, "reload it"),
    ],
)
def test_a_hostile_attempt_gets_one_sentence(models: Models, given: dict[str, Any], sentence: str) -> None:
    answer = course.answer(models, "exercises", given)
    assert answer["result"] is None and sentence in answer["error"]


@pytest.mark.parametrize("answer", [10**400, -(10**400), 1e300, float("nan"), float("inf")])
def test_a_number_beyond_all_is_wrong(models: Models, answer: float) -> None:
    assert course.answer(models, "exercises", {"chapter": "tokens", "exercise": 0, "answer": answer})["result"] == {
        "exercise": 0,
        "right": False,
        "explanation": "",
    }


def test_the_cosine_is_that_of_the_model_chosen_in_the_chapter(models: Models) -> None:
    solutions = {
        name: ask(models, "vectors", exercise=0, state={"model": name}, reveal=True)["solution"]
        for name in models.names
    }
    nearest = course.CHAPTERS["vectors"].answer(models, {"model": "attend-translate", "word": "Monday"})["nearest"]
    assert solutions["attend-translate"] == f"{nearest[0][1]:.2f}" != solutions["attend-chat"]


def test_a_number_that_is_cut_instead_of_rounded_is_right(models: Models) -> None:
    """sin 1 = 0.8415: 0.84 and 0.85 lie within a unit of the last digit, 0.86 doesn't."""
    verdicts = [ask(models, "positions", exercise=0, answer=answer)["right"] for answer in (0.84, 0.85, 0.86)]
    assert verdicts == [True, True, False]
    with pytest.raises(AttendError):
        exercise, text = exercise_of("positions", 0)
        exercise.check(lambda _: {}, "0.84", {}, text)
