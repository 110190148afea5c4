"""What a terminal shows of tokens, the command that scores texts, and the completion of the `attend` command."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import attend
from terminal import attend_command, score
from terminal.attend_command import main
from terminal.tokens import (
    SHADES,
    TokenPrinter,
    background_of,
    columns_of,
    percent,
    token_table,
    visible_controls,
    why_it_stopped,
)
from tests.helpers.waiting import eventually
from tests.terminal.conftest import Run
from ui.learn.wording import percent as on_page

SETTINGS = {"strategy": "sample", "temperature": 1.5, "top_k": 3, "seed": 7, "max_new_tokens": 6}


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(scope="module")
def chat() -> attend.Model:
    return attend.load("attend-chat")


@pytest.fixture(scope="module")
def story(chat: attend.Model) -> attend.Run:
    return chat.generate("Once upon a time", **SETTINGS)


def printed(run: attend.Run, out: io.StringIO) -> str:
    printer = TokenPrinter.on(out, colour=True)
    for token in run.tokens:
        printer.token(token)
    return out.getvalue()


def test_colours_are_for_a_terminal_and_leave_the_text_as_it_is(
    story: attend.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    coloured = printed(story, Terminal())
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == story.text
    backgrounds = [background_of(token.probability) for token in story.tokens]
    assert re.findall(r"\x1b\[48;5;(\d+)m", coloured) == [str(each) for each in backgrounds if each]
    assert any(backgrounds)
    assert printed(story, io.StringIO()) == story.text
    monkeypatch.setenv("NO_COLOR", "1")
    assert printed(story, Terminal()) == story.text


def test_each_probability_has_the_shade_of_its_range() -> None:
    for (least, background), (above, _) in zip(SHADES[1:], SHADES, strict=False):
        assert background_of(least) == background != background_of(above)
    assert background_of(1.0) is None


def test_a_model_cannot_control_the_terminal() -> None:
    assert visible_controls("a\tb\nc") == "a\tb\nc"
    assert visible_controls("\x1b]0;title\x07\r\x9b2J") == "␛]0;title␇␍␡2J"


def test_the_table_says_how_each_token_was_chosen(chat: attend.Model, story: attend.Run) -> None:
    head, *lines = token_table(story.tokens, 2)
    assert head.split()[:7] == ["token", "model", "filtered", "rank", "entropy", "drawn", "the"]
    for token, line in zip(story.tokens, lines, strict=True):
        figures = [*percent(token.probability).split(), *percent(token.final_probability).split(), str(token.rank)]
        figures += [f"{token.choice.entropy:.2f}", f"{token.choice.draw:.3f}"]
        _, _, between, *others = line.split('"')  # the number, the token, its figures, two candidates
        assert between.split()[:7] == figures and len(others) == 2 * 2
    greedy = chat.generate("Once upon a time", strategy="greedy", max_new_tokens=2)
    assert "drawn" not in next(token_table(greedy.tokens, 1))


def test_a_narrow_terminal_gets_the_candidates_in_several_lines(
    story: attend.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    wide, narrow = list(token_table(story.tokens, 10)), list(token_table(story.tokens, 10, 100))
    assert max(map(len, wide)) > 100 >= max(map(len, narrow))
    assert " ".join(narrow).split() == " ".join(wide).split()
    indent, continued = narrow[0].index("the most"), [line for line in narrow if not line[:20].strip()]
    assert len(continued) == len(narrow) - len(wide) > 0
    assert all(line[:indent].isspace() and line[indent] != " " for line in continued)

    monkeypatch.setenv("COLUMNS", "100")  # where shutil looks first
    for out, lines in ((Terminal(), narrow), (io.StringIO(), wide)):
        TokenPrinter.on(out, colour=False, candidates=10).explain(story, 512)
        assert out.getvalue().splitlines()[1 : len(lines) + 1] == lines


@pytest.mark.parametrize(
    ("text", "marked"),
    [("dog", '"dog"'), (' "', """' "'"""), ("it's", '"it\'s"'), ("'\"", '"\'""'), ("狗", '"狗"'), ("é", '"é"')],
)
def test_a_candidate_is_quoted_and_takes_its_columns(story: attend.Run, text: str, marked: str) -> None:
    first, second, *_ = story.tokens
    named = replace(first, candidates=tuple(replace(one, text=text) for one in first.candidates))
    head, *lines = token_table([named, second], 1)
    assert f"{marked} " in lines[0] and marked in lines[0][lines[0].rindex("  ") :]
    assert columns_of(lines[0][: lines[0].rindex(marked)]) == head.index("the most")


def test_a_probability_is_written_as_on_the_page() -> None:
    shares = (0.0, 3e-7, 3e-4, 0.1234, 0.99999, 1.0)
    written = [percent(share) for share in shares]
    assert written == ["0 %", "<0.01 %", "0.03 %", "12.34 %", ">99.99 %", "100.00 %"]
    assert written == [on_page(share).replace("\N{NO-BREAK SPACE}", " ") for share in shares]


def test_it_says_why_it_stopped(chat: attend.Model, story: attend.Run) -> None:
    limit = chat.loaded.model.context_length
    assert why_it_stopped(story, limit).startswith("stopped at the length limit of 6 tokens")
    answer = chat.chat("Hi!", strategy="greedy")
    assert why_it_stopped(answer, limit) == 'stopped because the model ended the text with "<end>".'
    word = story.text.split()[-1]
    assert why_it_stopped(chat.generate("Once upon a time", **SETTINGS, stop_texts=word), limit) == (
        f"stopped at the stop text {word!r}."
    )


def test_table_and_reason_follow_the_text(run: Run) -> None:
    code, out, errors = run("The quick", "--table", "2", "--seed", "1", "--max-new-tokens", "3")
    assert (code, errors) == (0, "") and out.splitlines()[-1].startswith("It stopped at the length limit of 3 tokens")
    assert len(out[out.index("   token") :].splitlines()) == 1 + 3 + 2
    _, wide, _ = run("The quick", "--table", "30", "--seed", "1", "--max-new-tokens", "1")
    _, row = wide[wide.index("   token") :].splitlines()[:2]
    assert len(re.findall(r"""["'] [<\d]""", row)) >= 30  # more candidates than are recorded by default
    code, _, errors = run("The quick", "--table", "60")
    assert code == 2 and "--table is 60, but must be between 1 and 50." in errors
    assert run("The quick", "--score", "--table", "2")[0] == run("The quick", "--json", "-", "--table", "2")[0] == 2


def test_a_text_is_scored_by_two_models(capsys: pytest.CaptureFixture[str], tiny_checkpoint: Path) -> None:
    text = "The cat sat on the mat."
    assert score.main([text, "--model", "attend-chat", "--beside", str(tiny_checkpoint)]) == 0
    captured = capsys.readouterr()
    rows = list(csv.DictReader(io.StringIO(captured.out)))
    for name in dict.fromkeys(row["model"] for row in rows):
        own = attend.load("attend-chat" if name == "attend-chat" else str(tiny_checkpoint)).score(text)
        assert [int(row["id"]) for row in rows if row["model"] == name] == [token.id for token in own.tokens]
        assert f"{name}: perplexity {own.perplexity:.4g}, {own.bits_per_byte:.4g} bits per byte." in captured.err
    assert len({row["model"] for row in rows}) == 2
    assert score.main([text, "--stride", "-1"]) == score.main(["  "]) == 2


def test_a_mistyped_model_leaves_the_scores_of_another_run(tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text("[]")
    flags = ("--model", "attend-chat", "--beside", "atend-translate", "--json", str(tmp_path / "scores.json"))
    assert score.main(["The cat sat on the mat.", *flags]) == 2
    assert (tmp_path / "scores.json").read_text() == "[]"


def test_a_model_that_fails_to_load_leaves_what_a_file_holds(tmp_path: Path, tiny_checkpoint: Path, run: Run) -> None:
    damaged, file = tmp_path / "damaged", tmp_path / "scores.json"
    shutil.copytree(tiny_checkpoint, damaged)
    (damaged / "model.safetensors").write_bytes(b"no weights")
    file.write_text("[1, 2, 3]")
    flags = ("The cat", "--json", str(file))
    assert run(*flags, "--score", model=str(damaged))[0] == run(*flags, model=str(damaged))[0] == 2
    assert file.read_text() == "[1, 2, 3]"
    file.write_text(" " * 100_000)
    assert run(*flags, "--score")[0] == 0
    assert json.loads(file.read_text())["tokens"]  # and nothing of what it held behind it


def test_models_are_compared_over_the_bytes_that_both_have_scored(chat: attend.Model) -> None:
    token = chat.score("aéb").scored.document()["tokens"][0]
    tokens: list[Any] = [
        {**token, "text": text, "surprise": bits} for text, bits in (("éé", 8.0), ("", 3.0), ("ab", 2.0))
    ]
    # of the last 4 bytes: half of the first token's 8 bits, 3 bits without text of their own, and 2 bits
    assert score.bits_at_end(tokens, 4) == 4 + 3 + 2
    assert (score.bits_at_end(tokens, 6), score.bits_at_end(tokens, 1)) == (8 + 3 + 2, 1)


def test_a_shell_completes_commands_flags_and_values(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "attend").write_text(capsys.readouterr().out)

    def completed(*words: str) -> list[str]:
        line = " ".join(f"'{word}'" for word in words)
        script = f"source {tmp_path}/attend; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; _shtab_attend; "
        ran = subprocess.run(["bash", "-c", script + 'echo "${COMPREPLY[@]}"'], capture_output=True, text=True)
        return ran.stdout.split()

    assert {"generate", "score", "export", "completion"} <= {*completed("attend", "")}
    assert completed("attend", "generate", "--temp") == ["--temperature"]
    assert completed("attend", "score", "--model", "attend-t") == ["attend-translate"]
    assert {"greedy", "beam"} <= {*completed("attend", "generate", "--strategy", "")}
    assert completed("attend", "--dtype", "b") == ["bfloat16"]


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes_at_the_first_press(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", "zsh"]) == 0
    (tmp_path / "_attend").write_text(capsys.readouterr().out)
    lines = {
        "attend gen": "attend generate ",
        "attend generate --temp": "attend generate --temperature ",
        "attend generate --logit-bias ": "attend generate --logit-bias ",  # zsh must not run its ID:X as a command
        "attend score --device cp": "attend score --device cpu ",
        "attend export attend-t": "attend export attend-translate ",
    }
    completed, errors = tmp_path / "completed", tmp_path / "errors"
    begin = f"fpath=({tmp_path} $fpath); autoload -Uz compinit; compinit -u -D; zle -N tell; bindkey '^T' tell; "
    begin += f"tell() {{ print -r -- $BUFFER >> {completed}; BUFFER=; }}; : > {completed}\n"
    controller, tty = pty.openpty()  # a terminal, which we type into
    with errors.open("w") as stderr:
        shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=tty, stdout=tty, stderr=stderr, start_new_session=True)
    try:
        os.write(controller, begin.encode())
        eventually(completed.exists)
        for line in lines:
            os.write(controller, f"{line}\t\x14".encode())  # \x14 is Ctrl-T
        eventually(lambda: completed.read_text().count("\n") == len(lines))
    finally:
        shell.kill()
        shell.wait()
        os.close(controller)
        os.close(tty)
    assert completed.read_text().splitlines() == [*lines.values()]
    assert not errors.read_text()


def test_a_mistyped_command_is_refused_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert attend_command.main(["genrate", "Hi"]) == 2
    assert capsys.readouterr().err == "There is no command 'genrate': did you mean generate?\n"
