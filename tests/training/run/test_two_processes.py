"""Two processes train as one does, and the folder they leave evaluates and talks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from model.catalog import load
from model.text.conversation import ChatFormat
from tests.conftest import unused_port
from tests.helpers.paths import ROOT
from tests.helpers.trainings import CHAT, TRANSLATOR, flags, losses, write_conversations, write_pairs
from training import evaluate, talk
from training.evaluate import bits_per_byte, read_documents
from training.mixture import CHAT_MIXTURE
from training.run.loop import train
from training.translation_task import TranslationTask

SETTINGS = {
    "chat": replace(CHAT, batch_tokens=256, dropout=0.0, passes=0.06),
    "translator": replace(TRANSLATOR, batch_tokens=48, dropout=0.0, validate_steps=1000, passes=0.03),
}
# All trainings one after the other, since starting the processes takes longer than these.
PROCESS = """
import json, os, sys
from accelerate.state import AcceleratorState
from training.train import main

for port, arguments in json.loads(sys.argv[1]):
    os.environ["MASTER_PORT"] = str(port)
    assert main(arguments) == 0
    AcceleratorState._reset_state(reset_partial_state=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data, and under each task's name the run of two processes, which find each other as launchers let them."""
    data = write_conversations(write_pairs(tmp_path_factory.mktemp("data")))
    runs = [(unused_port(), [str(data), str(data / name), *flags(settings)]) for name, settings in SETTINGS.items()]
    common = {**os.environ, "OMP_NUM_THREADS": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1"}
    with ExitStack() as stack:
        logs = [stack.enter_context((data / f"{rank}.log").open("w+")) for rank in "01"]  # no pipe, which can fill up
        processes = [
            subprocess.Popen(
                [sys.executable, "-c", PROCESS, json.dumps(runs)],
                cwd=ROOT,
                env={**common, "RANK": rank, "LOCAL_RANK": rank},
                stderr=log,
            )
            for rank, log in zip("01", logs, strict=True)
        ]
        for process in processes:
            stack.callback(process.kill)
        for process, log in zip(processes, logs, strict=True):
            assert process.wait(timeout=240) == 0, (log.seek(0), log.read())[1]
    return data


def check_same(one: Path, two: Path) -> None:
    """The same sums in another order: float32 rounding, which training then carries on."""
    assert len(losses(one)) > 3
    assert losses(two) == pytest.approx(losses(one), abs=2e-3)


def test_a_chat_model_is_that_of_one_process_and_evaluates_and_talks(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    two = folder / "chat"
    train(SETTINGS["chat"], folder, tmp_path / "one")
    check_same(tmp_path / "one", two)

    unseen = folder / f"{CHAT_MIXTURE[0].path}.jsonl.gz"
    capsys.readouterr()
    assert evaluate.main(["--model", str(two), "--data", str(unseen)]) == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    loaded, documents = load(str(two)), read_documents(unseen)
    assert isinstance(loaded.chat, ChatFormat)
    assert summary["documents"] == len(documents) == 90
    assert summary["bytes"] == sum(len(turn.encode()) for document in documents for turn in document.turns)
    expected = bits_per_byte(loaded.model, loaded.tokenizer, loaded.chat, documents)
    assert summary["bits_per_byte"] == pytest.approx(expected, abs=1e-4)  # the line has five decimals

    questions = tmp_path / "questions.txt"
    questions.write_text("Hi! || How are you?\nGood morning!\n")
    assert talk.main(["--model", str(two), "--file", str(questions), "--seeds", "1"]) == 0
    # An untrained model's answer may itself hold a line end.
    assert [line.split("**")[1] for line in capsys.readouterr().out.splitlines() if line.count("**") == 2] == [
        "Hi!",
        "How are you?",
        "Good morning!",
    ]


def test_a_translator_is_that_of_one_process_where_a_batch_has_a_single_pair(folder: Path, tmp_path: Path) -> None:
    rows = TranslationTask(SETTINGS["translator"], folder, tmp_path / "one").batches
    assert 1 in map(len, rows) and max(map(len, rows)) > 1
    train(SETTINGS["translator"], folder, tmp_path / "one")
    check_same(tmp_path / "one", folder / "translator")
