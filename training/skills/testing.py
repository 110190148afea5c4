"""Writes the held-out test of `training.skills`.

    python -m training.skills.testing DATA --output skills.jsonl.gz

Its values, things and wordings are held out from training, and its small talk comes from the test split of the data
folder. `training.evaluate --skills` reads the file.
"""

from __future__ import annotations

import gzip
import json
import random
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from model.command_line import Parser, command, writing
from model.errors import AttendError
from training.data import read_records
from training.skills.exercises import EXERCISES, draw_exercise
from training.skills.facts import Fact, distinguishable, draw_fact, draw_kind, kinds
from training.skills.small_talk import SmallTalk
from training.skills.values import load_toml, occurs_in, values

LONGEST = 6  # exchanges between a fact and its question
_UNSEEN = load_toml("wordings.toml")["unseen"]
_HONEST = ("haven't told", "have not told", "didn't tell", "don't know", "haven't said", "haven't mentioned")


@dataclass(frozen=True, slots=True)
class Item:
    """A conversation that ends with a question, and what a right answer contains."""

    skill: str
    kind: str  # of fact, or the exercise's skill
    distance: int  # exchanges between the fact and its question
    turns: tuple[str, ...]  # the last one is the user's question
    accepted: tuple[str, ...]
    rejected: tuple[str, ...] = ()
    fact_turn: int = -1  # index of the turn that states the value asked for; -1 if none does

    def is_right(self, answer: str) -> bool:
        """Whether an answer contains one of `accepted` and none of `rejected`, as whole words, ignoring case."""
        return any(occurs_in(text, answer) for text in self.accepted) and not any(
            occurs_in(text, answer) for text in self.rejected
        )


def write_items(talk: SmallTalk, seed: int = 1) -> Iterator[Item]:
    """Yield the test: for each distance 60 items of recall and 15 of held-out kinds; 40 or 60 of each other skill."""
    rng = random.Random(seed)
    for distance in range(LONGEST + 1):
        for _ in range(60):
            yield _recall(rng, talk, distance, "recall")
        for _ in range(15):
            yield _recall(rng, talk, distance, "recall, held-out kinds")
    for _ in range(60):
        yield _recall(rng, talk, rng.randint(0, 2), "one of several facts")
        yield _corrected(rng, talk)
        yield _unanswerable(rng, talk)
    for _ in range(40):
        yield _whose_name(rng, talk)
    for skill in EXERCISES:
        for _ in range(40):
            task = draw_exercise(rng, "unseen", skill)
            yield Item(skill, skill, 0, task.turns, task.accepted)


def _facts(rng: random.Random, count: int, *, held_out: bool = False) -> list[Fact]:
    """Draw facts of one kind, from a list with enough values in the test."""
    while True:
        kind = draw_kind(rng, unseen=held_out)
        if kind.values != "digits" and len(values(kind.values, "unseen")) < 3:
            continue
        alike = [other for other in kinds() if other.name == kind.name and other.unseen == held_out]
        alike = [other for other in alike if other.values == kind.values]
        facts: list[Fact] = []
        for other in rng.sample(alike * count, len(alike) * count):
            fact = draw_fact(rng, other, "unseen")
            if len(facts) < count and distinguishable(fact, facts):
                facts.append(fact)
        if len(facts) == count:
            return facts


def _recall(rng: random.Random, talk: SmallTalk, distance: int, skill: str) -> Item:
    """Tell one fact or several of one kind, then make small talk and ask."""
    several = skill == "one of several facts"
    facts = _facts(rng, rng.choice((2, 3)) if several else 1, held_out="held-out" in skill)
    target = rng.choice(facts)
    turns = [" ".join(fact.tell(rng, "unseen") for fact in facts), _reply(rng)]
    turns += talk.draw(rng, distance)
    rejected = tuple(fact.value for fact in facts if fact != target)
    question = target.ask(rng, "unseen")
    return Item(skill, target.kind.name, distance, (*turns, question), (target.value,), rejected, fact_turn=0)


def _corrected(rng: random.Random, talk: SmallTalk) -> Item:
    (fact,) = _facts(rng, 1)
    right = fact.corrected(rng, "unseen")
    turns = [fact.tell(rng, "unseen"), _reply(rng), right.fill(rng.choice(_UNSEEN["correct"])), _reply(rng)]
    distance = rng.randint(0, 2)
    turns += [*talk.draw(rng, distance), right.ask(rng, "unseen")]
    return Item("a corrected fact", fact.kind.name, distance, tuple(turns), (right.value,), (fact.value,), fact_turn=2)


def _unanswerable(rng: random.Random, talk: SmallTalk) -> Item:
    """Ask about a fact that was not stated, after one that was."""
    (fact,) = _facts(rng, 1)
    while True:
        other = draw_fact(rng, draw_kind(rng, unseen=False), "unseen")
        if distinguishable(other, [fact]):
            break
    distance = rng.randint(0, 2)
    turns = (fact.tell(rng, "unseen"), _reply(rng), *talk.draw(rng, distance), other.ask(rng, "unseen"))
    return Item("not told", other.kind.name, distance, turns, _HONEST, (fact.value,))


def _whose_name(rng: random.Random, talk: SmallTalk) -> Item:
    """The user and the model introduce themselves, and the user asks for one of the two names."""
    fact = draw_fact(rng, kinds()[0], "unseen")
    turns = [fact.tell(rng, "unseen"), "Nice to meet you! I'm Attend.", *talk.draw(rng, rng.randint(0, 2))]
    if rng.random() < 0.5:
        return Item(
            "whose name", "the user's", 0, (*turns, fact.ask(rng, "unseen")), (fact.value,), ("Attend",), fact_turn=0
        )
    question = rng.choice(("What was your name again?", "And you are called?", "Could you say your name?"))
    return Item("whose name", "the model's", 0, (*turns, question), ("Attend",), (fact.value,), fact_turn=1)


def _reply(rng: random.Random) -> str:
    return rng.choice(_UNSEEN["reply"])


def write(items: Iterator[Item], path: Path) -> int:
    """Write items as gzipped JSON lines; returns their number."""
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        number = 0
        for number, item in enumerate(items, start=1):  # noqa: B007
            lines.write(json.dumps(asdict(item), ensure_ascii=False) + "\n")
    return number


def read_items(path: Path) -> list[Item]:
    """Read what `write` wrote; raises `AttendError` for any other file."""
    return [_item(record, path) for record in read_records(path)]


def _item(record: Any, path: Path) -> Item:
    try:
        lists = {name: tuple(record[name]) for name in ("turns", "accepted", "rejected")}
        return Item(**{**record, **lists})
    except (TypeError, KeyError) as error:
        raise AttendError(f"{path} is not a file that training.skills.testing has written: write it again.") from error


@command
def main(arguments: Sequence[str] | None = None) -> None:
    parser = Parser(
        prog="python -m training.skills.testing",
        description="Write the test of skills for training.evaluate --skills.",
    )
    parser.add_argument(
        "data", metavar="DATA", type=Path, help="the folder with the training data, whose test split is the small talk"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the file to write (.jsonl.gz)")
    options = parser.parse_args(arguments)
    talk = SmallTalk.load(options.data, "test")
    with writing(options.output):
        number = write(write_items(talk), options.output)
    print(f"{number:,} items in {options.output}")


if __name__ == "__main__":
    sys.exit(main())
