"""Conversations in a terminal: typed, or piped line by line."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

import attend
from model.loaded import LoadedModel
from tests.terminal.conftest import Run, command


def test_a_conversation_goes_on_until_the_input_ends(
    run: Run, tiny: LoadedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every answer is the one that the model gives to the whole conversation so far."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO("Hi!\n\nWhat is näxt?".encode()), encoding="utf-8"))
    model, messages, answers = attend.Model(tiny), [], []
    for message in ("Hi!", "What is näxt?"):
        messages.append({"role": "user", "content": message})
        answers.append(model.chat(messages, max_new_tokens=8, seed=3).text)
        messages.append({"role": "assistant", "content": answers[-1]})
    code, text, errors = run("--chat", "--max-new-tokens", "8", "--seed", "3", "--num-beams", "2")
    assert (code, errors) == (0, "Note: num_beams has no effect on sample.\n")
    assert text == "".join(f"{answer}\n" for answer in answers)


@pytest.mark.usefixtures("counted_seeds")
def test_a_message_that_cannot_be_answered_ends_a_piped_conversation_with_its_sentence(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"fox " * 500), encoding="utf-8"))
    code, text, errors = run("--chat")
    assert (code, text) == (2, "") and errors.startswith("The message has ") and errors.count("\n") == 1


def test_at_a_terminal_the_conversation_outlives_a_refused_message(tiny_checkpoint: Path) -> None:
    """Typed into a pseudo-terminal: a prompt sign, a refusal, an answer, and the end at Ctrl-D."""
    parent, child = pty.openpty()
    process = subprocess.Popen(
        command("--chat", "--model", str(tiny_checkpoint), "--max-new-tokens", "3", "--seed", "1"),
        stdin=child,
        stdout=child,
        stderr=child,
        env={**os.environ, "OMP_NUM_THREADS": "1", "TERM": "dumb"},
    )
    os.close(child)
    screen = b""
    for sign, typed in enumerate((b"fox " * 250 + b"\n", b"Hi!\n", b"\x04"), start=1):
        while screen.count(b"> ") < sign:
            screen += os.read(parent, 4096)
        os.write(parent, typed)
    assert process.wait(timeout=60) == 0
    os.close(parent)
    assert b"The message has " in screen
