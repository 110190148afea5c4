"""The scores of classes: their means, what is refused, and their limits in number and age."""

from __future__ import annotations

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from model.errors import AttendError
from ui.classroom import scores
from ui.classroom.scores import MAX_AGE, MAX_BITS, MAX_CLASSES, MAX_TOKENS, PATH, ClassScores

ONE, OTHER = "firstclass1", "secondclass"


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_a_class_has_the_mean_of_its_own_guesses_alone() -> None:
    classes = ClassScores()
    assert classes.add(ONE, 0, 2) == {0: {"bits": 2.0, "count": 1}}
    assert classes.add(OTHER, 0, 30) == {0: {"bits": 30.0, "count": 1}}
    classes.add(ONE, 1, 7.5)
    assert classes.add(ONE, 0, 5) == {0: {"bits": 3.5, "count": 2}, 1: {"bits": 7.5, "count": 1}}


@pytest.mark.parametrize(
    ("name", "token", "bits"),
    [
        ("<script>", 0, 1),
        ("short", 0, 1),
        ("../../etc/passwd", 0, 1),
        (ONE + "\n", 0, 1),
        (7, 0, 1),
        (ONE, -1, 1),
        (ONE, MAX_TOKENS, 1),
        (ONE, 0.5, 1),
        (ONE, True, 1),
        (ONE, 0, float("nan")),
        (ONE, 0, float("inf")),
        (ONE, 0, MAX_BITS + 1),
        (ONE, 0, -0.1),
        (ONE, 0, "Once upon a time"),
    ],
)
def test_what_is_no_guess_is_refused_and_kept_nowhere(name: object, token: object, bits: object) -> None:
    classes = ClassScores()
    with pytest.raises(AttendError):
        classes.add(name, token, bits)
    assert len(classes) == 0


def test_a_stranger_with_many_new_classes_drops_no_class_with_more_guesses() -> None:
    classes = ClassScores()
    classes.add(ONE, 0, 1)
    classes.add(ONE, 0, 1)
    for index in range(2 * MAX_CLASSES):
        classes.add(f"class{index:06}", 0, 1)
    assert len(classes) == MAX_CLASSES
    assert classes.add(ONE, 0, 1)[0]["count"] == 3
    assert classes.add(f"class{MAX_CLASSES + 1:06}", 0, 1)[0]["count"] == 2  # the quietest one that is left
    assert classes.add("class000000", 0, 1)[0]["count"] == 1  # it was dropped


def test_scores_are_forgotten_after_some_hours() -> None:
    clock = Clock()
    classes = ClassScores(clock)
    classes.add(ONE, 0, 1)
    clock.seconds = MAX_AGE
    assert classes.add(ONE, 0, 1)[0]["count"] == 2
    clock.seconds += MAX_AGE + 1
    assert classes.add(OTHER, 0, 1)[0]["count"] == 1
    assert len(classes) == 1


def test_the_page_sends_a_guess_and_reads_the_means() -> None:
    client = TestClient(Starlette(routes=scores.routes()))
    guess = {"name": ONE, "token": 3, "bits": 4}
    assert client.post(PATH, json=guess).json() == {"means": {"3": {"bits": 4.0, "count": 1}}}
    for body in ("", "[" * 100_000, "null", "[1]", json.dumps({**guess, "bits": "x"}), "1" * 5000, b"\xff"):
        refused = client.post(PATH, content=body)
        assert refused.status_code == 400
        assert len(refused.json()["detail"]) < 200
    assert client.get(PATH).status_code == 405
    assert client.post(PATH, json=guess).json()["means"]["3"]["count"] == 2
