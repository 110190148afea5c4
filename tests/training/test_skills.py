"""Dialogues by a program: nothing of the test in training, true answers, and scores that mean what they say."""

from __future__ import annotations

import gzip
import random
import re
from itertools import islice
from pathlib import Path

import pytest
import torch

from model.errors import AttendError
from model.loaded import LoadedModel
from model.text.conversation import ChatFormat
from tests.helpers.paths import ROOT
from training.data import messages
from training.skills.dialogues import skill_dialogues
from training.skills.exercises import EXERCISES, draw_exercise
from training.skills.facts import kinds, prepend
from training.skills.scoring import score, value_positions, weight_on_value
from training.skills.small_talk import SmallTalk
from training.skills.testing import Item, read_items, write, write_items
from training.skills.values import Part, draw, draw_fact_value, load_toml, occurs_in, values

TALK = SmallTalk([("Lovely day.", "Yes."), ("Oh well.", "Indeed.", "Right.", "Sure.")])
LISTS = tuple(load_toml("values.toml"))


@pytest.fixture(scope="module")
def training() -> list[tuple[str, ...]]:
    return list(islice(skill_dialogues(TALK, seed=1), 3000))


@pytest.fixture(scope="module")
def items() -> list[Item]:
    return list(write_items(TALK))


def test_dialogues_follow_from_the_seed_alone_alternate_and_have_every_slot_filled(
    training: list[tuple[str, ...]],
) -> None:
    assert list(islice(skill_dialogues(TALK, seed=1), 50)) == training[:50]
    assert list(islice(skill_dialogues(TALK, seed=2), 50)) != training[:50]
    assert all(len(turns) >= 2 and len(turns) % 2 == 0 for turns in training)
    assert not any(re.search(r"[{}@]|^\s*$", turn) for turns in training for turn in turns)
    assert not any(re.match(r"[a-z]", answer) for turns in training for answer in turns[1::2])


def test_a_quarter_of_the_users_are_in_a_hurry(training: list[tuple[str, ...]]) -> None:
    hurried = [turns for turns in training if not any(re.search(r"[.?]$", turn) for turn in turns[::2])]
    assert 0.2 < len(hurried) / len(training) < 0.35  # a quarter, and the short ones that end in "!" or a list
    written = [turn for turns in hurried for turn in turns[::2]]
    assert sum(turn[0].islower() for turn in written) > len(hurried)
    assert any(re.search(r"^my .* is [A-Z]", turn) for turn in written)  # values keep their capitals


def test_no_value_no_wording_and_no_kind_of_the_test_is_in_training(
    training: list[tuple[str, ...]], items: list[Item]
) -> None:
    messages = {turn for turns in training for turn in turns}
    assert not [item.turns[-1] for item in items if item.turns[-1] in messages]
    facts = [item.turns[item.fact_turn] for item in items if item.fact_turn == 0]
    assert len(facts) > 500 and not [turn for turn in facts if turn in messages]
    text = "\n".join(messages)
    things = {part: {kind.thing for kind in kinds() if kind.unseen == part} for part in (True, False)}
    held_out = things[True] - things[False] - {"", "@people"}
    assert {"hamster", "dress", "picnic"} <= held_out
    assert not [thing for thing in held_out if occurs_in(f"my {thing}", text)]
    # Days and months are named by the task of what comes next, and so not held out of that.
    lists = [name for name in LISTS if name not in ("days", "months")]
    unseen = {value for name in lists for value in values(name, "unseen")}
    assert len(unseen) > 200
    assert not [value for value in unseen if occurs_in(value, text)]


def test_no_other_kind_is_told_or_asked_for_as_one_of_the_test_is() -> None:
    learned = [kind for kind in kinds() if not kind.unseen]
    names = {kind.name for kind in learned}
    held_out = [kind for kind in kinds() if kind.unseen and kind.name not in names and not kind.nouns]
    wordings = {wording for kind in learned for wording in (*kind.tell["seen"], *kind.ask["seen"])}
    assert len(held_out) > 2
    assert not [
        wording for kind in held_out for wording in (*kind.tell["seen"], *kind.ask["seen"]) if wording in wordings
    ]


def test_every_kind_of_fact_has_wordings_that_training_lacks() -> None:
    for kind in (kind for kind in kinds() if kind.thing[:1] != "@"):
        assert kind.tell["unseen"] and kind.ask["unseen"] and kind.reply["unseen"], kind
        if not kind.unseen:
            assert not set(kind.tell["unseen"]) & set(kind.tell["seen"]), kind
            assert not set(kind.ask["unseen"]) & set(kind.ask["seen"]), kind
        assert all("{value}" in wording for wording in (*kind.tell["seen"], *kind.tell["unseen"], *kind.answer)), kind
        assert not any("{value}" in wording for wording in (*kind.ask["seen"], *kind.ask["unseen"])), kind


def test_invented_names_belong_to_one_part_alone() -> None:
    rng = random.Random(1)
    drawn = {part: {draw(rng, "people", part) for _ in range(2000)} for part in ("seen", "unseen")}
    assert len(drawn["seen"]) > 500 and len(drawn["unseen"]) > 500  # far more than are listed
    assert not drawn["seen"] & drawn["unseen"]


def test_the_shorter_a_list_the_more_often_a_fact_has_a_value_that_nobody_expects() -> None:
    rng = random.Random(1)
    expected = {
        name: sum(draw_fact_value(rng, name, "seen") in values(name, "seen") for _ in range(2000)) / 2000
        for name in LISTS
    }
    # 4 days of 40 are a tenth; long lists have their own values three times in five, or one by chance from another list
    assert 0.08 < expected["days"] < 0.16
    assert expected["days"] < expected["months"] < expected["drinks"] < expected["cities"]
    assert 0.55 < expected["cities"] < 0.65
    assert draw_fact_value(rng, "days", "unseen") in values("days", "unseen")


def exercise(skill: str, number: int) -> tuple[str, str]:
    """The question and the answer of one task of a skill."""
    drawn = draw_exercise(random.Random(number), "seen", skill)
    return " ".join(drawn.turns[::2]), drawn.answer


def test_tasks_are_answered_rightly() -> None:
    for number in range(40):
        check_answers(number)


def check_answers(number: int) -> None:
    question, answer = exercise("sum", number)
    first, second, *_ = (int(digits) for digits in re.findall(r"\d+", question))
    taken = re.search(r"minus|-|eat", question)
    taken_from = re.match(r"Take (\d+) from (\d+)", question)
    expected = int(taken_from[2]) - int(taken_from[1]) if taken_from else first - second if taken else first + second
    assert re.findall(r"\d+", answer)[-1] == str(expected)

    question, answer = exercise("spell backwards", number)
    assert occurs_in(answer.removesuffix(".").replace("-", "")[::-1], question)
    question, answer = exercise("spell a word", number)
    assert occurs_in(answer.removesuffix(".").replace("-", ""), question)

    question, answer = exercise("count", number)
    listed = {
        value for name in ("objects", "animals", "shopping", "colors", "people") for value in values(name, "seen")
    }
    mentioned = re.findall(r"[\w ]+?(?=,| and |:|\.|\?|$)", question)
    counted = sum(any(occurs_in(value, part) for value in listed if len(value) > 2) for part in mentioned)
    word = re.findall(r"\w+", answer)[-1].lower()
    assert ("zero", "one", "two", "three", "four", "five", "six", "seven").index(word) == counted

    question, answer = exercise("repeat a list", number)
    repeated = re.split(r", | and ", answer.removeprefix("It was ").removeprefix("You said ").removesuffix("."))
    assert [value for value in repeated if occurs_in(value, question)] == repeated


def test_what_comes_next_is_right_in_every_row() -> None:
    rows = [load_toml("values.toml")["days"], load_toml("values.toml")["months"], [chr(65 + at) for at in range(26)]]
    rows.append([str(number) for number in range(101)])
    for number in range(200):
        exercise = draw_exercise(random.Random(number), "unseen", "next in a row")
        (row,) = [row for row in rows if exercise.accepted[0] in row]
        named = next(
            value for value in row if occurs_in(value, exercise.turns[0].removeprefix("Say the")) and value != "A"
        )
        step = 1 if "after" in exercise.turns[0] else -1
        assert row[(row.index(named) + step) % len(row)] == exercise.accepted[0]


@pytest.mark.parametrize("part", ["seen", "unseen"])
def test_rows_are_recited_in_order(part: Part) -> None:
    days = load_toml("values.toml")["days"]
    orders = [days * 2, load_toml("values.toml")["months"], [chr(65 + at) for at in range(26)]]
    orders.append([str(number) for number in range(101)])
    for number in range(100):
        exercise = draw_exercise(random.Random(number), part, "say a row")
        (listed,) = exercise.accepted
        row = listed.split(", ")
        assert any(order[at : at + len(row)] == row for order in orders for at in range(len(order)))
        assert exercise.turns[0].index(row[0]) < exercise.turns[0].rindex(row[-1])


def test_unexpected_places_times_and_days_are_often_of_their_form() -> None:
    rng = random.Random(1)
    forms = {
        "places": r"(in|on|under|behind|next to|near|inside|on top of) the \w+",
        "times": r"\d+:\d\d",
        "days": r"\w+ \d+",
    }
    for name, form in forms.items():
        drawn = [value for _ in range(500) if (value := draw_fact_value(rng, name, "seen")) not in values(name, "seen")]
        assert 0.1 < sum(bool(re.fullmatch(form, value)) for value in drawn) / len(drawn) < 0.6


def test_a_lead_takes_the_capital_of_a_sentence_but_not_of_a_name() -> None:
    assert prepend("So, ", "What is my name?") == "So, what is my name?"
    assert prepend("By the way, ", "Rex is my dog.") == "By the way, Rex is my dog."
    assert prepend("Hey. ", "My dog is Rex.") == "Hey. My dog is Rex."


def test_talk_about_itself_has_none_of_the_openings() -> None:
    openings = set((ROOT / "training" / "openings.txt").read_text().splitlines())
    assert not openings & {line for topic in load_toml("talk.toml")["talk"] for line in topic["say"]}


def test_an_answer_is_right_by_whole_words_and_wrong_by_a_rejected_one() -> None:
    item = Item("recall", "pet", 0, ("My cat is Rex.", "Okay.", "Who?"), ("Rex",), ("Mia",), fact_turn=0)
    assert item.is_right("Your cat is called rex.") and item.is_right("Rex!")
    assert not item.is_right("Rexie.") and not item.is_right("Rex or Mia.") and not item.is_right("")


def test_items_come_back_from_their_file_and_another_file_is_refused(items: list[Item], tmp_path: Path) -> None:
    assert write(iter(items), tmp_path / "items.jsonl.gz") == len(items)
    assert read_items(tmp_path / "items.jsonl.gz") == items
    (tmp_path / "other.jsonl.gz").write_bytes(gzip.compress(b'{"turns": ["a"]}\n'))
    with pytest.raises(AttendError, match="is not a file that training"):
        read_items(tmp_path / "other.jsonl.gz")


def test_every_item_can_be_answered_and_all_skills_are_among_them(items: list[Item]) -> None:
    assert {item.skill for item in items} >= {*EXERCISES, "recall", "not told", "a corrected fact", "whose name"}
    for item in items:
        assert len(item.turns) % 2 == 1
        assert item.is_right(item.accepted[0])
        if item.fact_turn >= 0:
            assert occurs_in(item.accepted[0], item.turns[item.fact_turn])
        if item.skill.startswith("recall"):
            assert len(item.turns) == 3 + 2 * item.distance


def test_a_value_is_found_in_its_tokens(tiny: LoadedModel) -> None:
    text = "My dog is called Biscuit, of course."
    tokens = tiny.tokenizer.encode(text)
    value = tiny.tokenizer.decode([tokens[place] for place in value_positions(tiny, tokens, "biscuit")])
    assert value.strip(" ,") == "Biscuit"


def test_the_weight_on_a_value_is_that_of_the_whole_text_seen_at_once(tiny: LoadedModel) -> None:
    item = Item("recall", "pet", 0, ("I am Bo.", "Hi!", "Who am I?"), ("Bo",), fact_turn=0)
    assert isinstance(tiny.chat, ChatFormat)
    prompt = tiny.chat_prompt(messages(item.turns), reserve=8).ids
    answer = tiny.tokenizer.encode("You are Bo.")
    weights = weight_on_value(tiny, item, prompt, answer)  # (layers, H)

    text = [tiny.tokenizer.decode([token]) for token in (*prompt, *answer)]
    occurrences = [at for at in range(len(text)) if "Bo" in "".join(text[: at + 1]) and "Bo" not in "".join(text[:at])]
    first = occurrences[0] - 1 if text[occurrences[0]].strip() == "o" else occurrences[0]  # "Bo" is one token, or two
    spoken = len(prompt) + next(at for at in range(len(answer)) if "B" in tiny.tokenizer.decode(answer[: at + 1]))
    seen = tiny.model.inspect((*prompt, *answer)).attention.decoder[0]  # (layers, H, T, T)
    expected = seen[:, :, spoken - 1, first : occurrences[0] + 1].sum(dim=-1)
    torch.testing.assert_close(weights, expected, rtol=1e-4, atol=1e-5)


def test_scores_count_by_skill_and_distance(tiny: LoadedModel, items: list[Item]) -> None:
    some = [item for item in items if item.skill in ("recall", "sum")][::40]
    scores = score(tiny, some)
    assert sum(tally.items for tally in scores.skills.values()) == len(some) == len(scores.answers)
    assert sum(tally.items for tally in scores.distances.values()) == scores.skills["recall"].items
    right = [item.is_right(answer) for item, answer in zip(some, scores.answers, strict=True)]
    assert sum(tally.right for tally in scores.skills.values()) == sum(right)


def test_small_talk_that_tells_facts_is_left_out() -> None:
    talk = SmallTalk([("My name is Bo.", "Hi Bo.", "Nice day.", "Yes."), ("Hm.",)])
    assert talk.draw(random.Random(1), 3) == ["Nice day.", "Yes."] * 3
    assert SmallTalk([]).draw(random.Random(1), 3) == []
