"""The README is true: its front matter makes a Space, its files exist, its commands and its example run."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

import app
import generate
from decoding.parameter import Parameter
from decoding.settings import STRATEGIES, parameters
from model import catalog
from tests.folders import CHATML, gpt2
from tests.translators import nllb

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
_, FRONT, TEXT = README.split("---\n", 2)
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, flags=re.MULTILINE | re.DOTALL)
COMMANDS = [
    shlex.split(line, comments=True)
    for language, block in BLOCKS
    if language == "bash"
    for line in block.splitlines()
    if line.strip()
]
PACKAGES = ("model", "decoding", "lesson", "ui", "training", "experiments", "benchmarks")


def requirements(python: str) -> dict[str, str]:
    """What requirements.txt pins on a version of Python."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    chosen = [one for one in wanted if one.marker is None or one.marker.evaluate({"python_version": python})]
    assert len({one.name for one in chosen}) == len(chosen)
    return {one.name: str(one.specifier) for one in chosen}


def test_front_matter_makes_a_gradio_space() -> None:
    """The fields and named colours of the Hub's Spaces configuration reference."""
    front = yaml.safe_load(FRONT)
    colours = {"red", "yellow", "green", "blue", "indigo", "purple", "pink", "gray"}
    assert front["title"] == "Attend"
    assert front["sdk"] == "gradio"
    assert {front["colorFrom"], front["colorTo"]} <= colours
    assert len(front["emoji"]) == 1 and not front["emoji"].isascii()
    assert front["license"] == "apache-2.0"
    assert 0 < len(front["short_description"]) <= 60
    assert front["pinned"] in (True, False)
    assert front["tags"] and all(isinstance(tag, str) for tag in front["tags"])
    assert (ROOT / front["app_file"]).is_file()
    assert 'python_version: "3.12"\n' in FRONT  # unquoted, YAML would read a number, and 3.10 as 3.1


def test_requirements_suit_this_python_and_that_of_spaces() -> None:
    here, space = requirements("3.11"), requirements(yaml.safe_load(FRONT)["python_version"])
    assert here["torch"] == "==2.13.0"
    assert space["torch"] == "==2.11.0"  # the newest that ZeroGPU Spaces offer
    assert space["gradio"] == f"=={yaml.safe_load(FRONT)['sdk_version']}"
    assert all(specifier.startswith("==") for specifier in (here | space).values())


def tree() -> dict[str, str]:
    """Paths of the README's tree, and the clause beside each."""
    (block,) = (block for _, block in BLOCKS if "app.py  " in block)
    found, folder = {}, ""
    for line in block.splitlines():
        name, clause = re.fullmatch(r"(\s*\S+)\s{2,}(\S.*)", line).groups()  # type: ignore[union-attr]
        if not name.startswith(" "):
            folder = name if name.endswith("/") else ""
        found[name if not name.startswith(" ") else folder + name.strip()] = clause
    return found


def test_every_file_of_the_tree_exists_and_every_module_stands_in_it() -> None:
    named = tree()
    assert [path for path in named if not (ROOT / path).exists()] == []
    modules = {path.relative_to(ROOT).as_posix() for package in PACKAGES for path in (ROOT / package).glob("*.py")}
    assert sorted(path for path in modules - named.keys() if not path.endswith("__init__.py")) == []


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", TEXT)
    assert links
    assert not [link for link in links if not (ROOT / link).exists()]


def settings_row(parameter: Parameter) -> str:
    default = parameter.typed(parameter.default)
    others = [strategy for strategy in STRATEGIES if strategy not in parameter.strategies]
    used_by = ", ".join(parameter.strategies)
    if len(others) < 2:
        used_by = " ".join(["all", *(f"but {strategy}" for strategy in others)])
    shown = "none" if default == "" else default
    return f"| `{parameter.name}` | {parameter.accepts} | {shown} | {used_by} | {parameter.help} |"


def test_table_of_settings_is_that_of_the_program() -> None:
    table = re.search(r"<!-- settings: .*?-->\n(.*?)<!-- /settings -->", TEXT, flags=re.DOTALL)
    assert table
    assert table[1].splitlines()[2:] == [settings_row(parameter) for parameter in parameters()]


def test_table_of_models_is_the_catalogue() -> None:
    table = re.search(r"<!-- models: .*?-->\n(.*?)<!-- /models -->", TEXT, flags=re.DOTALL)
    assert table
    header, _, *lines = table[1].splitlines()
    assert header == f"| {' | '.join(catalog.rows()[0])} |"
    assert lines == [f"| `{name}` | {' | '.join(rest)} |" for name, *rest in catalog.rows()[1:]]


def test_line_that_adds_a_model_is_one() -> None:
    (line,) = re.findall(r"`(Entry\(.*?\))`", TEXT)
    call = ast.parse(line, mode="eval").body
    assert isinstance(call, ast.Call)
    entry = catalog.Entry(*map(ast.literal_eval, call.args))
    assert (entry.name, entry.embedded) == ("name", False)


def help_of(run: Callable[[], object], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 0
    return capsys.readouterr().out


def flags(text: str) -> set[str]:
    return set(re.findall(r"--[a-z][a-z-]*", text))


def program(command: list[str]) -> str:
    """What a command line starts: "make", "generate.py", "training.train" …"""
    words = [word for word in command if "=" not in word or word.startswith("-")]
    if words[0].startswith("accelerate"):
        return words[words.index("-m") + 1]
    if "python" in Path(words[0]).name:
        return words[2] if words[1] == "-m" else words[1]
    return words[0]


def test_make_targets_exist() -> None:
    made = [command for command in COMMANDS if program(command) == "make"]
    assert {command[1] for command in made} == {"run", "test"}
    for command in made:
        assert subprocess.run(["make", "--dry-run", *command[1:]], cwd=ROOT, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    "module", sorted({program(command) for command in COMMANDS if program(command)[:9] == "training."})
)
def test_flags_of_training_commands_exist(
    module: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", [module, "--help"])
    offered = flags(help_of(importlib.import_module(module).main, capsys))
    for command in COMMANDS:
        if program(command) == module:
            after = command[command.index(module) :]
            assert flags(" ".join(after)) <= offered


def test_flags_of_the_page_exist(capsys: pytest.CaptureFixture[str]) -> None:
    (sentence,) = re.findall(r"^`python app\.py` takes.*?\n\n", TEXT, flags=re.MULTILINE | re.DOTALL)
    offered = flags(help_of(lambda: app.main(["--help"]), capsys))
    assert flags(sentence) == offered - {"--help"}


def test_flags_of_the_hub_commands_exist() -> None:
    """`hf` comes with gradio's own requirements; its help needs no network."""
    asked = [command for command in COMMANDS if program(command) == "hf"]
    assert len(asked) == 5
    for command in asked:
        words = [word for word in command[1:] if word in ("repos", "create", "upload", "download")]
        ran = subprocess.run(
            [Path(sys.executable).with_name("hf"), *words, "--help"],
            capture_output=True,
            text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "COLUMNS": "200"},
        )
        assert ran.returncode == 0, ran.stderr
        assert flags(" ".join(command)) <= flags(ran.stdout)


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if program(command) == "generate.py"], ids=" ".join
)
def test_terminal_examples_run(
    command: list[str],
    tiny_checkpoint: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    arguments = command[command.index("generate.py") + 1 :]
    if "--system" in arguments:
        model = gpt2(tmp_path / "takes-one", CHATML)
    elif "--to-language" in arguments:
        model = nllb(tmp_path / "nllb")
    else:
        model = tiny_checkpoint
    capsys.readouterr()  # what saving says
    assert generate.main([*arguments, "--model", str(model)]) == 0
    # A tiny model goes on until something stops it, and an example without a seed tells the one it drew.
    notes = ("Note: stopped at", "Note: the seed was")
    assert all(line.startswith(notes) for line in capsys.readouterr().err.splitlines())
    for written in (arguments[arguments.index("--json") + 1],) if "--json" in arguments else ():
        assert "attend.trace/1" in (tmp_path / written).read_text(encoding="utf-8")


def test_example_for_programs_runs_against_the_page(tiny_checkpoint: Path, free_port: int) -> None:
    (example,) = (block for language, block in BLOCKS if language == "python")
    assert example.count("http://127.0.0.1:7860") == 1 and "attend-chat" in example
    example = example.replace("7860", str(free_port)).replace("attend-chat", tiny_checkpoint.name)
    command = [sys.executable, "app.py", "--port", str(free_port), "--model", str(tiny_checkpoint)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as page:
        try:
            assert page.stdout is not None
            deadline = time.monotonic() + 60
            while "ready at" not in page.stdout.readline():
                assert time.monotonic() < deadline and page.poll() is None
            ran = subprocess.run([sys.executable, "-c", example], capture_output=True, text=True, timeout=60)
        finally:
            page.terminate()
    assert ran.returncode == 0, ran.stderr
    lines = ran.stdout.splitlines()
    assert any(line.endswith(" None") for line in lines)  # streamed
    assert any(line.endswith((" stop", " length")) for line in lines)  # and ended
    assert any("'probabilities'" in line for line in lines)
    assert float(lines[-1].split()[-1]) >= 1  # the last card's perplexity
