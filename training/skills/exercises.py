"""Small tasks on what stands in the question: lists to repeat, words to spell, things to count, rows, sums.

Whether a task is the test's follows from its words and numbers, as of values; see `values`.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_uppercase

from training.skills.facts import sentence
from training.skills.values import Part, article, draw, read, values

_COUNTS = ("zero", "one", "two", "three", "four", "five", "six", "seven")
_LISTS = (
    "shopping",
    "colors",
    "animals",
    "fruits",
    "people",
    "objects",
    "words",
    "cities",
    "drinks",
    "foods",
    "pets",
    "instruments",
)


@dataclass(frozen=True, slots=True)
class Exercise:
    """A task: the turns before its answer, the answer, and what a right answer must hold (any of `accepted`)."""

    skill: str
    turns: tuple[str, ...]  # the last one is the user's
    answer: str
    accepted: tuple[str, ...]


def draw_exercise(dice: random.Random, part: Part, skill: str = "") -> Exercise:
    """A task of a skill, or of any."""
    return EXERCISES[skill or dice.choice(tuple(EXERCISES))](dice, part)


def _repeat(dice: random.Random, part: Part) -> Exercise:
    """A list to say again, at once or after an answer."""
    items = _items(dice, part, dice.randint(2, 5))
    listed = _joined(items, dice.choice(("and", "and", "")))
    said = _joined(items, "and")
    accepted = (said, ", ".join(items), ", and ".join(said.rsplit(" and ", 1)))
    if dice.random() < 0.5:
        asked = _wording(dice, part, "repeat").format(items=listed)
        return Exercise("repeat a list", (sentence(asked),), sentence(said) + ".", accepted)
    asked, again = _wording(dice, part, "list").format(items=listed), _wording(dice, part, "list_again")
    reply = dice.choice(("Okay.", "Got it.", "I'll remember that.", "All right."))
    answer = dice.choice(("{}.", "It was {}.", "You said {}.", "{}."))
    return Exercise("repeat a list", (sentence(asked), reply, again), sentence(answer.format(said)), accepted)


def _spell(dice: random.Random, part: Part) -> Exercise:
    return _letters(dice, part, "spell a word", backwards=False)


def _spell_backwards(dice: random.Random, part: Part) -> Exercise:
    return _letters(dice, part, "spell backwards", backwards=True)


def _letters(dice: random.Random, part: Part, skill: str, *, backwards: bool) -> Exercise:
    listed = dice.choice(("words", "animals", "objects", "people", "pets"))
    while " " in (word := draw(dice, listed, part)) or not 3 <= len(word) <= (6 if backwards else 8):
        pass
    letters = "-".join(word[::-1] if backwards else word).upper()
    asked = _wording(dice, part, skill.replace(" ", "_")).format(word=word)
    return Exercise(skill, (asked,), letters + ".", (letters,))


def _count(dice: random.Random, part: Part) -> Exercise:
    """How many things were listed."""
    number = dice.randint(1, 7)
    listed = dice.choice(("objects", "animals", "shopping", "colors", "people"))
    items = _items(dice, part, number, listed)
    shown = _joined([f"{article(item)} {item}" for item in items] if listed in ("objects", "animals") else items, "and")
    asked = _wording(dice, part, "count").format(items=shown)
    word = _COUNTS[number]
    answer = dice.choice(("{}.", "{}.", "There are {}.", "I count {}.")) if number > 1 else "{}."
    return Exercise("count", (sentence(asked),), sentence(answer.format(word)), (word, str(number)))


def _next(dice: random.Random, part: Part) -> Exercise:
    """What follows a day, a month, a letter or a number, or comes before it."""
    name, row = dice.choice(tuple(_ROWS.items()))
    after = dice.random() < 0.7
    while True:
        place = dice.randrange(1, len(row) - 1)
        given, wanted = row[place], row[place + (1 if after else -1)]
        if _belongs(f"{name} {given} {after}", part):
            break
    asked = _wording(dice, part, "after" if after else "before").format(given=given, name=name)
    answer = dice.choice(("{1}.", "{1}.", "{1} comes after {0}." if after else "{1} comes before {0}."))
    return Exercise("next in a row", (sentence(asked),), answer.format(given, wanted), (wanted,))


def _sum(dice: random.Random, part: Part) -> Exercise:
    """Addition and subtraction up to twenty."""
    while True:
        first, second, plus = dice.randint(0, 10), dice.randint(0, 10), dice.random() < 0.6
        first, second = (first, second) if plus or first >= second else (second, first)
        if _belongs(f"{first} {plus} {second}", part):
            break
    result = str(first + second if plus else first - second)
    asked = _wording(dice, part, "plus" if plus else "minus").format(first, second)
    sign = "plus" if plus else "minus"
    answer = dice.choice(("{result}.", "It's {result}.", "{first} {sign} {second} is {result}."))
    return Exercise("sum", (asked,), answer.format(result=result, first=first, sign=sign, second=second), (result,))


EXERCISES: dict[str, Callable[[random.Random, Part], Exercise]] = {
    "repeat a list": _repeat,
    "spell a word": _spell,
    "spell backwards": _spell_backwards,
    "count": _count,
    "next in a row": _next,
    "sum": _sum,
}

_ROWS: dict[str, tuple[str, ...]] = {
    "day": (*(days := tuple(read("values.toml")["days"])), *days[:2]),
    "month": tuple(read("values.toml")["months"]),
    "letter": tuple(ascii_uppercase),
    "number": tuple(str(number) for number in range(101)),
}


def _items(dice: random.Random, part: Part, count: int, listed: str = "") -> list[str]:
    """Different values of one list; the test's lists are shorter, so two of them may share an item in common."""
    listed = listed or dice.choice(_LISTS)
    pool = values(listed, part)
    while len(pool) < count:
        pool = values(listed := dice.choice(("people", "objects", "animals", "pets")), part)
    return dice.sample(pool, count)


def _joined(items: list[str], conjunction: str) -> str:
    if len(items) == 1:
        return items[0]
    if not conjunction:
        return ", ".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def _wording(dice: random.Random, part: Part, name: str) -> str:
    return dice.choice(read("exercises.toml")[part][name])


def _belongs(text: str, part: Part) -> bool:
    """By a checksum, a sixth of the questions are the test's."""
    return (zlib.crc32(text.encode()) % 6 == 0) == (part == "unseen")
