"""The scores of classes: their means, what is refused, and their limits in number, age and address."""

from __future__ import annotations

import json

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from model.errors import AttendError
from ui.classroom import scores
from ui.classroom.scores import (
    MAX_AGE,
    MAX_BITS,
    MAX_CLASSES,
    MAX_CLASSES_OF_ADDRESS,
    MAX_STUDENTS,
    MAX_STUDENTS_OF_ADDRESS,
    MAX_TOKENS,
    PATH,
    ClassScores,
    Means,
)

ONE, OTHER = "firstclass1", "secondclass"
ANN, BOB, EVE = "studentann", "studentbob", "studenteve"
SCHOOL = "192.0.2.77"  # the address of all its students


class Clock:
    seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def guess(
    classes: ClassScores, name: object, token: object, bits: object, student: object = ANN, address: str = SCHOOL
) -> Means:
    return classes.add(name, token, bits, student=student, address=address)


def test_a_class_has_the_mean_of_its_own_guesses_alone() -> None:
    classes = ClassScores()
    assert guess(classes, ONE, 0, 2) == {0: {"bits": 2.0, "count": 1}}
    assert guess(classes, OTHER, 0, 30) == {0: {"bits": 30.0, "count": 1}}
    guess(classes, ONE, 1, 7.5)
    assert guess(classes, ONE, 0, 5, BOB) == {0: {"bits": 3.5, "count": 2}, 1: {"bits": 7.5, "count": 1}}


def test_a_student_s_second_guess_of_a_token_changes_nothing() -> None:
    classes = ClassScores()
    guess(classes, ONE, 0, 2)
    assert guess(classes, ONE, 0, 40) == {0: {"bits": 2.0, "count": 1}}
    assert guess(classes, ONE, MAX_TOKENS - 1, 4)[MAX_TOKENS - 1]["count"] == 1
    assert guess(classes, OTHER, 0, 40)[0]["count"] == 1


def test_one_address_has_room_for_a_class_and_not_for_the_whole_mean() -> None:
    classes = ClassScores()
    for index in range(MAX_STUDENTS):
        guess(classes, ONE, 0, 1, f"student{index:05}")
    assert guess(classes, ONE, 0, 1)[0]["count"] == MAX_STUDENTS_OF_ADDRESS
    for index in range(MAX_STUDENTS):
        guess(classes, ONE, 0, 1, f"athome{index:05}", f"192.0.2.{index}")
    assert guess(classes, ONE, 0, 1)[0]["count"] == MAX_STUDENTS


@pytest.mark.parametrize(
    ("name", "token", "bits", "student"),
    [
        ("<script>", 0, 1, ANN),
        ("short", 0, 1, ANN),
        ("../../etc/passwd", 0, 1, ANN),
        (ONE + "\n", 0, 1, ANN),
        (7, 0, 1, ANN),
        (ONE, -1, 1, ANN),
        (ONE, MAX_TOKENS, 1, ANN),
        (ONE, 0.5, 1, ANN),
        (ONE, True, 1, ANN),
        (ONE, 0, float("nan"), ANN),
        (ONE, 0, float("inf"), ANN),
        (ONE, 0, MAX_BITS + 1, ANN),
        (ONE, 0, -0.1, ANN),
        (ONE, 0, "Once upon a time", ANN),
        (ONE, 0, 1, "a" * 1000),
        (ONE, 0, 1, None),
    ],
)
def test_what_is_no_guess_is_refused_and_kept_nowhere(
    name: object, token: object, bits: object, student: object
) -> None:
    classes = ClassScores()
    with pytest.raises(AttendError):
        guess(classes, name, token, bits, student)
    assert len(classes) == 0


def test_a_stranger_with_many_new_classes_drops_no_class_with_more_guesses() -> None:
    classes = ClassScores()
    guess(classes, ONE, 0, 1)
    guess(classes, ONE, 0, 1, BOB)
    for index in range(2 * MAX_CLASSES):
        guess(classes, f"class{index:06}", 0, 1, address=f"network {index // MAX_CLASSES_OF_ADDRESS}")
    assert len(classes) == MAX_CLASSES
    assert guess(classes, ONE, 0, 1, EVE)[0]["count"] == 3
    assert guess(classes, f"class{2 * MAX_CLASSES - 1:06}", 0, 1, BOB)[0]["count"] == 2  # the last one is left
    assert guess(classes, "class000000", 0, 1, BOB)[0]["count"] == 1  # it was dropped


def test_an_address_begins_so_many_classes_and_still_adds_to_others() -> None:
    classes = ClassScores()
    guess(classes, ONE, 0, 1, address="another school")
    for index in range(MAX_CLASSES_OF_ADDRESS):
        guess(classes, f"class{index:06}", 0, 1)
    with pytest.raises(AttendError, match="40 classes were begun from your address"):
        guess(classes, OTHER, 0, 1)
    assert guess(classes, ONE, 0, 1, BOB)[0]["count"] == 2


def test_scores_are_forgotten_after_some_hours() -> None:
    clock = Clock()
    classes = ClassScores(clock)
    guess(classes, ONE, 0, 1)
    clock.seconds = MAX_AGE
    assert guess(classes, ONE, 0, 1, BOB)[0]["count"] == 2
    clock.seconds += MAX_AGE + 1
    assert guess(classes, OTHER, 0, 1)[0]["count"] == 1
    assert len(classes) == 1


def test_the_page_sends_a_guess_and_reads_the_means() -> None:
    client = TestClient(Starlette(routes=scores.routes(lambda request: SCHOOL)))
    sent = {"name": ONE, "student": ANN, "token": 3, "bits": 4}
    assert client.post(PATH, json=sent).json() == {"means": {"3": {"bits": 4.0, "count": 1}}}
    for body in ("", "[" * 100_000, "null", "[1]", json.dumps({**sent, "bits": "x"}), "1" * 5000, b"\xff"):
        refused = client.post(PATH, content=body)
        assert refused.status_code == 400
        assert len(refused.json()["detail"]) < 200
    assert client.get(PATH).status_code == 405
    assert client.post(PATH, json={**sent, "student": BOB}).json()["means"]["3"]["count"] == 2
