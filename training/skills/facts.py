"""Kinds of facts, one fact of a kind, and how it is told, asked for and answered."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

from training.skills.values import Part, article, draw, draw_any, read

_STARTS = (
    "What Where When Which Who Whose How Do Did Does Can Could Would Is Tell Say Name Give Remind Call Please Let "
    "Let's Remember Keep Don't My The There This Here It It's We You They People Everybody One No Just Originally If "
    "And In At On By From With Of For Under"
)
_SMALL = re.compile(rf"(?:{'|'.join(_STARTS.split())})\b")  # words that lose their capital behind another


@dataclass(frozen=True, slots=True)
class Kind:
    """What can be told of one thing; the fields are those of `kinds.toml`, each with its wordings for both parts."""

    name: str
    values: str
    thing: str  # "" where the kind has none; "@people" draws one from that list
    unseen: bool  # whether the whole kind is the test's alone
    nouns: tuple[str, ...]
    tell: dict[Part, tuple[str, ...]]
    ask: dict[Part, tuple[str, ...]]
    answer: tuple[str, ...]
    reply: dict[Part, tuple[str, ...]]

    @classmethod
    def of(cls, entry: dict[str, Any], thing: str, *, unseen: bool) -> Self:
        """One kind of a table of `kinds.toml`, whose wordings the shared ones join where it has a noun."""
        shared, nouns = read("wordings.toml"), tuple(entry.get("noun", ()))
        named, _, listed = thing.partition(":")

        def wordings(name: str, part: Part, *, joined: bool) -> tuple[str, ...]:
            own = entry.get(name if part == "seen" else f"unseen_{name}", [])
            return (*own, *(shared[part][name] if joined else []))

        def both(name: str, *, joined: bool) -> dict[Part, tuple[str, ...]]:
            seen, new = (wordings(name, part, joined=joined) for part in ("seen", "unseen"))
            return {"seen": seen, "unseen": (*seen, *new) if unseen else new}

        return cls(
            name=entry["name"],
            values=listed or entry["values"],
            thing=named,
            unseen=unseen,
            nouns=nouns,
            tell=both("tell", joined=bool(nouns)),
            ask=both("ask", joined=bool(nouns)),
            answer=wordings("answer", "seen", joined=bool(nouns)),
            reply=both("reply", joined=True),
        )


@cache
def kinds() -> tuple[Kind, ...]:
    """All kinds, one for each thing of a table."""
    found = []
    for entry in read("kinds.toml")["kind"]:
        things = entry.get("things", "")
        listed = [f"@{things}"] if isinstance(things, str) and things else things or [""]
        found += [Kind.of(entry, thing, unseen=entry.get("unseen", False)) for thing in listed]
        found += [Kind.of(entry, thing, unseen=True) for thing in entry.get("unseen_things", ())]
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something told: of which kind, what it is, and the words for it."""

    kind: Kind
    thing: str
    value: str
    noun: str
    old: str = ""  # what was told before it was corrected

    def fill(self, wording: str) -> str:
        """A wording with this fact in it, as a sentence."""
        noun = self.noun.format(thing=self.thing)
        return sentence(
            wording.format(thing=self.thing, value=self.value, noun=noun, old=self.old, a=article(self.value))
        )

    def tell(self, rng: random.Random, part: Part) -> str:
        return self.fill(rng.choice(self.kind.tell[part]))

    def ask(self, rng: random.Random, part: Part) -> str:
        return self.fill(rng.choice(self.kind.ask[part]))

    def answer(self, rng: random.Random) -> str:
        """Half of the time the kind's first wording, a whole sentence.

        It names the thing again, so that its value is found as any repetition is, and the likeliest answer is never
        "You haven't told me" for the reason alone that the right ones have many wordings.
        """
        return self.fill(self.kind.answer[0] if rng.random() < 0.5 else rng.choice(self.kind.answer))

    def corrected(self, rng: random.Random, part: Part) -> Fact:
        """The same with another value."""
        while (value := draw_any(rng, self.kind.values, part)) == self.value:
            pass
        return replace(self, value=value, old=self.value)


def draw_fact(rng: random.Random, kind: Kind, part: Part) -> Fact:
    """A fact of a kind, with a value of the part."""
    thing = draw(rng, kind.thing[1:], part) if kind.thing.startswith("@") else kind.thing
    while (value := draw_any(rng, kind.values, part)) == thing:
        pass
    return Fact(kind, thing, value, rng.choice(kind.nouns) if kind.nouns else "")


def draw_kind(rng: random.Random, *, unseen: bool) -> Kind:
    """A kind: each table of `kinds.toml` is as likely as any other, whatever the number of its things."""
    tables = _tables(unseen)
    return rng.choice(tables[rng.choice(tuple(tables))])


@cache
def _tables(unseen: bool) -> dict[str, list[Kind]]:
    found: dict[str, list[Kind]] = {}
    for kind in kinds():
        if kind.unseen == unseen:
            found.setdefault(kind.name, []).append(kind)
    return found


def draw_facts(rng: random.Random, count: int, part: Part, *, unseen: bool = False) -> list[Fact]:
    """Facts with values of their own, about different things; often two are of one kind, and so must be told apart."""
    found: list[Fact] = []
    while len(found) < count:
        kind = draw_kind(rng, unseen=unseen)
        if found and rng.random() < 0.4:
            kind = rng.choice(
                [other for other in kinds() if other.name == found[-1].kind.name and other.unseen == unseen]
            )
        fact = draw_fact(rng, kind, part)
        if fits(fact, found):
            found.append(fact)
    return found


def fits(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether a fact can stand beside others: no question fits two of them, and no two have the same value."""
    return all(
        (fact.kind.name, fact.thing) != (other.kind.name, other.thing)
        and fact.value.casefold() not in (other.value.casefold(), other.thing.casefold())
        and fact.thing.casefold() != other.value.casefold()
        for other in others
    )


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def lead(words: str, text: str) -> str:
    """Words before a sentence, which loses its capital where they only begin it."""
    return words + (
        text[:1].lower() + text[1:] if words.endswith((", ", ": ", "And ")) and _SMALL.match(text) else text
    )
