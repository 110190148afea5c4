"""Training dialogues: facts stated and asked for again, exercises, questions about the model, and small talk."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence

from training.skills.exercises import draw_exercise
from training.skills.facts import Fact, distinguishable, draw_fact, draw_facts, draw_kind, kinds, prepend, starts_small
from training.skills.small_talk import SmallTalk
from training.skills.values import load_toml

_WORDINGS = load_toml("wordings.toml")["seen"]
_UNANSWERABLE = 0.15  # probability of an unanswerable question before each answerable one, and at the end
_IN_A_HURRY = 0.25  # probability that the user writes a whole dialogue in a hurry
_AROUND = 0.2  # probability that the user says something else in the same turn


def skill_dialogues(small_talk: SmallTalk, seed: int) -> Iterator[tuple[str, ...]]:
    """Yield dialogues without end, user first, with no values and wordings of the test."""
    rng = random.Random(seed)
    while True:
        write = rng.choices((_recall, _exercises, _about_model), weights=(55, 24, 21))[0]
        turns = write(rng, small_talk)
        if rng.random() < _IN_A_HURRY:
            turns[::2] = [_hurried(rng, turn) for turn in turns[::2]]
        yield tuple(turns)


def _hurried(rng: random.Random, turn: str) -> str:
    """A turn without its last mark, often without its first capital and its apostrophes; names keep theirs."""
    hurried = re.sub(r"\s*[.?]$", "", turn)
    if rng.random() < 0.7 and (hurried.startswith("I ") or starts_small(hurried)):
        hurried = hurried[:1].lower() + hurried[1:]
    return re.sub(r"'(?!clock)", "", hurried) if rng.random() < 0.4 else hurried


def _around(rng: random.Random, small_talk: SmallTalk, turn: str, *, after: bool) -> str:
    """A turn in which the user says something else, too: before it, or, for a statement, sometimes after it."""
    if rng.random() >= _AROUND:
        return turn
    other = " ".join(small_talk.draw(rng, 1)[:1])
    said = [sentence for sentence in re.split(r"(?<=[.!?]) ", other) if sentence.endswith((".", "!"))]
    if not said:
        return turn
    return f"{turn} {said[-1]}" if after and rng.random() < 0.3 else f"{said[0]} {turn}"


def _recall(rng: random.Random, small_talk: SmallTalk) -> list[str]:
    """The user states facts, talks about something else, and asks for the facts."""
    turns = small_talk.draw(rng, rng.choice((0, 0, 1, 2)))
    facts = draw_facts(rng, rng.choice((1, 1, 2, 2, 3, 4)), "seen")
    remaining = list(facts)
    while remaining:
        count = rng.choice((1, 1, 2))
        stated, remaining = remaining[:count], remaining[count:]
        statement = " ".join(fact.tell(rng, "seen") for fact in stated)
        if rng.random() < 0.3:
            statement = prepend(rng.choice(_WORDINGS["before_telling"]), statement)
        statement = _around(rng, small_talk, statement, after=True)
        if rng.random() < 0.12:  # the question follows in the same turn
            fact = rng.choice(stated)
            turns += [f"{statement} {fact.ask(rng, 'seen')}", fact.answer(rng)]
        else:
            fact = stated[-1]
            turns += [statement, fact.fill(rng.choice(fact.kind.reply["seen"]))]
        if len(stated) == 1 and rng.random() < 0.3:
            facts[facts.index(stated[0])] = _correct(rng, stated[0], turns)
        turns += _digression(rng, small_talk) if rng.random() < 0.2 else []
    turns += small_talk.draw(rng, rng.choice((0, 0, 0, 1, 1, 2, 2, 3, 4, 5, 6)))
    for fact in rng.sample(facts, len(facts)) + rng.sample(facts, rng.choice((0, 0, 1))):
        if rng.random() < _UNANSWERABLE:
            turns += _unanswerable(rng, facts)
        question = fact.ask(rng, "seen")
        if rng.random() < 0.25:
            question = prepend(rng.choice(_WORDINGS["before_asking"]), question)
        if rng.random() < 0.15:
            question += rng.choice(_WORDINGS["after_asking"])
        question = _around(rng, small_talk, question, after=False)
        turns += [question, fact.answer(rng)]
        if rng.random() < 0.1:
            turns += [rng.choice(_WORDINGS["checked"]), rng.choice(_WORDINGS["checked_reply"])]
        turns += _digression(rng, small_talk) if rng.random() < 0.2 else []
    if rng.random() < _UNANSWERABLE:
        turns += _unanswerable(rng, facts)
    return turns


def _digression(rng: random.Random, small_talk: SmallTalk) -> list[str]:
    """One exchange about something else."""
    return rng.choice((lambda: small_talk.draw(rng, 1), lambda: _model_question(rng), lambda: _exercise(rng)))()


def _correct(rng: random.Random, fact: Fact, turns: list[str]) -> Fact:
    """Append an exchange that corrects a fact to `turns`, and returns the corrected fact."""
    corrected = fact.corrected(rng, "seen")
    correction = corrected.fill(rng.choice(_WORDINGS["correct"]))
    if rng.random() < 0.35:  # it is told once more
        correction = prepend(rng.choice(_WORDINGS["before_correcting"]), corrected.fill(corrected.kind.tell["seen"][0]))
    turns += [correction, corrected.fill(rng.choice(_WORDINGS["corrected"]))]
    return corrected


def _unanswerable(rng: random.Random, facts: Sequence[Fact]) -> list[str]:
    """Ask about a fact that was never stated, often of the same kind as one that was."""
    while True:
        kind = draw_kind(rng, unseen=False)
        if facts and rng.random() < 0.4:
            kind = rng.choice([other for other in kinds() if other.name == facts[-1].kind.name and not other.unseen])
        fact = draw_fact(rng, kind, "seen")
        if distinguishable(fact, facts):
            return [fact.ask(rng, "seen"), rng.choice(_WORDINGS["unknown"])]


def _exercises(rng: random.Random, small_talk: SmallTalk) -> list[str]:
    """Two to six exercises with a little small talk between them."""
    turns: list[str] = small_talk.draw(rng, rng.choice((0, 0, 1)))
    for _ in range(rng.randint(2, 6)):
        turns += _exercise(rng)
        turns += small_talk.draw(rng, 1) if rng.random() < 0.15 else []
    return turns


def _exercise(rng: random.Random) -> list[str]:
    exercise = draw_exercise(rng, "seen")
    return [*exercise.turns, exercise.answer]


def _about_model(rng: random.Random, small_talk: SmallTalk) -> list[str]:
    """Questions about the model, some next to the user's name, which the model must not confuse with its own."""
    turns: list[str] = small_talk.draw(rng, rng.choice((0, 1, 2)))
    name = draw_fact(rng, kinds()[0], "seen")
    named = rng.random() < 0.5
    if named:
        turns += [name.tell(rng, "seen"), name.fill(rng.choice(name.kind.reply["seen"]))]
    exchanges: list[Callable[[], list[str]]] = [lambda: _model_question(rng)] * 4 + [lambda: small_talk.draw(rng, 1)]
    if named:
        exchanges += [lambda: [name.ask(rng, "seen"), name.answer(rng)]] * 2
    for _ in range(rng.randint(2, 6)):
        turns += rng.choice(exchanges)()
    return turns


def _model_question(rng: random.Random) -> list[str]:
    topic = rng.choice(load_toml("talk.toml")["talk"])
    return [rng.choice(topic["say"]), rng.choice(topic["answer"])]
