"""Kinds of facts, and single facts with the sentences that state them, ask for them and answer with them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Self

from training.skills.values import Part, article, draw, draw_fact_value, load_toml

_STARTS = (
    "What Where When Which Who Whose How Do Did Does Can Could Would Is Tell Say Name Give Remind Call Please Let "
    "Let's Remember Keep Don't My The There This Here It It's We You They People Everybody One No Just Originally If "
    "And In At On By From With Of For Under Are Any Note As So Some Someone That That's Instead Today Quick Wait "
    "A An About After Behind Didn't Nothing Once Tonight Whom Our Inside To Somebody All"
)
_SMALL = re.compile(rf"(?:{'|'.join(_STARTS.split())})\b")  # capitalized only at the start of a sentence


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of fact about one thing, with the fields of `kinds.toml`: wordings for each part."""

    name: str
    values: str
    thing: str  # "" if the kind has none; "@people" draws one from that list
    unseen: bool  # whether the kind is held out for the test
    nouns: tuple[str, ...]
    tell: dict[Part, tuple[str, ...]]
    ask: dict[Part, tuple[str, ...]]
    answer: tuple[str, ...]
    reply: dict[Part, tuple[str, ...]]

    @classmethod
    def from_table(cls, entry: dict[str, Any], thing: str, *, unseen: bool) -> Self:
        """Build a kind from a table of `kinds.toml`, with the shared wordings if it has a noun."""
        shared, nouns = load_toml("wordings.toml"), tuple(entry.get("noun", ()))
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
    """All kinds: one per thing of each table."""
    kinds = []
    for entry in load_toml("kinds.toml")["kind"]:
        things = entry.get("things", "")
        listed = [f"@{things}"] if isinstance(things, str) and things else things or [""]
        kinds += [Kind.from_table(entry, thing, unseen=entry.get("unseen", False)) for thing in listed]
        kinds += [Kind.from_table(entry, thing, unseen=True) for thing in entry.get("unseen_things", ())]
    return tuple(kinds)


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact, such as: of the kind "color", the thing "car" has the value "red"."""

    kind: Kind
    thing: str
    value: str
    noun: str
    old: str = ""  # the value before a correction

    def fill(self, wording: str) -> str:
        """Fill the fact into a wording; returns a sentence."""
        noun = self.noun.format(thing=self.thing)
        return sentence(
            wording.format(
                thing=self.thing,
                value=self.value,
                noun=noun,
                old=self.old,
                a=article(self.value),
                thing_article=article(self.thing),
            )
        )

    def tell(self, rng: random.Random, part: Part) -> str:
        return self.fill(rng.choice(self.kind.tell[part]))

    def ask(self, rng: random.Random, part: Part) -> str:
        return self.fill(rng.choice(self.kind.ask[part]))

    def answer(self, rng: random.Random) -> str:
        """Return the kind's first wording, a whole sentence, half of the time.

        That wording repeats the thing, after which the value can be copied by induction. And if one wording is
        frequent, "You haven't told me" is not the most probable answer merely because the right answers differ.
        """
        return self.fill(self.kind.answer[0] if rng.random() < 0.5 else rng.choice(self.kind.answer))

    def corrected(self, rng: random.Random, part: Part) -> Fact:
        """The same fact with another value."""
        while (value := draw_fact_value(rng, self.kind.values, part)) == self.value:
            pass
        return replace(self, value=value, old=self.value)


def draw_fact(rng: random.Random, kind: Kind, part: Part) -> Fact:
    """Draw a fact of a kind, with a value of a part."""
    thing = draw(rng, kind.thing[1:], part) if kind.thing.startswith("@") else kind.thing
    while (value := draw_fact_value(rng, kind.values, part)) == thing:
        pass
    return Fact(kind, thing, value, rng.choice(kind.nouns) if kind.nouns else "")


def draw_kind(rng: random.Random, *, unseen: bool) -> Kind:
    """Draw a kind: a table of `kinds.toml`, all equally likely, then one of its things."""
    tables = _tables(unseen)
    return rng.choice(tables[rng.choice(tuple(tables))])


@cache
def _tables(unseen: bool) -> dict[str, list[Kind]]:
    tables: dict[str, list[Kind]] = {}
    for kind in kinds():
        if kind.unseen == unseen:
            tables.setdefault(kind.name, []).append(kind)
    return tables


def draw_facts(rng: random.Random, count: int, part: Part, *, unseen: bool = False) -> list[Fact]:
    """Draw distinguishable facts, often several of one kind."""
    facts: list[Fact] = []
    while len(facts) < count:
        kind = draw_kind(rng, unseen=unseen)
        if facts and rng.random() < 0.4:
            kind = rng.choice(
                [other for other in kinds() if other.name == facts[-1].kind.name and other.unseen == unseen]
            )
        fact = draw_fact(rng, kind, part)
        if distinguishable(fact, facts):
            facts.append(fact)
    return facts


def distinguishable(fact: Fact, others: Sequence[Fact]) -> bool:
    """Whether no question about the fact fits one of the others as well, and no value occurs twice."""
    return all(
        (fact.kind.name, fact.thing) != (other.kind.name, other.thing)
        and fact.value.casefold() not in (other.value.casefold(), other.thing.casefold())
        and fact.thing.casefold() != other.value.casefold()
        for other in others
    )


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def starts_small(text: str) -> bool:
    """Whether a sentence's first word is capitalized by its position alone."""
    return _SMALL.match(text) is not None


def prepend(words: str, text: str) -> str:
    """Put words before a sentence, whose first word loses its capital if only its position gave it one."""
    return words + (
        text[:1].lower() + text[1:] if words.endswith((", ", ": ", "And ")) and starts_small(text) else text
    )
