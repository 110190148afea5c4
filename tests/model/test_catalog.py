"""Model names: which are listed, what each refers to, and which are refused by their form alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import app
import generate
from model import catalog, names
from model.arguments import DEFAULT
from model.errors import AttendError
from model.loaded import LoadedModel
from model.transformer import checkpoint
from tests.helpers.paths import ROOT

LEADS = [
    ("distilgpt2", "distilbert/distilgpt2", "main"),
    ("gpt2@v1.0", "openai-community/gpt2", "v1.0"),
    ("someone/a-model_1.5", "someone/a-model_1.5", "main"),
    ("s/m@refs/pr/1", "s/m", "refs/pr/1"),
    ("someone/model@" + "0123456789" * 4, "someone/model", "0123456789" * 4),
    ("  gpt2@v1.0\n", "openai-community/gpt2", "v1.0"),
    ("owner/name\n", "owner/name", "main"),
]

HOSTILE = [
    ("../../etc/no-such-folder", "There is no folder and no GGUF file '../../etc/no-such-folder': check its path"),
    ("/no/such/folder", "There is no folder and no GGUF file"),
    ("~/model", "There is no folder and no GGUF file"),
    ("a/b/c", "There is no model"),
    ("../name", "There is no folder and no GGUF file"),
    ("owner/a..b", "There is no model"),
    ("owner\\name", "There is no model"),
    ("owner/name?x=1", "There is no model"),
    ("owner/name\0", "There is no model"),
    ("o/" + "n" * 95, "There is no model"),
    ("", "There is no model"),
    ("no-such-model", "There is no model"),
    ("https://huggingface.co/owner/name/tree/main", r"is a web address, not a model name: use owner/name\.$"),
    ("huggingface.co/gpt2", r"^'huggingface\.co/gpt2' is a web address, not a model name: use gpt2\.$"),
    ("huggingface.co/bert-base-uncased", "is a web address, not a model name: use owner/name as shown on the Hub"),
    ("n" * 300, f"There is no model '{'n' * 40}…{'n' * 40}': choose"),
    ("file:///etc", "is a web address"),
    (__file__, "There is no folder and no GGUF file"),
    (os.path.relpath(__file__), r"test_catalog\.py' is neither a checkpoint folder nor a GGUF file: choose another\.$"),
    ("owner/name@", "is not a revision"),
    ("owner/name@../../main", "is not a revision"),
    ("gpt2@-x", "is not a revision"),
    ("attend-chat@v1", "has no revisions"),
]


@pytest.fixture
def nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network that must not be used."""

    def unexpected(*_: object, **__: object) -> None:
        raise AssertionError("the Hub was used")

    monkeypatch.setattr("model.hub.repository.fetch", unexpected)


def test_where_a_name_leads(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def fetch(*names: str, **_: object) -> None:
        calls.append(names)
        raise AttendError("Enough.")

    monkeypatch.setattr("model.hub.repository.fetch", fetch)
    of_the_catalogue = [(entry.location, entry.location, "main") for entry in names.ENTRIES if not entry.embedded]
    expected = [*LEADS, *of_the_catalogue]
    for name, *_ in expected:
        with pytest.raises(AttendError, match="Enough"):
            catalog.load(name)
    assert calls == [tuple(rest) for _, *rest in expected]


@pytest.mark.usefixtures("nobody")
def test_a_malformed_name_is_refused_without_a_request() -> None:
    for name, words in HOSTILE:
        with pytest.raises(AttendError, match=words) as refused:
            catalog.load(name)
        assert "\n" not in str(refused.value)


@pytest.mark.usefixtures("nobody")
def test_a_folder_goes_before_the_hub(tiny_checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tiny_checkpoint.parent.parent)
    name = f"{tiny_checkpoint.parent.name}/{tiny_checkpoint.name}"
    assert catalog.load(name).name == tiny_checkpoint.name


def test_a_folder_goes_by_its_last_part_that_says_something_and_other_names_are_what_people_call_them(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    called = {name: name for name in ("fox/model", "fox/checkpoint-500", "fox/Best_Model", "fox/500")}
    for folder, name in {**called, "model/fox-7b": "fox-7b", "fox/models-of-mine": "models-of-mine"}.items():
        there = shutil.copytree(tiny_checkpoint, tmp_path / folder)
        assert catalog.load(f" {there} ").name == names.display_name(f"{there}/") == name
        monkeypatch.chdir(there)
        assert (catalog.load(".").name, names.display_name(".")) == (name, name)
    for name in (*names.catalog(), "someone/model@v1", str(tmp_path / "nowhere" / "model"), "", "n" * 300):
        assert names.display_name(name) == name


@pytest.mark.usefixtures("nobody")
def test_a_limit_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    for size in ("-1", "nan", "0"):
        assert generate.main(["Hi", "--model", "gpt2", f"--max-size={size}"]) == 2
        assert "but must be above 0 (gigabytes)" in capsys.readouterr().err


@pytest.mark.usefixtures("nobody")
def test_a_public_page_loads_what_is_listed_alone(
    tiny_checkpoint: Path, free_port: int, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (str(tiny_checkpoint), "someone/model", "gpt2@v1", "openai-community/gpt2", "../../etc", "/etc"):
        assert app.main(["--port", str(free_port), "--model", name, "--public"]) == 2
        assert capsys.readouterr().err == (
            f"A public page offers only the models of the catalogue: choose one of {', '.join(names.catalog())}.\n"
        )
    monkeypatch.setenv("SPACE_ID", "someone/attend")
    assert app.main(["--port", str(free_port), "--model", "someone/model"]) == 2
    assert "models of the catalogue" in capsys.readouterr().err
    for name in names.catalog():
        names.check_listed(name)


def test_what_is_embedded_is_listed_and_loads() -> None:
    folders = {path.parent.name for path in names.EMBEDDED.glob("*/config.json")}
    assert folders == set(names.embedded())
    assert DEFAULT in names.catalog() and len(set(names.catalog())) == len(names.ENTRIES)
    for entry in names.ENTRIES:
        if entry.embedded:
            weights = (names.EMBEDDED / entry.name / "model.safetensors").stat().st_size
            assert entry.megabytes == round(weights / 1e6)
            counted = sum(checkpoint.weight_sizes(names.EMBEDDED / entry.name / "model.safetensors").values())
            assert entry.millions == round(counted / 1e6, 1)


def test_the_terminal_lists_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        generate.main(["--list-models"])
    assert ended.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["model", *names.catalog()]
    for line, row in zip(lines, names.rows(), strict=True):
        assert all(cell in line for cell in row)


def test_our_own_models_bring_nothing_slow_but_torch(tiny_checkpoint: Path, tiny_translator: LoadedModel) -> None:
    """Each of these takes a second or more: another library, or PyTorch's own compiler."""
    code = (
        "import sys; import app, attend; "
        "[attend.load(name).generate('Hi', max_new_tokens=2) for name in sys.argv[1:]]; "
        "slow = {'huggingface_hub', 'transformers', 'accelerate', 'gradio', 'torch._dynamo'}; "
        "print(slow & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(tiny_checkpoint), tiny_translator.address]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such paths")
def test_a_path_that_is_not_utf_8_is_refused_for_what_it_is(tiny_checkpoint: Path, tmp_path: Path) -> None:
    """The Rust library of safetensors can't open it."""
    folder = Path(shutil.copytree(tiny_checkpoint, tmp_path / "mod\udce8le"))
    for load in (catalog.load, catalog.load_encoder):
        with pytest.raises(
            AttendError, match=r"The path '.*mod\\udce8le' is not UTF-8, .*: rename its folders and files"
        ):
            load(str(folder))
