"""generate.py: text, documents and plain errors; in this process where possible, in another where pipes matter."""

from __future__ import annotations

import csv
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import attend
import decoding.generate
import generate
from decoding.run.score import score_text
from decoding.settings import DecodingSettings, parameters
from decoding.step import Step
from model import catalog
from model.loaded import LoadedModel
from tests.helpers.commands import run_command
from tests.helpers.paths import ROOT
from tests.helpers.waiting import LONGEST
from tests.terminal.conftest import Run, command


def test_the_text_is_that_of_the_document(run: Run, tmp_path: Path) -> None:
    flags = ["--temperature", "0.8", "--top-k", "40", "--top-p", "0.95", "--seed", "7", "--max-new-tokens", "20"]
    file = tmp_path / "run.json"
    code, text, errors = run("The quick", *flags, "--json", str(file))
    document = json.loads(file.read_text(encoding="utf-8"))
    assert (code, document["finish_reason"]) == (0, "length")
    assert errors == "Note: stopped at the length limit of 20 tokens: raise --max-new-tokens for more.\n"
    assert text == document["text"] + "\n"
    assert document["schema"] == "attend.trace/2" and document["seed"] == 7
    settings = DecodingSettings(temperature=0.8, top_k=40, top_p=0.95, seed=7, max_new_tokens=20)
    assert document["settings"] == settings.to_dict()
    code, only, errors = run("The quick", *flags, "--json", "-")
    assert (code, errors) == (0, "")
    assert json.loads(only) == document  # the same seed, and nothing else on stdout


def test_a_text_is_scored_as_csv_or_as_a_document(run: Run, tiny: LoadedModel) -> None:
    text = 'The quick, "fox" and the dog.'
    expected = score_text(tiny, text).document()
    code, table, errors = run(text, "--score")
    rows = list(csv.DictReader(io.StringIO(table)))
    assert code == 0 and "".join(row["text"] for row in rows) == text
    assert [float(row["surprise"]) for row in rows] == pytest.approx(
        [each["surprise"] for each in expected["tokens"]], abs=1e-4
    )
    assert errors == f"Note: perplexity {expected['perplexity']:.4g}, {expected['bits_per_byte']:.4g} bits per byte.\n"
    code, document, errors = run(text, "--score", "--json", "-")
    assert (code, errors) == (0, "") and json.loads(document)["tokens"] == expected["tokens"]
    assert run(text, "--score", "--chat")[0] == 2 and run(text, "--score", "--stride", "-1")[0] == 2


@pytest.mark.usefixtures("counted_seeds")
def test_a_random_seed_is_printed_stands_in_the_document_and_repeats_the_text(run: Run) -> None:
    flags = ("The quick", "--max-new-tokens", "8", "--top-k", "20")
    code, text, errors = run(*flags)
    note = re.search(r"Note: the seed was (\d+); --seed \1 repeats this\.\n", errors)
    assert code == 0 and note is not None
    code, again, errors = run(*flags, "--seed", note[1])
    assert (code, again) == (0, text) and "the seed was" not in errors
    document = json.loads(run(*flags, "--json", "-")[1])
    assert document["seed"] == document["settings"]["seed"] >= 0
    assert json.loads(run(*flags, "--json", "-", "--seed", str(document["seed"]))[1]) == document
    for strategy in ("greedy", "beam"):  # which draw nothing
        _, text, errors = run("The fox", "--json", "-", "--max-new-tokens", "3", "--strategy", strategy)
        assert json.loads(text)["seed"] is None and "the seed was" not in errors


def test_a_text_that_fills_the_context_says_so(run: Run) -> None:
    code, _, errors = run("fox " * 60, "--strategy", "greedy", "--max-new-tokens", "500", "--min-new-tokens", "500")
    assert (code, errors) == (0, "Note: stopped at the end of the model's context of 128 tokens.\n")


@pytest.mark.usefixtures("counted_seeds")
def test_the_prompt_is_the_text_after_the_begin_token_or_a_conversation(run: Run, tiny_checkpoint: Path) -> None:
    loaded = catalog.load(str(tiny_checkpoint))
    _, text, _ = run("Hi! How are you?", "--json", "-", "--max-new-tokens", "2")
    plain = json.loads(text)
    assert plain["prompt"] == {
        "text": "Hi! How are you?",
        "ids": [loaded.tokenizer.special_token_id("<s>"), *loaded.tokenizer.encode("Hi! How are you?")],
    }
    assert "messages" not in plain
    _, text, _ = run("Hi! How are you?", "--json", "-", "--max-new-tokens", "2", "--chat")
    chat = json.loads(text)
    assert chat["prompt"]["messages"] == [{"role": "user", "content": "Hi! How are you?"}]
    assert chat["prompt"]["ids"][-1] == loaded.tokenizer.special_token_id("<assistant>")


@pytest.mark.parametrize("strategy", ["greedy", "sample", "beam"])
def test_a_text_is_printed_once_and_several_are_numbered(run: Run, strategy: str) -> None:
    flags = ("The fox", "--strategy", strategy, "--seed", "1", "--max-new-tokens", "12")  # here the best beam changes
    _, text, _ = run(*flags)
    assert text == json.loads(run(*flags, "--json", "-")[1])["text"] + "\n"
    if strategy != "greedy":
        flags = (*flags, "--num-return-sequences", "3")
        sequences = json.loads(run(*flags, "--json", "-")[1])["sequences"]
        assert run(*flags)[1] == "".join(f"{i}. {each['text']}\n" for i, each in enumerate(sequences, start=1))


def test_every_setting_has_a_flag_and_reaches_the_run(run: Run, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        generate.main(["--help"])
    assert caught.value.code == 0
    help_text = capsys.readouterr().out
    for parameter in parameters():
        assert f"--{parameter.name.replace('_', '-')} " in help_text
    changed = DecodingSettings(
        strategy="beam",
        temperature=0.5,
        top_k=9,
        top_p=0.7,
        num_beams=2,
        length_penalty=-1.5,
        seed=3,
        max_new_tokens=4,
        top_candidates=2,
        min_p=0.01,
        frequency_penalty=-0.5,
        min_new_tokens=2,
        banned_words=("fox", "a, b"),
        logit_bias=((5, -2.0), (7, 1.5)),
        order=("top_p", "temperature"),
    )
    flags = []
    for parameter in parameters():
        typed = parameter.typed(getattr(changed, parameter.name))
        flags += [f"--{parameter.name.replace('_', '-')}", str(typed)]
    code, text, errors = run("A fox", *flags, "--json", "-")
    assert code == 0 and json.loads(text)["settings"] == changed.to_dict()
    assert errors == "Note: seed has no effect on beam.\n"


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["x", "--temperature", "3"], "temperature is 3, but must be between 0 and 2."),
        (["x", "--top-k", "many"], "--top-k must be a number, not 'many'."),
        (["x", "--top-k"], "--top-k: expected one argument: see python generate.py --help."),
        (["x", "--temprature", "1"], "There is no flag --temprature: did you mean --temperature?"),
        (["x", "--zzz"], "There is no flag --zzz: see python generate.py --help."),
        (["Once", "upon", "a"], "'upon' is one argument too many: put a text with spaces in quotes."),
        ([], "There is no prompt: give a text, - for standard input, --file FILE, or --chat to chat."),
        (["x", "--file", "y"], "There are two prompts, one on the command line and one from --file: give only one."),
        (["--file", "/no/such.txt"], "/no/such.txt can't be read (No such file or directory): choose another file."),
        (["--file", "/dev/zero"], "/dev/zero has more than 1,000,000 characters: shorten it."),
        (["--chat", "--json", "x"], "--json saves a single run: give a message to answer, or leave it out."),
        (["x", "--system", "y"], "--system is for conversations: add --chat, or leave it out."),
        (
            ["x", "--score", "--without", "1"],
            "--colour, --table, --without and the flags for decoding are for generated",
        ),
        (["x", "--score", "--top-k", "1"], "--colour, --table, --without and the flags for decoding are for generated"),
        ([" \n "], "The prompt is empty: enter at least one character."),
        (["\udc80"], "The prompt is not UTF-8 text (byte 80 at position 1): convert it"),
        (["\ud83d"], "The text contains half a character (code D83D) at position 1: delete it and type it again."),
        (["fox " * 500], "The prompt has "),
        (["fox " * 500, "--chat"], "The message has "),
        (
            ["x", "--json", "/no/such/folder/run.json"],
            "/no/such/folder/run.json can't be written (No such file or directory)",
        ),
    ],
)
@pytest.mark.usefixtures("counted_seeds")
def test_errors_are_one_sentence_on_stderr(run: Run, arguments: list[str], sentence: str) -> None:
    code, text, errors = run(*arguments)
    assert (code, text) == (2, "")
    assert errors.startswith(sentence) and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("flags", "strategy"),
    [
        ("", "beam"),
        ("--num-return-sequences 2", "beam"),
        ("--num-beams 2 --temperature 0.5", "beam"),
        ("--top-k 5 --seed 3", "sample"),
        ("--strategy sample", "sample"),
        ("--strategy greedy", "greedy"),
    ],
)
@pytest.mark.usefixtures("counted_seeds")
def test_a_translator_searches_with_beams_by_default(
    run: Run, tiny_translator: LoadedModel, flags: str, strategy: str
) -> None:
    address = tiny_translator.address
    code, text, errors = run("Le chat", "--max-new-tokens", "4", "--json", "-", *flags.split(), model=address)
    settings = json.loads(text)["settings"]
    assert (code, settings["strategy"], errors) == (0, strategy, "")
    assert settings["num_beams"] == (2 if "--num-beams" in flags else 4)


def test_a_model_that_cannot_chat_says_so(run: Run, tiny_writer: LoadedModel, tiny_translator: LoadedModel) -> None:
    for loaded in (tiny_writer, tiny_translator):
        for arguments in (("Le chat", "--chat"), ("--chat",)):
            code, text, errors = run(*arguments, model=loaded.address)
            assert (code, text) == (2, "") and errors.startswith(f"{loaded.name} can't chat: leave --chat out")


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        generate.main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"Attend {attend.__version__}\n")


def test_an_interrupted_run_is_kept_as_a_cancelled_document(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decode = decoding.generate.generate

    def interrupted(*arguments: Any) -> Iterator[Step]:
        yield from itertools.islice(decode(*arguments), 3)
        # A job in a shell's background ignores Ctrl-C and would pass that on to the tests it runs.
        usual = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.signal(signal.SIGINT, usual)

    monkeypatch.setattr("decoding.generate.generate", interrupted)
    file = tmp_path / "run.json"
    code, text, errors = run("Hi", "--seed", "1", "--json", str(file))
    document = json.loads(file.read_text(encoding="utf-8"))
    assert (code, errors) == (130, "")
    assert document["finish_reason"] == "cancelled" and len(document["steps"]) == 3
    assert document["text"].startswith(text.rstrip("\n"))


def test_whoever_stops_reading_gets_no_traceback_and_their_document(tiny_checkpoint: Path, tmp_path: Path) -> None:
    flags = ("--max-new-tokens", "100", "--strategy", "greedy", "--json", str(tmp_path / "run.json"))
    process = subprocess.Popen(
        command("Hi", "--model", str(tiny_checkpoint), *flags),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd="/",
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(timeout=60), errors) == (0, b"")
    document = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert document["finish_reason"] == "cancelled" and document["steps"]


@pytest.mark.parametrize("arguments", [["x", "--temprature", "1"], ["x", "--temperature", "9"], []])
def test_flags_are_refused_without_waiting_for_torch(arguments: list[str]) -> None:
    """Importing torch takes seconds; nobody should wait that long to read about a typing error."""
    ran = run_command("generate", *arguments)
    assert ran.code == 2
    assert "decoding" in ran.packages and not ran.packages & {"torch", "transformers", "sentencepiece"}


FULL = Path("/dev/full")
NO_ROOM = "The output can't be written (No space left on device): make room on the disk, or write it elsewhere.\n"


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
def test_a_full_disk_is_one_sentence(run: Run) -> None:
    flags = ("--max-new-tokens", "2", "--seed", "1", "--json", str(FULL))
    code, output, errors = run("Hi", *flags)
    assert (code, errors) == (2, NO_ROOM)
    assert output.endswith("\n")  # the sentence begins its own line


@pytest.mark.skipif(not FULL.exists(), reason="no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("both", [False, True])
def test_so_is_standard_output_in_all_commands(unbuffered: str, both: bool) -> None:
    """Standard error may be full as well: then the exit code says it alone."""
    program = "import sys; from model.command_line import command; sys.exit(command(lambda: print('x'))())"
    with FULL.open("w") as full:
        ran = subprocess.run(
            [sys.executable, "-c", program],
            cwd=ROOT,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
            stdout=full,
            stderr=full if both else subprocess.PIPE,
            text=True,
            timeout=LONGEST,
        )
    assert (ran.returncode, ran.stderr) == (2, None if both else NO_ROOM)
