"""Where generate.py reads its prompt: the command line, standard input or a file, in the encodings that they have."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from tests.terminal.conftest import Run


@pytest.mark.parametrize("flags", [["-"], ["--file", "-"], ["--file", "{file}"]], ids=" ".join)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_line_ends_are_kept_but_the_last_and_a_byte_order_mark_is_no_text(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str], encoding: str
) -> None:
    text = "The quick\r\nbr\u00f6wn\rfox\n\n jumps"
    (tmp_path / "prompt.txt").write_bytes(f"{text}\r\n".encode(encoding))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(f"{text}\r\n".encode(encoding)), encoding="utf-8"))
    flags = [flag.format(file=tmp_path / "prompt.txt") for flag in flags]
    code, written, errors = run(*flags, "--json", "-", "--max-new-tokens", "2", "--seed", "1")
    assert (code, errors, json.loads(written)["prompt"]["text"]) == (0, "", text)


@pytest.mark.parametrize("flags", [["-"], ["--file", "{file}"], ["--chat"], ["caf\udce9"]], ids=ascii)
def test_text_in_another_encoding_is_refused_or_read_as_the_system_says(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    (tmp_path / "prompt.txt").write_bytes(b"caf\xe9")
    flags = [flag.format(file=tmp_path / "prompt.txt") for flag in flags]

    def answer() -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"caf\xe9"), encoding="utf-8"))
        return run(*flags, "--max-new-tokens", "2", "--seed", "1")

    code, text, errors = answer()
    assert (code, text) == (2, "") and errors.count("\n") == 1
    assert errors.endswith(
        "is not UTF-8 text (byte E9 at position 4): convert it, for example with iconv -f latin1 -t utf-8.\n"
    )
    monkeypatch.setattr("locale.getencoding", lambda: "iso-8859-1")
    assert answer()[0] == 0


def test_half_a_character_behind_a_byte_order_mark_is_not_read_as_the_system_says(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "prompt.txt").write_bytes("The fox".encode("utf-16")[:-1])
    monkeypatch.setattr("locale.getencoding", lambda: "iso-8859-1")
    code, text, errors = run("--file", str(tmp_path / "prompt.txt"))
    assert (code, text) == (2, "") and "prompt.txt is not UTF-8 text (byte 78 at position 15)" in errors


def test_behind_two_dashes_a_prompt_may_begin_with_one_and_flags_may_follow(run: Run) -> None:
    flags = ("--max-new-tokens", "2", "--seed", "1", "--json", "-")
    for words in (
        (*flags, "--", "--5 degrees"),
        ("--", "--5 degrees", *flags),
        (*flags[:2], "--", "--5 degrees", *flags[2:]),
    ):
        code, text, errors = run(*words)
        assert (code, errors, json.loads(text)["prompt"]["text"]) == (0, "", "--5 degrees")
    assert run("--", "Hi", "you") == (2, "", "'Hi' is one argument too many: put a text with spaces in quotes.\n")
