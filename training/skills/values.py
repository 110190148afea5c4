"""The values of facts, split into training ("seen") and test ("unseen").

A checksum of its spelling decides whether a value belongs to the test, whichever lists contain it. Values that occur in
a wording are never in the test, and values that contain one of the test are in neither part.
"""

from __future__ import annotations

import random
import re
import tomllib
import zlib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal

Part = Literal["seen", "unseen"]  # of the data: training, test

FOLDER = Path(__file__).parent
_INVENTED = 0.4  # share of invented names of people and pets: they can only be copied, not guessed
_UNEXPECTED = 0.4  # share of unexpected values of any fact in training, for the same reason
_SHORT_LIST = 40  # values; facts with shorter lists get more unexpected ones: 0.9 for the four days in training
_ONSETS = ("b", "br", "c", "ch", "d", "dr", *"fg", "gr", *"hjklmnp", "qu", *"rs", "sh", "st", "t", "th", "tr", *"vwyz")
_VOWELS = (*"aeiou", "ai", "ee", "ia", "o", "a")
_MIDDLES = ("", "", "", "n", "l", "r", "m", "s")  # after the vowel of any but the last syllable
_CODAS = ("", "", "", *"nlrsmx", "nd", "ck", "th", "rt")  # after the last vowel
_STARTS = ("a", "e", "i", "o", "u", "al", "an", "ar", "el", "em", "er", "il", "in", "is", "ol", "or", "os", "ul")
_VOWEL_FIRST = 0.2  # share of invented names that start with one of them
_BEFORE = (0, 1, 1, 1, 2)  # syllables before the last
_RUDE = re.compile(  # substrings that no invented name may have
    "nig|neg|fag|fu[ck]|shi[ts]|cu[mn]|di[ck]|dy|co[ck]|ti[ts]|rap|homo|ki[k]|gook|chin|paki|coo|sl[ui]|who|jap|spi[ck]|"
    "tra[n]|pis|pus|ass|ana[ln]|anu|ars[e]|hoar|shar|feck|hick|jiz|wan[ck]|poo|pee|gaz|gay"
)


@cache
def load_toml(name: str) -> dict[str, Any]:
    """Parse one of this package's TOML files."""
    with (FOLDER / name).open("rb") as file:
        return tomllib.load(file)


def draw(rng: random.Random, name: str, part: Part) -> str:
    """Draw a value of a list, or for "digits" a number of two to four digits; some names are invented."""
    if name == "digits" or (name in ("people", "pets") and rng.random() < _INVENTED):
        make = _number if name == "digits" else _invented
        while _is_unseen(value := make(rng)) != (part == "unseen") or (name != "digits" and value in _all_listed()):
            pass
        return value
    return rng.choice(values(name, part))


def draw_fact_value(rng: random.Random, name: str, part: Part) -> str:
    """Draw a fact's value, in training often an unexpected one: an invented word or a value of another list.

    A model that has seen 32 colors learns to guess among them; one that has also seen the favorite color "Tuesday" or
    "quenor" learns to look it up. Guessing works best for short lists, so their own values are drawn less often: a
    model that saw one of four days 60 % of the time recalled 1 in 29 facts about the other days.
    """
    if part == "unseen" or name == "digits":
        return draw(rng, name, part)
    if rng.random() >= max(_UNEXPECTED, 1 - len(values(name, part)) / _SHORT_LIST):
        return draw(rng, name, part)
    if rng.random() < 0.25:
        return draw(rng, rng.choice(sorted(_lists())), part)
    while _is_unseen(value := _unexpected(rng, name)) or value in _all_listed():
        pass
    return value


@cache
def values(name: str, part: Part) -> tuple[str, ...]:
    """The values of a list that belong to a part."""
    unseen = _unseen_values()
    if part == "unseen":
        return tuple(value for value in _lists()[name] if value in unseen)
    return tuple(
        value
        for value in _lists()[name]
        if value not in unseen and not any(occurs_in(other, value) for other in unseen)
    )


def occurs_in(value: str, text: str) -> bool:
    """Whether a value occurs in a text as whole words, ignoring case."""
    if value.casefold() not in text.casefold():  # fast path
        return False
    return re.search(rf"(?<!\w){re.escape(value)}(?!\w)", text, flags=re.IGNORECASE) is not None


def article(value: str) -> str:
    """The indefinite article before a noun."""
    return "an" if re.match(r"[aeio]|u(?!k|ni)", value, flags=re.IGNORECASE) else "a"


def _is_unseen(value: str) -> bool:
    return zlib.crc32(value.casefold().encode()) % 5 == 0


@cache
def _lists() -> Mapping[str, tuple[str, ...]]:
    return {
        name: tuple(values.split() if isinstance(values, str) else values)
        for name, values in load_toml("values.toml").items()
    }


@cache
def _all_listed() -> frozenset[str]:
    return frozenset(value for values in _lists().values() for value in values)


@cache
def _unseen_values() -> frozenset[str]:
    wordings = "\n".join(
        text for name in ("kinds.toml", "wordings.toml", "talk.toml") for text in _texts(load_toml(name))
    )
    return frozenset(value for value in _all_listed() if _is_unseen(value) and not occurs_in(value, wordings))


def _texts(value: Any) -> Iterator[str]:
    """Yield all strings of a parsed TOML file."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)


def _unexpected(rng: random.Random, name: str) -> str:
    """Draw a value of no list: a composed place, time or date, an invented word, or a common word."""
    if name in _COMPOSED and rng.random() < 0.5:
        return _COMPOSED[name](rng)
    value = _invented(rng) if rng.random() < 0.4 else rng.choice(_common_words())
    return value.capitalize() if values(name, "seen")[0][0].isupper() else value.lower()


@cache
def _common_words() -> tuple[str, ...]:
    """Words of the real dialogues, chosen to cover attend-chat's vocabulary.

    A value is copied token by token, and tokens that never occur in training answers are copied badly. A model recalled
    27 of 64 facts with such a token, and 155 of 189 facts whose tokens each occur in the answers of at least 20 of
    4,000 dialogues.
    """
    return tuple((FOLDER / "common_words.txt").read_text().split())


def _place(rng: random.Random) -> str:
    preposition = rng.choice(("in", "on", "under", "behind", "next to", "near", "inside", "on top of"))
    return f"{preposition} the {rng.choice(values('objects', 'seen'))}"


def _time(rng: random.Random) -> str:
    hour = rng.randint(1, 12)
    if rng.random() < 0.5:
        return f"{hour}:{rng.randrange(60):02}"
    minutes = rng.choice(("five past", "ten past", "twenty past", "ten to", "twenty to", "five to"))
    return f"{minutes} {_HOURS[hour - 1]}"


def _date(rng: random.Random) -> str:
    if rng.random() < 0.7:
        return f"{rng.choice(values('months', 'seen'))} {rng.randint(1, 30)}"
    return f"the {rng.randint(4, 20)}th"


_HOURS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_COMPOSED: dict[str, Callable[[random.Random], str]] = {"places": _place, "times": _time, "days": _date}


def _number(rng: random.Random) -> str:
    return str(rng.randint(10, 10 ** rng.randint(2, 4) - 1))


def _invented(rng: random.Random) -> str:
    while True:
        before = (rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_MIDDLES) for _ in range(rng.choice(_BEFORE)))
        start = rng.choice(_STARTS) if rng.random() < _VOWEL_FIRST else ""
        name = start + "".join(before) + rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)
        if len(name) > 2 and not _RUDE.search(name):
            return name.capitalize()
