"""The exercises of every chapter: what their own code computes is right, and anything else is not."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import torch
from torch import nn
from torch.nn import functional

from lesson.block import BlockSettings, make_model
from model import catalog, names
from model.loaded import LoadedModel
from tests.ui.learn.asking import ask as course_asked
from ui.learn import course
from ui.learn.chapter import Chapter
from ui.learn.chapters.vectors import GUESSES
from ui.learn.exercises.exercise import WRONG, ChangeExercise, ChoiceExercise, Exercise, NumberExercise
from ui.learn.exercises.exercise_text import ExerciseText
from ui.learn.inputs import Inputs
from ui.runs.models import Models

pytestmark = pytest.mark.skipif(
    not {"attend-chat", "attend-translate"} <= set(names.embedded()), reason="the embedded models are not there"
)
EVERY = [(name, one) for name, chapter in course.CHAPTERS.items() for one in chapter.exercises]


def exercise_of(chapter: str, name: str) -> tuple[Exercise, ExerciseText]:
    """What it checks, and its words."""
    return course.CHAPTERS[chapter].exercises[name], course.texts()[chapter].exercises[name]


EXERCISES = pytest.mark.parametrize(("chapter", "name"), EVERY)
SOLUTIONS: Mapping[tuple[str, str], float | str] = {  # by hand, or what the explanation says of trained models
    ("tokens", "bytes_of_a_text"): 8 + 2 * 2,  # eight characters of ASCII, and two of two bytes in UTF-8
    ("tokens", "most_bytes"): "日本",  # three bytes each
    # e s, es t, est </w>, l o, lo w, n e, ne w, new est</w>: Sennrich et al., 2016
    ("tokens", "costliest"): "Russian",  # 33 characters, nearly all of two bytes; Hindi has 21, nearly all of three
    ("tokens", "id_of_dog"): 3,  # the 0, cat 1, saw 2
    ("vocabulary", "split_of_lowest"): "low and est</w>",  # Sennrich et al., 2016, algorithm 1, after five merges
    ("vocabulary", "times_of_e_and_s"): 6 + 3,  # newest and widest
    ("vocabulary", "size_after_five"): len(set("lowlowernewestwidest")) + 1 + 5,  # letters, the end mark, merges
    ("vectors", "cosine"): 24 / 25,
    ("vectors", "layer"): 2 * 3 + 1 * 2 - 4,
    ("heads", "more_heads"): "Just as many",  # 16 · 32 = 8 · 64
    ("sentences", "heads_for_animal"): "Fewer than 5",  # two: ../shared/COURSE.md
    ("sentences", "even_share"): 100 / 11,
    ("sentences", "by_lot"): 48 / 11,
    ("vocabulary", "merges_until_whole"): 8,
    ("positions", "first_number"): math.sin(1),
    ("positions", "second_pair"): math.sin(50 / 10000 ** (2 / 4)),
    ("positions", "learned_neighbours"): "Neighbours are alike.",  # what the recorded picture shows
    ("why_attention", "fades_most"): "The GRU with attention",  # held by tests/lesson/recurrence/test_reach.py
    ("attention", "shuffled"): "Nothing: it stays exactly the same.",  # a sum has no order
    ("attention_by_hand", "sharpened"): "It grows towards 1.",  # differences of scores times ten
    ("positions", "uneven"): "Binary digits",  # 1 to 2 changes two of them, √2, and 2 to 3 one
    ("attention", "weight_of_fruit"): 0.6 / 1.6,
    ("attention", "most_lopsided"): "1 and −1",  # a lead of 2, beside 0.75 and 1
    ("why_attention", "operations"): 512 / 100,  # n d² / (n² d)
    ("why_attention", "layers"): 4,  # 3⁴ = 81
    ("why_attention", "passed_on"): "4",
    ("attention", "dot_product"): 0.5 * 0.6 + 0.4 * 0.9,
    ("attention_by_hand", "scaled_score"): 8 / math.sqrt(2),  # (3, 1) W_q = (4, −2), times (2, 0)
    ("attention_by_hand", "masked_row"): 1 / (1 + math.exp(0.6 - 0.1)),
    ("attention_by_hand", "shape_of_cross"): "4 × 3",
    ("heads", "parameters_of_a_layer"): 4 * (512**2 + 512),  # ../shared/REFERENCE.md, "Models": width 512, 8 heads
    ("heads", "weights_of_a_text"): 8 * 100 * 100,
    ("block", "divisor"): math.sqrt(6 / 2),
    ("block", "loss_of_a_guess"): math.log(10),
    ("block", "absolute"): "3",
    ("block", "feed_forward_of_512"): 512 * 2048 + 2048 + 2048 * 512 + 512,  # the paper's base model
    ("training", "best_guess"): "60 %, 30 % and 10 %",  # Gibbs' inequality
    ("training", "loss_of_quarter"): math.log(4),
    ("training", "slope"): (1 / (1 + math.exp(-2)) - 1) * 2,
    ("generation", "text_of_two"): 0.3 * 0.6,
    ("generation", "nucleus"): 100 * 50 / (50 + 25 + 15),
    ("generation", "colder"): 100 * 4**2 / (4**2 + 2**2 + 1 + 1),
    ("generation", "reorders"): "frequency penalty 1",  # forward 6.75 - 2, toward 6.28 - 1
    ("inside", "first_seen"): "layer 6, the last",
    ("inside", "change"): math.log(0.2 / 0.8),
    ("inside", "restored"): (-1 + 6) / (4 + 6),
    ("context", "before_attention"): "near 1",  # one token, which differs by position alone
    ("context", "weighted_sum"): 0.7 * 5 + 0.3 * 6,
    ("context", "cosine_of_two"): (4 * 5 + 3 * 0) / (5 * 5),
    ("context", "furthest_apart"): "spring",  # the season and the coil
    ("context", "closest"): "1 and 2",  # the verb twice
    ("today", "size_of_mixtral"): "47 billion",  # Jiang et al., 2024: 47B parameters, 13B active
    ("today", "two_of_four"): (10 * math.e + 30) / (math.e + 1),  # softmax of 3 and 2
    ("today", "rms_of_a_constant"): 5 / math.sqrt(5**2),
    ("today", "lowest"): "SiLU",  # at -1.25: -1.25 / (1 + e^1.25) = -.28; GELU stays above -.17
    ("today", "cache_of_a_text"): 2 * 6 * 8 * 32 * 512 * 4 / 2**20,
}


@pytest.fixture(scope="module", autouse=True)
def computed_once() -> Iterator[None]:
    """A chapter computes the same from the same input: here only once, since most exercises ask for its own example."""
    compute, answers = Chapter.answer, dict[str, Any]()

    def answer(chapter: Chapter, models: Models, inputs: Inputs) -> dict[str, Any]:
        key = f"{id(chapter)} {id(models)} {sorted(inputs.items())!r}"
        if key not in answers:
            answers[key] = compute(chapter, models, inputs)
        return answers[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Chapter, "answer", answer)
        yield


@pytest.fixture(scope="module")
def models() -> Models:
    return Models(("attend-chat", "attend-translate"), lambda name, _: catalog.load(name))


@pytest.fixture(scope="module")
def elsewhere(tiny: LoadedModel) -> Models:
    """A page that doesn't offer the models that come with Attend."""
    return Models(("tiny",), lambda *_: tiny)


def ask(models: Models, chapter: str, **inputs: Any) -> dict[str, Any]:
    return course_asked(models, "exercises", chapter=chapter, **inputs)


def right_answer(models: Models, chapter: str, exercise: Exercise) -> Any:
    def compute(inputs: Any) -> Any:
        return course.CHAPTERS[chapter].answer(models, inputs)

    return exercise.solve(compute) if isinstance(exercise, NumberExercise | ChoiceExercise) else None


def test_every_chapter_has_two_to_six_and_tells_no_answer(models: Models) -> None:
    for name, chapter in course.CHAPTERS.items():
        page = course.answer(models, "text", {"chapter": name})["result"]
        assert page is not None
        listed = page["exercises"]
        assert 2 <= len(listed) == len(chapter.exercises) <= 6
        known = {"name", "kind", "question", "hint", "options", "on_page", "predicted"}
        assert all(one.keys() == known for one in listed)
        assert len({one["question"] for one in listed}) == len(listed)  # progress is kept by the question


@EXERCISES
def test_the_solution_is_right_and_explained(models: Models, chapter: str, name: str) -> None:
    exercise, text = exercise_of(chapter, name)
    state = dict(exercise.example) if isinstance(exercise, ChangeExercise) else {}
    answer = right_answer(models, chapter, exercise)
    checked = ask(models, chapter, exercise=name, answer=answer, state=state)
    assert (checked["right"], checked["feedback"], checked["explanation"]) == (True, "", text.explanation)
    revealed = ask(models, chapter, exercise=name, reveal=True)
    assert revealed["right"] is None and revealed["solution"] and revealed["explanation"] == text.explanation
    assert revealed["example"] == (json.loads(json.dumps(state)) or None)
    if isinstance(exercise, NumberExercise):  # as it is printed, it is right, too
        assert ask(models, chapter, exercise=name, answer=float(revealed["solution"]))["right"] is True


@pytest.mark.parametrize(("chapter", "name"), SOLUTIONS)
def test_the_solution_is_that_of_plain_arithmetic(models: Models, chapter: str, name: str) -> None:
    (exercise, text), expected = exercise_of(chapter, name), SOLUTIONS[chapter, name]
    solution = right_answer(models, chapter, exercise)
    if isinstance(exercise, ChoiceExercise):
        assert text.options[solution].text == expected
    else:
        assert solution == pytest.approx(expected, rel=5e-4)  # the page's numbers have four digits


@pytest.mark.parametrize(
    ("chapter", "name", "right", "wrong"),
    [
        # e^2.855, as the line above the curve has the loss, and e^2.86, as the chapter before it does
        ("training", "perplexity", (17.37, 17.4, 17.46, 17.5), (17.3, 17.6, 18.2)),
        # with 0.731 and 0.269 of the sum, and with 0.73 and 0.27 of the table
        ("today", "two_of_four", (15.38, 0.73 * 10 + 0.27 * 30), (15.3, 15.5)),
    ],
)
def test_what_is_computed_from_rounded_numbers_of_the_page_is_right(
    models: Models, chapter: str, name: str, right: tuple[float, ...], wrong: tuple[float, ...]
) -> None:
    assert [ask(models, chapter, exercise=name, answer=answer)["right"] for answer in right] == [True] * len(right)
    assert [ask(models, chapter, exercise=name, answer=answer)["right"] for answer in wrong] == [False] * len(wrong)


def test_two_norms_that_look_the_same_are_the_same(models: Models) -> None:
    """They differ by 0.006, but (−0.38, −0.13, −1.10, 1.62) is what the page shows of both."""
    vector = [-1.2, -0.4, -3.5, 5.18]
    assert ask(models, "today", exercise="norms_agree", state={"vector": [vector]})["right"] is True


def test_the_perplexity_of_training_is_pytorchs(models: Models) -> None:
    """The exponential of nn.CrossEntropyLoss."""
    block = BlockSettings()
    logits = make_model(block)(torch.tensor([block.source]), torch.tensor([block.decoder_input]))[0].detach()
    perplexity = right_answer(models, "training", exercise_of("training", "perplexity")[0])
    assert perplexity == pytest.approx(math.exp(nn.CrossEntropyLoss()(logits, torch.tensor(block.answer))), rel=1e-3)


def test_the_nearest_word_is_that_of_torchs_cosines(models: Models) -> None:
    """Those of "dog", by torch's cosines over the whole matrix minus its mean."""
    loaded = models.get(models.default)
    dog, *guesses = (loaded.tokenizer.encode(f" {word}")[0] for word in ("dog", *GUESSES))
    matrix: torch.Tensor = loaded.model.embedding.weight.detach().float()  # type: ignore[attr-defined]
    centred = matrix - matrix.mean(0)
    alike = functional.cosine_similarity(centred, centred[dog], dim=-1)
    solution = right_answer(models, "vectors", exercise_of("vectors", "nearest_of_dog")[0])
    assert solution == int(alike[guesses].argmax()) and GUESSES[solution] == "cat"


@EXERCISES
def test_a_chapter_that_computes_nothing_has_no_solution(chapter: str, name: str) -> None:
    """So none is stored: every answer, and the verdict on every change, is read from a result."""
    exercise, text = exercise_of(chapter, name)
    with pytest.raises(KeyError):
        if isinstance(exercise, ChangeExercise):
            exercise.feedback(lambda _: {}, None, exercise.example, text)
        else:
            exercise.solve(lambda _: {})


@EXERCISES
def test_anything_else_is_wrong(models: Models, chapter: str, name: str) -> None:
    exercise, text = exercise_of(chapter, name)
    right = right_answer(models, chapter, exercise)
    if isinstance(exercise, NumberExercise):
        numbers = exercise.from_shown(lambda inputs: course.CHAPTERS[chapter].answer(models, inputs))
        most, least, unit = max(right, *numbers, right), min(right, *numbers, right), 10.0**-exercise.digits
        wrong = [most + 0.6 * unit, least - 0.6 * unit, -right - 1]
    elif isinstance(exercise, ChoiceExercise):
        wrong = [option for option in range(len(text.options)) if option != right]
    else:
        wrong = [None]  # the chapter's own example must not fulfil it already
    for answer in wrong:
        checked = ask(models, chapter, exercise=name, answer=answer, state={})
        assert checked["right"] is False, answer
        assert exercise.predicted or (checked["feedback"] and not checked["explanation"] and not checked["solution"])


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({"chapter": "tokens", "exercise": "bytes_of_a_text", "answer": "12"}, "Type a number first."),
        ({"chapter": "tokens", "exercise": "bytes_of_a_text", "answer": None}, "Type a number first."),
        ({"chapter": "tokens", "exercise": "bytes_of_a_text", "answer": True}, "Type a number first."),
        (
            {"chapter": "today", "exercise": "rms_of_a_constant", "state": {"model": "x"}, "answer": 5.0},
            "must be one of",
        ),
        ({"chapter": "tokens", "exercise": "most_bytes", "answer": 4}, "Choose one of the answers first."),
        ({"chapter": "tokens", "exercise": "most_bytes", "answer": -1}, "Choose one of the answers first."),
        ({"chapter": "tokens", "exercise": "__class__"}, "reload it"),
        ({"chapter": "tokens", "exercise": "lost_spaces", "state": "x"}, "reload it"),
        ({"chapter": "tokens", "exercise": "lost_spaces", "state": {"text": "a" * 2_001}}, "2,001 characters"),
        ({"chapter": "nowhere"}, "reload it"),
        ({"chapter": ["tokens"]}, "reload it"),
        ({}, "reload it"),
    ],
)
def test_a_hostile_attempt_gets_one_sentence(models: Models, inputs: dict[str, Any], sentence: str) -> None:
    answer = course.answer(models, "exercises", inputs)
    assert answer["result"] is None and sentence in answer["error"]


@pytest.mark.parametrize("answer", [10**400, -(10**400), 1e300, float("nan"), float("inf")])
def test_a_number_beyond_all_is_wrong(models: Models, answer: float) -> None:
    checked = course.answer(
        models, "exercises", {"chapter": "tokens", "exercise": "bytes_of_a_text", "answer": answer}
    )["result"]
    assert checked is not None and (checked["right"], checked["feedback"], checked["solution"]) == (False, WRONG, "")


def test_the_solution_is_that_of_the_model_chosen_in_the_chapter(models: Models) -> None:
    """An even share of attention: attend-chat's "it" sees eleven tokens, as does attend-translate's "la", of a sentence
    with eleven; heads that chose at random are 48 and 40."""
    solutions = [
        ask(models, "sentences", exercise="by_lot", state={"model": name}, reveal=True)["solution"]
        for name in ("attend-chat", "attend-translate")
    ]
    assert solutions == [f"{48 / 11:.1f}", f"{40 / 11:.1f}"]


@EXERCISES
def test_wrong_options_have_feedback_of_their_own(models: Models, chapter: str, name: str) -> None:
    """Each wrong option has feedback, and the right one none."""
    exercise, text = exercise_of(chapter, name)
    feedback = [option.feedback for option in text.options]
    right = right_answer(models, chapter, exercise)
    assert [bool(one) for one in feedback] == [index != right for index in range(len(feedback))]
    assert len(set(feedback)) == len(feedback)


@EXERCISES
def test_a_mistake_leads_to_a_number_of_its_own(models: Models, chapter: str, name: str) -> None:
    """So its feedback is shown, and never for the right answer."""
    exercise, text = exercise_of(chapter, name)
    if not isinstance(exercise, NumberExercise):
        return

    def compute(inputs: Any) -> Any:
        return course.CHAPTERS[chapter].answer(models, inputs)

    for mistake, number in exercise.mistakes.items():
        assert exercise.feedback(compute, number(compute), {}, text) == text.mistakes[mistake], mistake


@EXERCISES
def test_where_a_model_is_missing_an_exercise_says_so(elsewhere: Models, chapter: str, name: str) -> None:
    """On a page with another model alone, and nothing but a sentence instead of a verdict."""
    for attempt in ({"answer": 0}, {"answer": 0.5}, {"reveal": True}):
        answer = course.answer(elsewhere, "exercises", {"chapter": chapter, "exercise": name, **attempt})
        assert bool(answer["result"]) != bool(answer["error"])


def test_a_sheet_of_a_page_without_its_model_has_the_other_answers(elsewhere: Models) -> None:
    for chapter in course.CHAPTERS:
        sheet = course.answer(elsewhere, "sheet", {"chapter": chapter, "solved": True})["result"]
        assert sheet and all(one["solution"] and one["explanation"] for one in sheet["exercises"])
        missing = [one for one in sheet["exercises"] if one["solution"] == "not available here"]
        assert all(one["explanation"].startswith("This page doesn't offer attend-chat") for one in missing)
        assert len(missing) < len(sheet["exercises"])


def test_a_sheet_has_every_question_and_its_answers_only_when_asked_for(models: Models) -> None:
    sheet, solved = (
        course.answer(models, "sheet", {"chapter": "tokens", "solved": wanted})["result"] for wanted in (False, True)
    )
    assert sheet and solved
    texts = course.texts()["tokens"].exercises.values()
    assert [one["question"] for one in sheet["exercises"]] == [text.question for text in texts]
    assert all(one.keys() == {"question", "options", "on_page", "predicted"} for one in sheet["exercises"])
    assert solved["exercises"][1]["solution"] == "12"  # eight characters of ASCII, and two of two bytes in UTF-8
    assert [one["explanation"] for one in solved["exercises"]] == [text.explanation for text in texts]
    assert course.answer(models, "sheet", {"chapter": "nowhere"})["error"] == "This page is out of date: reload it."


def test_a_sheet_says_where_on_the_page_an_exercise_is_solved(models: Models) -> None:
    """By the title of a part or the name of a field, which a reader of the paper finds there."""
    sheet = course.answer(models, "sheet", {"chapter": "attention_by_hand"})["result"]
    assert sheet and [one["on_page"] for one in sheet["exercises"]] == ["", "", "", "", "“Five steps”"]
    for chapter, text in course.texts().items():
        page = json.dumps(course.CHAPTERS[chapter].page(text)["blocks"], ensure_ascii=False)
        for exercise in text.exercises.values():
            assert all(f'"{name}"' in page for name in re.findall("“(.+?)”", exercise.on_page)), exercise.on_page
            assert "above" not in exercise.question
