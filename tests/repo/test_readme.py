"""README and docs/ are true: the front matter makes a Space, links and files exist, commands and examples run."""

from __future__ import annotations

import ast
import importlib
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import get_args

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from typing_extensions import is_typeddict

import app
import generate
from decoding.parameters.parameter import Parameter
from decoding.run import run_document
from decoding.settings import STRATEGIES, parameters
from model import names
from tests.helpers.folders import CHATML, gpt2
from tests.helpers.paths import ROOT
from tests.helpers.served import app_page
from tests.helpers.translators import nllb

README = (ROOT / "README.md").read_text(encoding="utf-8")
_, FRONT, FIRST_PAGE = README.split("---\n", 2)
DOCS = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
TEXT = "\n".join([FIRST_PAGE, *DOCS.values()])


def blocks(text: str) -> list[tuple[str, str]]:
    """The language and the content of each fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.MULTILINE | re.DOTALL)


BLOCKS = blocks(TEXT)
COMMANDS = [
    shlex.split(line, comments=True)
    for language, block in BLOCKS
    if language == "bash"
    for line in block.splitlines()
    if line.strip()
]
PACKAGES = ("model", "decoding", "lesson", "terminal", "ui", "web", "serve", "training", "experiments", "benchmarks")


def requirements(python: str) -> dict[str, str]:
    """What requirements.txt pins on a version of Python."""
    lines = (ROOT / "requirements.txt").read_text().splitlines()
    wanted = [Requirement(line) for line in lines if line and not line.startswith("#")]
    chosen = [
        requirement
        for requirement in wanted
        if requirement.marker is None or requirement.marker.evaluate({"python_version": python})
    ]
    assert len({requirement.name for requirement in chosen}) == len(chosen)
    return {requirement.name: str(requirement.specifier) for requirement in chosen}


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
    assert here["jinja2"] == space["jinja2"]  # model/sandbox relies on how exactly this version confines templates


def test_the_pinned_versions_are_those_that_the_tests_run_with() -> None:
    pinned = requirements(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert {name: pin for name, pin in pinned.items() if version(name) not in SpecifierSet(pin)} == {}


def tree(text: str) -> dict[str, str]:
    """Paths of the tree in a text, and the clause beside each."""
    (block,) = (block for _, block in blocks(text) if block.startswith("app.py  "))
    return dict(re.fullmatch(r"(\S+)\s{1,}(\S.*)", line).groups() for line in block.splitlines())  # type: ignore[union-attr]


def test_trees_are_true_and_the_first_page_is_short() -> None:
    """Each path exists, and each folder with code is there but for the chapters of the lesson, under theirs."""
    assert README.count("\n") <= 250
    paths = [path for page in (README, DOCS["architecture.md"]) for path in tree(page)]
    assert [path for path in paths if not (ROOT / path).exists()] == []
    code = [path for package in PACKAGES for kind in ("*.py", "*.js") for path in (ROOT / package).rglob(kind)]
    rooms = {path.parent.relative_to(ROOT).as_posix() + "/" for path in code}
    chapters = {room for room in rooms if room.startswith("ui/learn/") and room != "ui/learn/"}
    assert sorted(rooms - chapters - tree(DOCS["architecture.md"]).keys()) == []


def test_links_lead_somewhere() -> None:
    count = 0
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        for link in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
            assert (path.parent / link).exists(), f"{path.name}: {link}"
            count += 1
    assert count > 15


def settings_row(parameter: Parameter) -> str:
    default = parameter.typed(parameter.default)
    others = [strategy for strategy in STRATEGIES if strategy not in parameter.strategies]
    used_by = ", ".join(parameter.strategies)
    if len(others) < 2:
        used_by = " ".join(["all", *(f"but {strategy}" for strategy in others)])
    stated = "none" if default == "" else default
    return f"| `{parameter.name}` | {parameter.accepts} | {stated} | {used_by} | {parameter.help} |"


def test_table_of_settings_is_that_of_the_program() -> None:
    table = re.search(r"<!-- settings: .*?-->\n(.*?)<!-- /settings -->", TEXT, flags=re.DOTALL)
    assert table
    assert table[1].splitlines()[2:] == [settings_row(parameter) for parameter in parameters()]


def test_table_of_models_is_the_catalogue() -> None:
    table = re.search(r"<!-- models: .*?-->\n(.*?)<!-- /models -->", TEXT, flags=re.DOTALL)
    assert table
    header, _, *lines = table[1].splitlines()
    assert header == f"| {' | '.join(names.rows()[0])} |"
    assert lines == [f"| `{name}` | {' | '.join(rest)} |" for name, *rest in names.rows()[1:]]


def test_the_line_that_adds_a_model_makes_an_entry() -> None:
    (line,) = re.findall(r"`(Entry\(.*?\))`", TEXT)
    call = ast.parse(line, mode="eval").body
    assert isinstance(call, ast.Call)
    entry = names.Entry(*map(ast.literal_eval, call.args))
    assert (entry.name, entry.embedded) == ("name", False)


def test_every_field_of_a_run_document_is_described() -> None:
    _, _, described = DOCS["endpoints.md"].partition("## The trace\n")
    fields = {field for entry in vars(run_document).values() if is_typeddict(entry) for field in entry.__annotations__}
    assert {*fields, *get_args(run_document.TokenOrigin)} - set(re.findall(r"[`\"](\w+)[`\"]", described)) == set()


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
    targets = [command for command in COMMANDS if program(command) == "make"]
    assert {command[1] for command in targets} == {"run", "test", "cluster", "test-cluster"}
    for command in targets:
        assert subprocess.run(["make", "--dry-run", *command[1:]], cwd=ROOT, capture_output=True).returncode == 0


def test_flags_of_training_commands_exist(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for module in sorted({program(command) for command in COMMANDS if program(command).startswith("training.")}):
        monkeypatch.setattr(sys, "argv", [module, "--help"])
        offered = flags(help_of(importlib.import_module(module).main, capsys))
        for command in COMMANDS:
            if program(command) == module:
                assert flags(" ".join(command[command.index(module) :])) <= offered, command


def test_flags_of_the_page_exist(capsys: pytest.CaptureFixture[str]) -> None:
    (sentence,) = re.findall(r"^`python app\.py` takes.*?\n\n", FIRST_PAGE, flags=re.MULTILINE | re.DOTALL)
    offered = flags(help_of(lambda: app.main(["--help"]), capsys))
    assert flags(sentence) == offered - {"--help"}


def test_flags_of_the_hub_commands_exist() -> None:
    """`hf` comes with gradio's own requirements; its help needs no network."""
    commands = [command for command in COMMANDS if program(command) == "hf"]
    assert len(commands) == 5
    used: dict[tuple[str, ...], set[str]] = {}
    for command in commands:
        words = tuple(word for word in command[1:] if word in ("repos", "create", "upload", "download"))
        used.setdefault(words, set()).update(flags(" ".join(command)))
    for words, wanted in used.items():
        ran = subprocess.run(
            [Path(sys.executable).with_name("hf"), *words, "--help"],
            capture_output=True,
            text=True,
            env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HUB_DISABLE_TELEMETRY": "1", "COLUMNS": "200"},
        )
        assert ran.returncode == 0, ran.stderr
        assert wanted <= flags(ran.stdout), words


@pytest.mark.parametrize(
    "command", [command for command in COMMANDS if program(command) == "generate.py"], ids=" ".join
)
@pytest.mark.usefixtures("counted_seeds")
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
    # A tiny model goes on until something stops it, reads few characters, and without a seed tells the one it drew.
    # What no test has run before is compiled first.
    notes = tuple(f"Note: {begins}" for begins in ("stopped at", "the seed was", "This model", "perplexity"))
    notes += ("Compiling for this processor",)
    assert all(line.startswith(notes) for line in capsys.readouterr().err.splitlines() if line)
    for written in (arguments[arguments.index("--json") + 1],) if "--json" in arguments else ():
        assert "attend.trace/2" in (tmp_path / written).read_text(encoding="utf-8")


def test_example_for_python_runs(tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = (block for language, block in BLOCKS if language == "python" and "import attend" in block)
    assert example.count('"attend-chat"') == 1
    capsys.readouterr()  # what saving says
    exec(example.replace("attend-chat", str(tiny_checkpoint)), {})
    assert capsys.readouterr().out.count("torch.Size([") == 2  # the attention of the first two tokens


@pytest.mark.usefixtures("counted_seeds")
def test_example_for_programs_runs_against_the_page(tiny_checkpoint: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (example,) = (block for language, block in BLOCKS if language == "python" and "gradio_client" in block)
    assert example.count("http://127.0.0.1:7860") == 1 and "attend-chat" in example
    with app_page("--model", str(tiny_checkpoint)) as address:
        example = example.replace("http://127.0.0.1:7860", address).replace("attend-chat", tiny_checkpoint.name)
        capsys.readouterr()
        exec(example, {})
    lines = capsys.readouterr().out.splitlines()
    assert any(line.endswith(" None") for line in lines)  # streamed
    assert any(line.endswith((" stop", " length")) for line in lines)  # and ended
    assert any("'probabilities'" in line for line in lines)
    assert float(lines[-1].split()[-1]) >= 1  # the last card's perplexity
