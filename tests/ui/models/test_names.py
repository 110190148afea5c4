"""The names of models: in the list, in the header, and for programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from model import catalog, names
from model.errors import AttendError
from ui.models import select as choosing
from ui.runs.models import Models
from ui.runs.session import Session


def test_a_folder_is_listed_by_its_name_and_its_path(tiny_checkpoint: Path, tmp_path: Path) -> None:
    deep = tmp_path / "a-part-of-a-path" / "another-part" / "fox"
    shutil.copytree(tiny_checkpoint, deep / "final")
    private = Models(("attend-chat", str(tiny_checkpoint)), lambda name, _: catalog.load(name), any_name=True)
    listed = {choice["name"]: choice for choice in choosing.choices(private, str(deep / "final"), "/etc")}
    assert listed[str(deep / "final")]["title"] == "fox/final"
    assert listed[str(deep / "final")]["about"] == str(deep.parent)
    assert (listed["/etc"]["title"], listed["/etc"]["about"]) == ("etc", "/")


def test_a_gguf_file_is_listed_by_its_name_and_its_folder(tmp_path: Path) -> None:
    for name in ("fox.Q4_1.gguf", "final.gguf"):
        (tmp_path / name).write_bytes(b"GGUF")
        private = Models(("attend-chat",), lambda name, _: catalog.load(name), any_name=True)
        (listed,) = (choice for choice in choosing.choices(private, str(tmp_path / name)) if "gguf" in choice["name"])
        generic = name == "final.gguf"
        assert listed["title"] == (f"{tmp_path.name}/final" if generic else "fox.Q4_1")
        assert listed["about"] == str(tmp_path.parent if generic else tmp_path)


def test_a_model_of_the_catalogue_says_what_it_is_for_how_large_it_is_and_whether_it_is_here(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listed = ("attend-chat", "gpt2")
    here = {"attend-chat"}
    monkeypatch.setattr(names, "is_installed", lambda entry: entry.name in here)
    assert choosing.choices(Models(listed, lambda name, _: catalog.load(name))) == [
        {
            "name": "attend-chat",
            "title": "attend-chat",
            "about": "Small talk · 5.9M parameters · English",
            "availability": "installed",
        },
        {
            "name": "gpt2",
            "title": "gpt2",
            "about": "Continues texts · 124M parameters · English",
            "availability": "548 MB download",
        },
    ]


@pytest.fixture
def foxes(tiny_checkpoint: Path, tmp_path: Path) -> list[str]:
    """Two folders with the same name."""
    return [str(shutil.copytree(tiny_checkpoint, tmp_path / where / "fox")) for where in ("one", "two")]


def test_programs_name_a_folder_in_use_as_the_page_does(foxes: list[str], tiny_checkpoint: Path) -> None:
    models = Models((str(tiny_checkpoint),), lambda name, _: catalog.load(name), any_name=True)
    with pytest.raises(AttendError, match="There is no model 'fox' here"):
        models.get("fox")
    visitors = [Session.using(models.default) for _ in foxes]
    list(choosing.choose(visitors[0], models, foxes[0]))
    assert models.get(" fox ") is models.cached(foxes[0])
    list(choosing.choose(visitors[1], models, foxes[1]))
    with pytest.raises(AttendError, match="2 folders in use are called fox: give the path of one"):
        models.get("fox")
    assert models.get(foxes[1]) is models.cached(foxes[1])


def test_of_a_public_page_every_name_is_listed(foxes: list[str]) -> None:
    models = Models(foxes, lambda name, _: catalog.load(name))
    assert models.get(foxes[0]) is models.first
    with pytest.raises(AttendError, match="There is no model 'fox' here"):
        models.get("fox")
