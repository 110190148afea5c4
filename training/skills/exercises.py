"""Exercises: lists to repeat, words to spell, things to count, sequences to continue, sums.

The words and numbers of an exercise decide whether it belongs to the test; see `values`.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from string import ascii_uppercase

from training.skills.facts import sentence
from training.skills.values import Part, article, draw, load_toml, values

_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven")
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
    """An exercise: the turns before the answer, the answer, and texts of which a right answer contains one."""

    skill: str
    turns: tuple[str, ...]  # the last one is the user's
    answer: str
    accepted: tuple[str, ...]


def draw_exercise(rng: random.Random, part: Part, skill: str = "") -> Exercise:
    """Draw an exercise of a skill; by default of any."""
    return EXERCISES[skill or rng.choice(tuple(EXERCISES))](rng, part)


def _repeat(rng: random.Random, part: Part) -> Exercise:
    """Asks for a list again, at once or one exchange later."""
    items = _items(rng, part, rng.randint(2, 5))
    listed = _join(items, rng.choice(("and", "and", "")))
    repeated = _join(items, "and")
    accepted = (repeated, ", ".join(items), ", and ".join(repeated.rsplit(" and ", 1)))
    if rng.random() < 0.5:
        question = _wording(rng, part, "repeat").format(items=listed)
        return Exercise("repeat a list", (sentence(question),), sentence(repeated) + ".", accepted)
    question, again = _wording(rng, part, "list").format(items=listed), _wording(rng, part, "list_again")
    reply = rng.choice(("Okay.", "Got it.", "I'll remember that.", "All right."))
    answer = rng.choice(("{}.", "It was {}.", "You said {}.", "{}."))
    return Exercise("repeat a list", (sentence(question), reply, again), sentence(answer.format(repeated)), accepted)


def _spell(rng: random.Random, part: Part) -> Exercise:
    return _letters(rng, part, "spell a word", backwards=False)


def _spell_backwards(rng: random.Random, part: Part) -> Exercise:
    return _letters(rng, part, "spell backwards", backwards=True)


def _letters(rng: random.Random, part: Part, skill: str, *, backwards: bool) -> Exercise:
    listed = rng.choice(("words", "animals", "objects", "people", "pets"))
    while " " in (word := draw(rng, listed, part)) or not 3 <= len(word) <= (6 if backwards else 8):
        pass
    letters = "-".join(word[::-1] if backwards else word).upper()
    question = _wording(rng, part, skill.replace(" ", "_")).format(word=word)
    return Exercise(skill, (question,), letters + ".", (letters,))


def _count(rng: random.Random, part: Part) -> Exercise:
    """Asks how many things a list has."""
    number = rng.randint(1, 7)
    listed = rng.choice(("objects", "animals", "shopping", "colors", "people"))
    items = _items(rng, part, number, listed)
    listing = _join([f"{article(item)} {item}" for item in items] if listed in ("objects", "animals") else items, "and")
    question = _wording(rng, part, "count").format(items=listing)
    word = _NUMBER_WORDS[number]
    answer = rng.choice(("{}.", "{}.", "There are {}.", "I count {}.")) if number > 1 else "{}."
    return Exercise("count", (sentence(question),), sentence(answer.format(word)), (word, str(number)))


def _next(rng: random.Random, part: Part) -> Exercise:
    """Asks for the day, month, letter or number after or before another."""
    name, row = rng.choice(tuple(_ROWS.items()))
    after = rng.random() < 0.7
    while True:
        index = rng.randrange(1, len(row) - 1)
        item, neighbour = row[index], row[index + (1 if after else -1)]
        if _in_part(f"{name} {item} {after}", part):
            break
    question = _wording(rng, part, "after" if after else "before").format(item=item, name=name)
    answer = rng.choice(("{1}.", "{1}.", "{1} comes after {0}." if after else "{1} comes before {0}."))
    return Exercise("next in a row", (sentence(question),), answer.format(item, neighbour), (neighbour,))


def _row(rng: random.Random, part: Part) -> Exercise:
    """Asks for consecutive days, months, letters or numbers."""
    name, row = rng.choice(tuple(_ROWS.items()))
    while True:
        first, length = rng.randrange(len(row)), rng.randint(3, 7)
        items = row[first : first + length]
        if len(set(items)) == length and _in_part(f"{name} {items[0]} {items[-1]}", part):
            break
    question = _wording(rng, part, "row").format(name=name, first=items[0], last=items[-1])
    listed = ", ".join(items)
    return Exercise("say a row", (sentence(question),), listed + ".", (listed,))


def _sum(rng: random.Random, part: Part) -> Exercise:
    """Asks for the result of an addition or subtraction with numbers up to ten."""
    while True:
        first, second, plus = rng.randint(0, 10), rng.randint(0, 10), rng.random() < 0.6
        first, second = (first, second) if plus or first >= second else (second, first)
        if _in_part(f"{first} {plus} {second}", part):
            break
    result = str(first + second if plus else first - second)
    question = _wording(rng, part, "plus" if plus else "minus").format(first, second)
    sign = "plus" if plus else "minus"
    answer = rng.choice(("{result}.", "It's {result}.", "{first} {sign} {second} is {result}."))
    return Exercise("sum", (question,), answer.format(result=result, first=first, sign=sign, second=second), (result,))


EXERCISES: dict[str, Callable[[random.Random, Part], Exercise]] = {
    "repeat a list": _repeat,
    "spell a word": _spell,
    "spell backwards": _spell_backwards,
    "count": _count,
    "next in a row": _next,
    "sum": _sum,
    "say a row": _row,
}

_ROWS: dict[str, tuple[str, ...]] = {
    "day": (*(days := tuple(load_toml("values.toml")["days"])), *days[:2]),
    "month": tuple(load_toml("values.toml")["months"]),
    "letter": tuple(ascii_uppercase),
    "number": tuple(str(number) for number in range(101)),
}


def _items(rng: random.Random, part: Part, count: int, listed: str = "") -> list[str]:
    """Draw different values of one list; lists that are too short in the test are replaced by longer ones."""
    listed = listed or rng.choice(_LISTS)
    pool = values(listed, part)
    while len(pool) < count:
        pool = values(listed := rng.choice(("people", "objects", "animals", "pets")), part)
    return rng.sample(pool, count)


def _join(items: list[str], conjunction: str) -> str:
    if len(items) == 1:
        return items[0]
    if not conjunction:
        return ", ".join(items)
    return f"{', '.join(items[:-1])} {conjunction} {items[-1]}"


def _wording(rng: random.Random, part: Part, name: str) -> str:
    return rng.choice(load_toml("exercises.toml")[part][name])


def _in_part(text: str, part: Part) -> bool:
    """Whether a question belongs to a part; a checksum puts a sixth of all questions into the test."""
    return (zlib.crc32(text.encode()) % 6 == 0) == (part == "unseen")
