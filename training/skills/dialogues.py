"""Dialogues for training: facts told and asked back, tasks, talk about the model itself, and small talk between."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from training.skills.exercises import draw_exercise
from training.skills.facts import Fact, draw_fact, draw_facts, draw_kind, fits, kinds, lead
from training.skills.small_talk import SmallTalk
from training.skills.values import read

_SEEN = read("wordings.toml")["seen"]
_NOT_TOLD = 0.09  # how often a question for something that nobody told comes before one that can be answered


def skill_dialogues(small_talk: SmallTalk, seed: int) -> Iterator[tuple[str, ...]]:
    """Endless dialogues, the user first, with nothing in them that belongs to the test."""
    dice = random.Random(seed)
    while True:
        write = dice.choices((_recall, _tasks, _about_itself), weights=(70, 17, 13))[0]
        yield tuple(write(dice, small_talk))


def _recall(dice: random.Random, small_talk: SmallTalk) -> list[str]:
    """Facts are told, other things talked about, and the facts asked back."""
    turns = small_talk.draw(dice, dice.choice((0, 0, 1, 2)))
    facts = draw_facts(dice, dice.choice((1, 1, 2, 2, 3, 4)), "seen")
    waiting = list(facts)
    while waiting:
        together, waiting = _split(waiting, dice.choice((1, 1, 2)))
        told = " ".join(fact.tell(dice, "seen") for fact in together)
        if dice.random() < 0.3:
            told = lead(dice.choice(_SEEN["before_telling"]), told)
        if dice.random() < 0.12:  # asked in the same breath
            fact = dice.choice(together)
            turns += [f"{told} {fact.ask(dice, 'seen')}", fact.answer(dice)]
        else:
            fact = together[-1]
            turns += [told, fact.fill(dice.choice(fact.kind.reply["seen"]))]
        if len(together) == 1 and dice.random() < 0.2:
            facts[facts.index(together[0])] = _correct(dice, together[0], turns)
        turns += _aside(dice, small_talk) if dice.random() < 0.2 else []
    turns += small_talk.draw(dice, dice.choice((0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6)))
    for fact in dice.sample(facts, len(facts)) + dice.sample(facts, dice.choice((0, 0, 1))):
        if dice.random() < _NOT_TOLD:
            turns += _not_told(dice, facts)
        asked = fact.ask(dice, "seen")
        if dice.random() < 0.25:
            asked = lead(dice.choice(_SEEN["before_asking"]), asked)
        if dice.random() < 0.15:
            asked += dice.choice(_SEEN["after_asking"])
        turns += [asked, fact.answer(dice)]
        if dice.random() < 0.1:
            turns += [dice.choice(_SEEN["checked"]), dice.choice(_SEEN["checked_reply"])]
        turns += _aside(dice, small_talk) if dice.random() < 0.2 else []
    if dice.random() < _NOT_TOLD:
        turns += _not_told(dice, facts)
    return turns


def _split(facts: list[Fact], count: int) -> tuple[list[Fact], list[Fact]]:
    return facts[:count], facts[count:]


def _aside(dice: random.Random, small_talk: SmallTalk) -> list[str]:
    """One exchange on something else."""
    return dice.choice((lambda: small_talk.draw(dice, 1), lambda: _itself(dice), lambda: _task(dice)))()


def _correct(dice: random.Random, fact: Fact, turns: list[str]) -> Fact:
    """Add an exchange that puts a fact right, and give back the fact as it is then."""
    right = fact.corrected(dice, "seen")
    turns += [right.fill(dice.choice(_SEEN["correct"])), right.fill(dice.choice(_SEEN["corrected"]))]
    return right


def _not_told(dice: random.Random, facts: Sequence[Fact]) -> list[str]:
    """A question for something that nobody told, often of the kind of something that was."""
    while True:
        kind = draw_kind(dice, unseen=False)
        if facts and dice.random() < 0.4:
            kind = dice.choice([other for other in kinds() if other.name == facts[-1].kind.name and not other.unseen])
        fact = draw_fact(dice, kind, "seen")
        if fits(fact, facts):
            return [fact.ask(dice, "seen"), dice.choice(_SEEN["unknown"])]


def _tasks(dice: random.Random, small_talk: SmallTalk) -> list[str]:
    """A few tasks in a row, with some talk between."""
    turns: list[str] = small_talk.draw(dice, dice.choice((0, 0, 1)))
    for _ in range(dice.randint(2, 6)):
        turns += _task(dice)
        turns += small_talk.draw(dice, 1) if dice.random() < 0.15 else []
    return turns


def _task(dice: random.Random) -> list[str]:
    exercise = draw_exercise(dice, "seen")
    return [*exercise.turns, exercise.answer]


def _about_itself(dice: random.Random, small_talk: SmallTalk) -> list[str]:
    """What people ask a program about itself, beside their own name that it must not mix up with its own."""
    turns: list[str] = small_talk.draw(dice, dice.choice((0, 1, 2)))
    name = draw_fact(dice, kinds()[0], "seen")
    told = dice.random() < 0.5
    if told:
        turns += [name.tell(dice, "seen"), name.fill(dice.choice(name.kind.reply["seen"]))]
    parts: list[Callable[[], list[str]]] = [lambda: _itself(dice)] * 4 + [lambda: small_talk.draw(dice, 1)]
    if told:
        parts += [lambda: [name.ask(dice, "seen"), name.answer(dice)]] * 2
    for _ in range(dice.randint(2, 6)):
        turns += dice.choice(parts)()
    return turns


def _itself(dice: random.Random) -> list[str]:
    topic = dice.choice(read("talk.toml")["talk"])
    return [dice.choice(topic["say"]), dice.choice(topic["answer"])]
