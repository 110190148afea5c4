"""What facts can be: lists of values, each value either for training or for the test.

A value belongs to the test by a checksum of its spelling, so it does in every list that holds it. Two kinds of values
are for training alone: those that stand in a wording, and those of which a part belongs to the test are left out.
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

Part = Literal["seen", "unseen"]  # by training

FOLDER = Path(__file__).parent
_INVENTED = 0.4  # of the names of people and pets: copying, not knowing, must be what finds them
_STRANGE = 0.4  # of the values of all facts in training, for the same reason: its lists of colours or days are short
_SHORT = 40  # values of a list; where there are fewer, more are strange: of the four days that training has, 0.9
_ONSETS = ("b", "br", "c", "ch", "d", "dr", *"fg", "gr", *"hjklmnp", "qu", *"rs", "sh", "st", "t", "th", "tr", *"vwyz")
_VOWELS = (*"aeiou", "ai", "ee", "ia", "o", "a")
_MIDDLES = ("", "", "", "n", "l", "r", "m", "s")  # end a syllable before another
_CODAS = ("", "", "", *"nlrsmx", "nd", "ck", "th", "rt")  # end a name
_STARTS = ("a", "e", "i", "o", "u", "al", "an", "ar", "el", "em", "er", "il", "in", "is", "ol", "or", "os", "ul")
_VOWEL_FIRST = 0.2  # of the invented names
_BEFORE = (0, 1, 1, 1, 2)  # syllables before the last one
_RUDE = re.compile(  # parts that an invented name must not have
    "nig|neg|fag|fu[ck]|shi[ts]|cu[mn]|di[ck]|dy|co[ck]|ti[ts]|rap|homo|ki[k]|gook|chin|paki|coo|sl[ui]|who|jap|spi[ck]|"
    "tra[n]|pis|pus|ass|ana[ln]|anu|ars[e]|hoar|shar|feck|hick|jiz|wan[ck]|poo|pee|gaz|gay"
)


@cache
def read(name: str) -> dict[str, Any]:
    """One of the folder's files of wordings."""
    with (FOLDER / name).open("rb") as file:
        return tomllib.load(file)


def draw(rng: random.Random, name: str, part: Part) -> str:
    """A value of a list, a number of two to four digits for "digits"; some names are invented."""
    if name == "digits" or (name in ("people", "pets") and rng.random() < _INVENTED):
        make = _number if name == "digits" else _invented
        while _is_unseen(value := make(rng)) != (part == "unseen") or (name != "digits" and value in _all_listed()):
            pass
        return value
    return rng.choice(values(name, part))


def draw_any(rng: random.Random, name: str, part: Part) -> str:
    """The same for a fact: in training often a value that nobody expects there, invented or of another list.

    A model that has seen 32 colours learns to guess among them; one whose favourite color was "Tuesday" or "quenor" as
    well learns to look up what was told. The shorter a list, the better a guess would be, so the rarer its own values:
    of days that training lacks, a model that had met four others 60 % of the time recalled 1 in 29.
    """
    if part == "unseen" or name == "digits":
        return draw(rng, name, part)
    if rng.random() >= max(_STRANGE, 1 - len(values(name, part)) / _SHORT):
        return draw(rng, name, part)
    if rng.random() < 0.25:
        return draw(rng, rng.choice(sorted(_lists())), part)
    while _is_unseen(value := _unexpected(rng, name)) or value in _all_listed():
        pass
    return value


@cache
def values(name: str, part: Part) -> tuple[str, ...]:
    """The values of a list that training sees, or those that it does not."""
    unseen = _unseen_values()
    if part == "unseen":
        return tuple(value for value in _lists()[name] if value in unseen)
    return tuple(
        value for value in _lists()[name] if value not in unseen and not any(within(other, value) for other in unseen)
    )


def within(value: str, text: str) -> bool:
    """Whether a text holds a value as whole words, whatever their case."""
    if value.casefold() not in text.casefold():  # the quick answer to most questions
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
        name: tuple(found.split() if isinstance(found, str) else found) for name, found in read("values.toml").items()
    }


@cache
def _all_listed() -> frozenset[str]:
    return frozenset(value for found in _lists().values() for value in found)


@cache
def _unseen_values() -> frozenset[str]:
    wordings = "\n".join(text for name in ("kinds.toml", "wordings.toml", "talk.toml") for text in _texts(read(name)))
    return frozenset(value for value in _all_listed() if _is_unseen(value) and not within(value, wordings))


def _texts(found: Any) -> Iterator[str]:
    """All texts within what a TOML file holds."""
    if isinstance(found, str):
        yield found
    elif isinstance(found, dict | list):
        for inner in found.values() if isinstance(found, dict) else found:
            yield from _texts(inner)


def _unexpected(rng: random.Random, name: str) -> str:
    """A value of no list: a place, time or day put together, an invented word or a common one."""
    if name in _COMPOSED and rng.random() < 0.5:
        return _COMPOSED[name](rng)
    value = _invented(rng) if rng.random() < 0.4 else rng.choice(_common_words())
    return value.capitalize() if values(name, "seen")[0][0].isupper() else value.lower()


@cache
def _common_words() -> tuple[str, ...]:
    """Words of the real dialogues that between them hold the pieces of attend-chat's vocabulary.

    A value is copied a piece at a time, and a piece that never stood in an answer is copied badly: of facts whose value
    had one, 27 of 64 were recalled; of those whose pieces stood in 20 or more of 4,000 dialogues, 155 of 189.
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
