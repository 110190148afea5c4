"""The items that measure what a model learned of `training.skills`, none of which any training saw.

    python -m training.skills.testing DATA --output skills.jsonl.gz

Values, things and wordings are those kept for the test, small talk is of the test split of the data folder, and an
item's answer is right if it holds one of `accepted` and none of `rejected`. `training.evaluate` reads the file.
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

from model.command_line import Parser, exit_code, writing
from model.errors import AttendError
from training.data import read_records
from training.skills.exercises import EXERCISES, draw_exercise
from training.skills.facts import Fact, draw_fact, draw_kind, fits, kinds
from training.skills.small_talk import SmallTalk
from training.skills.values import read, values, within

LONGEST = 6  # exchanges of small talk between a fact and the question for it
_UNSEEN = read("wordings.toml")["unseen"]
_HONEST = ("haven't told", "have not told", "didn't tell", "don't know", "haven't said", "haven't mentioned")


@dataclass(frozen=True, slots=True)
class Item:
    """One question and what a right answer is."""

    skill: str
    kind: str  # of the fact, or of the task
    distance: int  # exchanges between the fact and its question
    turns: tuple[str, ...]  # the last one is the user's question
    accepted: tuple[str, ...]
    rejected: tuple[str, ...] = ()
    told: int = -1  # in which turn the value stands that is asked for; -1 where none was told

    def is_right(self, answer: str) -> bool:
        """Whether an answer holds what it must, and nothing that it must not, as whole words in any case."""
        return any(within(text, answer) for text in self.accepted) and not any(
            within(text, answer) for text in self.rejected
        )


def write_items(talk: SmallTalk, seed: int = 1) -> Iterator[Item]:
    """All items of the test: 60 of recall at each distance, 10 for held-out kinds, 40 or 60 for each other skill."""
    rng = random.Random(seed)
    for distance in range(LONGEST + 1):
        for _ in range(60):
            yield _recall(rng, talk, distance, "recall")
        for _ in range(15):
            yield _recall(rng, talk, distance, "recall, held-out kinds")
    for _ in range(60):
        yield _recall(rng, talk, rng.randint(0, 2), "one of several facts")
        yield _corrected(rng, talk)
        yield _not_told(rng, talk)
    for _ in range(40):
        yield _whose_name(rng, talk)
    for skill in EXERCISES:
        for _ in range(40):
            task = draw_exercise(rng, "unseen", skill)
            yield Item(skill, skill, 0, task.turns, task.accepted)


def _facts(rng: random.Random, count: int, *, held_out: bool = False) -> list[Fact]:
    """Facts of one kind, of a list with enough values for the test."""
    while True:
        kind = draw_kind(rng, unseen=held_out)
        if kind.values != "digits" and len(values(kind.values, "unseen")) < 3:
            continue
        alike = [other for other in kinds() if other.name == kind.name and other.unseen == held_out]
        alike = [other for other in alike if other.values == kind.values]
        found: list[Fact] = []
        for other in rng.sample(alike * count, len(alike) * count):
            fact = draw_fact(rng, other, "unseen")
            if len(found) < count and fits(fact, found):
                found.append(fact)
        if len(found) == count:
            return found


def _recall(rng: random.Random, talk: SmallTalk, distance: int, skill: str) -> Item:
    """A fact, or several of one kind, small talk, and the question."""
    several = skill == "one of several facts"
    facts = _facts(rng, rng.choice((2, 3)) if several else 1, held_out="held-out" in skill)
    asked = rng.choice(facts)
    turns = [" ".join(fact.tell(rng, "unseen") for fact in facts), _reply(rng)]
    turns += talk.draw(rng, distance)
    rejected = tuple(fact.value for fact in facts if fact != asked)
    question = asked.ask(rng, "unseen")
    return Item(skill, asked.kind.name, distance, (*turns, question), (asked.value,), rejected, told=0)


def _corrected(rng: random.Random, talk: SmallTalk) -> Item:
    (fact,) = _facts(rng, 1)
    right = fact.corrected(rng, "unseen")
    turns = [fact.tell(rng, "unseen"), _reply(rng), right.fill(rng.choice(_UNSEEN["correct"])), _reply(rng)]
    distance = rng.randint(0, 2)
    turns += [*talk.draw(rng, distance), right.ask(rng, "unseen")]
    return Item("a corrected fact", fact.kind.name, distance, tuple(turns), (right.value,), (fact.value,), told=2)


def _not_told(rng: random.Random, talk: SmallTalk) -> Item:
    """A question for what was not told, while something else was."""
    (fact,) = _facts(rng, 1)
    while True:
        other = draw_fact(rng, draw_kind(rng, unseen=False), "unseen")
        if fits(other, [fact]):
            break
    distance = rng.randint(0, 2)
    turns = (fact.tell(rng, "unseen"), _reply(rng), *talk.draw(rng, distance), other.ask(rng, "unseen"))
    return Item("not told", other.kind.name, distance, turns, _HONEST, (fact.value,))


def _whose_name(rng: random.Random, talk: SmallTalk) -> Item:
    """The user says a name, hears the model's, and asks for one of the two."""
    fact = draw_fact(rng, kinds()[0], "unseen")
    turns = [fact.tell(rng, "unseen"), "Nice to meet you! I'm Attend.", *talk.draw(rng, rng.randint(0, 2))]
    if rng.random() < 0.5:
        return Item(
            "whose name", "the user's", 0, (*turns, fact.ask(rng, "unseen")), (fact.value,), ("Attend",), told=0
        )
    question = rng.choice(("What was your name again?", "And you are called?", "Could you say your name?"))
    return Item("whose name", "the model's", 0, (*turns, question), ("Attend",), (fact.value,), told=1)


def _reply(rng: random.Random) -> str:
    return rng.choice(_UNSEEN["reply"])


def write(items: Iterator[Item], path: Path) -> int:
    """Items as gzipped JSON lines; how many there were."""
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        number = 0
        for number, item in enumerate(items, start=1):  # noqa: B007
            lines.write(json.dumps(asdict(item), ensure_ascii=False) + "\n")
    return number


def read_items(path: Path) -> list[Item]:
    """What `write` wrote; `AttendError` for a file of another form."""
    return [_item(record, path) for record in read_records(path)]


def _item(record: Any, path: Path) -> Item:
    try:
        lists = {name: tuple(record[name]) for name in ("turns", "accepted", "rejected")}
        return Item(**{**record, **lists})
    except (TypeError, KeyError) as error:
        raise AttendError(f"{path} does not hold what training.skills.testing writes: write it anew.") from error


def _command(arguments: Sequence[str] | None) -> None:
    parser = Parser(
        prog="python -m training.skills.testing",
        description="Write the test of the skills as a file for training.evaluate.",
    )
    parser.add_argument(
        "data", metavar="DATA", type=Path, help="the folder with the training data, whose test split is the small talk"
    )
    parser.add_argument("--output", metavar="FILE", type=Path, required=True, help="the file to write (.jsonl.gz)")
    read = parser.parse_args(arguments)
    talk = SmallTalk.of(read.data, "test")
    with writing(read.output):
        number = write(write_items(talk), read.output)
    print(f"{number:,} items in {read.output}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit code."""
    return exit_code(lambda: _command(arguments))


if __name__ == "__main__":
    sys.exit(main())
