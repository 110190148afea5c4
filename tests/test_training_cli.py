"""The commands as typed: several processes train as one does, and the folder they leave evaluates and talks."""

from __future__ import annotations

import gzip
import json
import os
import shlex
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from model.catalog import load
from model.chat import ChatFormat
from training.evaluate import bits_per_byte, read_documents
from training.recipe import CHAT_RECIPE, friendly, named, renamed, tidy

ROOT = Path(__file__).resolve().parents[1]
SMALL = shlex.split(
    "--vocabulary-size 320 --context-length 64 --width 16 --layers 1 --heads 2 --key-value-heads 2 "
    "--feed-forward-width 24 --batch-tokens 256 --dropout 0 --precision no --validate-steps 20 --passes 0.12"
)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240)


def call(module: str, *arguments: str) -> None:
    """What `python -m training.MODULE` does, without the seconds that another Python takes to load torch."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [module, *arguments])
        import_module(f"training.{module}").main()


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a few lines in every file that the recipe reads."""
    folder = tmp_path_factory.mktemp("data")
    for number, source in enumerate(CHAT_RECIPE):
        path = folder / f"{source.path}.jsonl.gz"
        path.parent.mkdir(exist_ok=True)
        with gzip.open(path, "wt", encoding="utf-8") as lines:
            for line in range(90):
                turns = [f"Hello {number} and {line}.", f"The answer is {line}.", "Good.", "Bye."]
                record = {"text": " ".join(turns)} if "stories" in source.path else {"turns": turns}
                lines.write(json.dumps({**record, "style": "friendly", "topic": "greetings"}) + "\n")
    return folder


def losses(folder: Path) -> list[float]:
    return [float(line.split(",")[3]) for line in (folder / "curve.csv").read_text().splitlines()[1:]]


def test_two_processes_train_as_one_does_and_the_result_evaluates_and_talks(
    data_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    call("train", str(data_folder), str(one), *SMALL)
    launcher = ("-m", "torch.distributed.run", "--nproc-per-node=2", "--standalone")
    done = run(sys.executable, *launcher, "-m", "training.train", str(data_folder), str(two), *SMALL)
    assert done.returncode == 0, done.stderr
    assert len(losses(one)) > 3
    # The same sums in another order: float32 rounding, which training then carries on.
    assert losses(two) == pytest.approx(losses(one), abs=2e-3)

    unseen = data_folder / f"{CHAT_RECIPE[0].path}.jsonl.gz"
    capsys.readouterr()
    call("evaluate", "--model", str(two), "--data", str(unseen))
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])
    loaded, found = load(str(two)), read_documents(unseen)
    assert isinstance(loaded.chat, ChatFormat)
    assert summary["documents"] == len(found) == 90
    assert summary["bytes"] == sum(len(turn.encode()) for document in found for turn in document.turns)
    expected = bits_per_byte(loaded.model, loaded.tokenizer, loaded.chat, found)
    assert summary["bits_per_byte"] == pytest.approx(expected, abs=1e-4)  # the line has five decimals

    questions = tmp_path / "questions.txt"
    questions.write_text("Hi! || How are you?\nGood morning!\n")
    call("talk", "--model", str(two), "--file", str(questions), "--seeds", "1")
    assert [line.split("**")[1] for line in capsys.readouterr().out.splitlines() if line] == [
        "Hi!",
        "How are you?",
        "Good morning!",
    ]


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("evaluate", "--model", "no-such-model", "--data", "x.jsonl.gz"), "There is no model 'no-such-model'"),
        (
            ("data", "no-such-folder", "--source", "chat/casino", "--output", "x"),
            "There is no data file no-such-folder",
        ),
        (("talk", "--model", "{model}", "--file", "no-such-file.txt"), "no-such-file.txt cannot be read as text"),
        (("train", "no-such-folder", "{model}", "--optimizer", "sgd"), "optimizer is 'sgd', but must be one of"),
    ],
)
def test_what_is_missing_or_wrong_is_a_plain_sentence(
    command: tuple[str, ...],
    sentence: str,
    tiny_checkpoint: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    arguments = [argument.format(model=tiny_checkpoint) for argument in command[1:]]
    monkeypatch.setattr(sys, "argv", [command[0], *arguments])
    with pytest.raises(SystemExit) as ended:
        import_module(f"training.{command[0]}").main()
    said = capsys.readouterr().err
    assert ended.value.code == 2
    assert said.startswith(sentence) and said.count("\n") == 1


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
