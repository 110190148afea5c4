"""The commands as typed: what they refuse, how a run is stopped, and what the recipe keeps."""

from __future__ import annotations

import re
import shutil
import signal
from dataclasses import fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import torch

from model.text.sentencepiece_tokenizer import Tokenizer
from model.transformer import checkpoint
from tests.helpers.commands import run_command
from tests.helpers.trainings import CHAT, flags, losses, write_conversations
from training.mixture import friendly, named, renamed, tidy
from training.run import loop, machine
from training.settings import TrainingSettings

SMALL = flags(replace(CHAT, batch_tokens=256, dropout=0.0, validate_steps=20, passes=0.06))


def call(module: str, *arguments: str) -> int:
    """What `python -m training.MODULE` does, without the seconds that another Python takes to load torch."""
    return import_module(f"training.{module}").main(arguments)


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_conversations(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def whole(data_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that nothing stopped."""
    output = tmp_path_factory.mktemp("runs") / "whole"
    assert call("train", str(data_folder), str(output), *SMALL) == 0
    return output


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("evaluate", "--model", "no-such-model", "--data", "x.jsonl.gz"), "There is no model 'no-such-model'"),
        (
            ("data", "no-such-folder", "--source", "chat/casino", "--output", "x"),
            "There is no data file no-such-folder",
        ),
        (("talk", "--model", "{model}", "--file", "no-such-file.txt"), "no-such-file.txt can't be read as text"),
        (("train", "no-such-folder", "{model}", "--optimizer", "sgd"), "optimizer is 'sgd', but must be one of"),
    ],
)
def test_what_is_missing_or_wrong_is_a_plain_sentence(
    command: tuple[str, ...],
    sentence: str,
    tiny_checkpoint: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert call(command[0], *(argument.format(model=tiny_checkpoint) for argument in command[1:])) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(sentence) and printed.count("\n") == 1


def test_every_flag_of_the_training_is_explained_with_its_default() -> None:
    ran = run_command("training.train", "--help")
    assert ran.code == 0 and "torch" not in ran.packages  # which takes seconds, and help is read before
    printed = " ".join(ran.out.split())
    for field in fields(TrainingSettings):
        flag = f"--{field.name.replace('_', '-')} "
        assert re.search(rf"{flag}(N|X|WORD) [a-z].*? \(default ", printed), flag
    assert "(default 4,096; 2,048 for own files; 6,000 for a translator)" in printed


def test_an_interrupted_run_saves_and_continues_to_the_same_weights(
    data_folder: Path,
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Ctrl-C comes in the second step, kill in the fourth, long before the run would save by itself."""
    learn, steps, signals = loop.learn, [], {2: signal.SIGINT, 4: signal.SIGTERM}

    def interrupted(*arguments: Any) -> float:
        steps.append(arguments)
        if len(steps) in signals:
            signal.raise_signal(signals[len(steps)])
        return learn(*arguments)

    usual = {one: signal.signal(one, signal.default_int_handler) for one in signals.values()}
    try:
        monkeypatch.setattr(loop, "learn", interrupted)
        for step, number in signals.items():
            assert call("train", str(data_folder), str(tmp_path / "stopped"), *SMALL) == 130
            assert signal.getsignal(number) is signal.default_int_handler
            printed = capsys.readouterr()
            assert printed.out.endswith(f"Stopped and saved at step {step}: the same command resumes from there.\n")
            assert "Traceback" not in printed.err and len(steps) == len(losses(tmp_path / "stopped")) == step
        assert call("train", str(data_folder), str(tmp_path / "stopped"), *SMALL) == 0
    finally:
        for one, handler in usual.items():
            signal.signal(one, handler)
    resumed, expected = (checkpoint.load(run).state_dict() for run in (tmp_path / "stopped", whole))
    assert all(torch.equal(resumed[name], expected[name]) for name in expected)


def test_the_mixture_is_learned_from_the_files_that_are_there(
    data_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    (data / "chat").mkdir(parents=True)
    for name in ("topical_chat", "rasbt_instructions"):
        shutil.copy(data_folder / "chat" / f"{name}.jsonl.gz", data / "chat")
    assert call("train", str(data), str(tmp_path / "run"), *SMALL, "--passes", "1") == 0
    printed = capsys.readouterr().out
    assert printed.startswith("Note: 16 of the mixture's 18 files are not in ")
    assert "chat/casino.jsonl.gz" in printed and "topical_chat" not in printed
    assert losses(tmp_path / "run")
    assert call("train", str(tmp_path), str(tmp_path / "none"), *SMALL) == 2
    assert capsys.readouterr().err == (
        f"{tmp_path} has none of the training files: give the folder that holds chat/synthetic_persona_chat.jsonl.gz.\n"
    )


@pytest.mark.parametrize(
    ("bfloat16", "chosen", "words"), [(1.0, torch.bfloat16, "bfloat16"), (9.0, torch.float32, "float32")]
)
def test_the_faster_precision_is_chosen_and_reported(
    monkeypatch: pytest.MonkeyPatch, bfloat16: float, chosen: torch.dtype, words: str
) -> None:
    assert machine._seconds(torch.ones(2, 2)) > 0
    seconds = {torch.bfloat16: bfloat16, torch.float32: 2.0}
    monkeypatch.setattr(machine, "_seconds", lambda matrix: seconds[matrix.dtype])
    dtype, note = loop._precision("auto", torch.device("cpu"))
    assert dtype is chosen and note.startswith(words) and note.endswith("the faster here")
    assert loop._precision("no", torch.device("cpu")) == (torch.float32, "float32")


@pytest.mark.parametrize(
    ("text", "size", "sentence"),
    [
        ("hello world " * 9, 6000, r"This text has only enough variety for \d+ vocabulary pieces, not 6,000: add text"),
        ("hello", 100, r"This text has so many different characters that it needs \d+ vocabulary pieces, not 100: ask"),
        ("", 300, r"No vocabulary of 300 pieces can be made of this text: add to it"),
    ],
)
def test_a_text_that_makes_no_such_vocabulary_is_one_sentence(
    text: str, size: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "text.txt").write_text(text)
    assert call("vocabulary", str(tmp_path / "text.txt"), "--size", str(size), "--output", str(tmp_path / "out")) == 2
    assert re.match(sentence, capsys.readouterr().err) and not (tmp_path / "out").exists()


def test_a_vocabulary_is_trained_on_text_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text.txt").write_text("The quick brown fox jumps over the lazy dog. " * 40)
    out = tmp_path / "tokenizer.model"
    assert call("vocabulary", str(tmp_path / "text.txt"), "--size", "300", "--output", str(out)) == 0
    assert capsys.readouterr().out == f"Wrote {out} with 300 pieces.\n"
    tokenizer = Tokenizer.load(out)
    assert tokenizer.vocabulary_size == 300
    assert tokenizer.decode(tokenizer.encode("The lazy fox.")) == "The lazy fox."


def test_the_recipe_keeps_what_it_says() -> None:
    assert tidy({"turns": ["Hi there.", "Is it? Yes!"]}) is not None
    assert tidy({"turns": ["Hi there.", "no capital."]}) is None
    assert named({"turns": ["I live in (city)."]}) is None
    assert named({"turns": ["Hi, I'm [user 2's name] (really)."]}) == ["Hi, I'm Attend (really)."]
    first, second = named({"turns": ["I'm (User 1).", "Hello, [user 1 name]!"]}) or ("", "")
    assert first == f"I'm {second[7:-1]}."
    assert friendly({"style": "witty", "turns": ["Hi", "Yo"]}) is None
    assert friendly({"style": "friendly", "turns": ["Hi", "Call 1-800-273-8255."]}) is None
    assert friendly({"style": "the_friend", "turns": ["Hi", "Hi!"]}) == ["Hi", "Hi!"]
    record = {"turns": ["Who are you?", "I'm Vicuna, made by Large Model Systems Organization (LMSYS) researchers."]}
    assert renamed(record) == ["Who are you?", "I'm Attend, made by the Attend project."]
