"""Exercises on positions."""

from __future__ import annotations

from ui.learn.exercise import ChangeExercise, ChoiceExercise, Compute, Exercise, NumberExercise, Result

_SCHEMES = {"From 0 to 1": "range", "Counting": "counting", "Binary digits": "binary", "Sinusoids": "sinusoids"}
_NEAR = 0.05


def _uneven(compute: Compute) -> int:
    """The scheme whose neighbours' distances differ most."""
    schemes = compute({})["schemes"]
    spread = [max(schemes[key]["steps"]) - min(schemes[key]["steps"]) for key in _SCHEMES.values()]
    return spread.index(max(spread))


def _is_opposite(result: Result) -> bool:
    turn = result["turns"][0]
    return all(abs(one + other) < _NEAR for one, other in zip(turn["before"], turn["turned"], strict=True))


EXERCISES: tuple[Exercise, ...] = (
    NumberExercise(
        "What is the first number of the sinusoidal vector of position 1, to two decimals?",
        "For the first pair, i = 0, so 10000^(2i/d) is 1.",
        lambda compute: compute({"position": 1, "shift": 0})["turns"][0]["before"][0],
        "sin(1 / 1) = sin 1, an angle of one radian.",
        digits=2,
    ),
    ChoiceExercise(
        "Within one sentence, in which encoding are some neighbours farther apart than others?",
        "Read the line under each of the four tables.",
        tuple(_SCHEMES),
        _uneven,
        "From 1 to 2 two digits change, from 2 to 3 only one. The others keep the distance of neighbours the same.",
    ),
    ChangeExercise(
        f"Find a shift that turns the first pair to the opposite side of its circle, within {_NEAR}.",
        "The first pair turns by one radian per position, and half a circle is π radians: which odd multiple of π is "
        "nearly a whole number?",
        _is_opposite,
        {"position": 3, "shift": 22},
        "a shift of 22",
        "22 is nearly 7π, an odd multiple of half a circle. The same shift does it from every position.",
    ),
)
