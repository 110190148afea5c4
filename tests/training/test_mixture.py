"""What attend-chat reads: written dialogues among real ones, fewer stock phrases, honest answers, and weights to go on
with."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from model.errors import AttendError
from model.transformer import checkpoint
from tests.helpers.trainings import CHAT, write_records
from training.data import Document, mixed, schedule
from training.mixture import Source, honest, keep_turns
from training.run.loop import train


def test_written_dialogues_are_their_part_of_the_characters_everywhere() -> None:
    real = [Document(("a" * 30, "b" * (10 + number))) for number in range(200)]
    written = itertools.cycle([("c" * 25, "c" * 25), ("c" * 5, "c")])
    order = list(mixed(real, written, 0.6))
    assert [document for document in order if not document.written] == real
    for half in (order[: len(order) // 2], order[len(order) // 2 :]):
        sizes = {"a": 0, "c": 0}
        for document in half:
            sizes[document.turns[0][0]] += sum(map(len, document.turns))
        assert sizes["c"] / sum(sizes.values()) == pytest.approx(0.6, abs=0.02)


def test_a_stock_phrase_answers_only_a_few_times_in_one_reading(tmp_path: Path) -> None:
    dialogues = ([f"Question {number}?", "Cool." if number % 2 else f"No {number}."] for number in range(60))
    write_records(tmp_path / "chat" / "canned.jsonl.gz", ({"turns": turns} for turns in dialogues))
    order = schedule([Source("chat/canned", passes=2, alike=3)], tmp_path, seed=1)
    answers = [document.turns[1] for document in order]
    assert answers.count("Cool.") == 2 * 3
    assert len({document.turns[0] for document in order if document.turns[1] == "Cool."}) > 3  # not the same ones twice
    everything = schedule([Source("chat/canned", passes=2)], tmp_path, seed=1)
    assert len(answers) == len(everything) - [document.turns[1] for document in everything].count("Cool.") + 6


def test_answers_that_claim_a_life_are_left_out_with_what_they_cut_off() -> None:
    of_a_life = ("I have a dog.", "I work as a nurse.", "I'm a teacher.", "I love to cook.", "My dog is cute.")
    for claim in (*of_a_life, "I've been to Rome."):
        turns = ["Hi!", "Hello!", "And you?", claim, "I have a cat.", "How nice!", "Yes.", "I think so, too.", "Bye!"]
        assert honest(keep_turns)({"turns": turns}) == turns[4:8], claim  # a user may claim what they like
        assert honest(keep_turns)({"turns": ["And you?", claim]}) is None
    # a program may say what it is
    turns = ["What are you?", "I'm a language model.", "Who?", "I am a bot, and my name is Attend."]
    assert honest(keep_turns)({"turns": turns}) == turns


def test_a_run_begins_with_the_weights_and_the_vocabulary_that_it_is_given_in_its_shape(
    talk_folder: Path, tmp_path: Path
) -> None:
    settings = replace(CHAT, passes=0.2)
    train(settings, talk_folder, tmp_path / "first")
    still = replace(settings, init_from=str(tmp_path / "first"), learning_rate=1e-12, weight_decay=0.0, seed=2)
    train(still, talk_folder, tmp_path / "second")
    first, second = (checkpoint.load(tmp_path / name).state_dict() for name in ("first", "second"))
    assert all(torch.allclose(first[name], second[name], atol=1e-6) for name in first)
    names = [tmp_path / name / checkpoint.TOKENIZER for name in ("first", "second")]
    assert names[0].read_bytes() == names[1].read_bytes()
    with pytest.raises(AttendError, match="of another shape"):
        train(replace(settings, width=32, init_from=str(tmp_path / "first")), talk_folder, tmp_path / "third")
    with pytest.raises(AttendError, match="tokenizer"):
        train(replace(settings, init_from=str(tmp_path / "nowhere")), talk_folder, tmp_path / "fourth")
