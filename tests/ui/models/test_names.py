"""The names of models: in the list, in the header, and for programs."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from model import catalog, names
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.models import select as choosing
from ui.models.select import tagline
from ui.runs.models import Models
from ui.runs.session import Session


def test_a_folder_is_listed_by_its_name_and_the_end_of_its_place(
    tiny_checkpoint: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    deep = tmp_path / "a-part-of-a-path" / "another-part" / "fox"
    shutil.copytree(tiny_checkpoint, deep / "final")
    private = Models(("attend-chat", str(tiny_checkpoint)), lambda name, _: catalog.load(name), any_name=True)
    monkeypatch.setattr(names, "ENTRIES", ())
    listed = {name: words for words, name in choosing.choices(private, str(deep / "final"), "/etc", "n" * 90)}
    assert listed[str(deep / "final")] == "fox/final · …/another-part"
    assert (listed["/etc"], listed["n" * 90]) == ("etc · /", f"{'n' * 79}…")
    assert listed[str(tiny_checkpoint)] == str(tiny_checkpoint)  # what is offered is called by its own name


@pytest.fixture
def foxes(tiny_checkpoint: Path, tmp_path: Path) -> list[str]:
    """Two folders with the same name."""
    return [str(shutil.copytree(tiny_checkpoint, tmp_path / where / "fox")) for where in ("one", "two")]


def test_programs_name_a_folder_in_use_as_the_page_does(foxes: list[str], tiny_checkpoint: Path) -> None:
    models = Models((str(tiny_checkpoint),), lambda name, _: catalog.load(name), any_name=True)
    with pytest.raises(AttendError, match="There is no model 'fox' here"):
        models.get("fox")
    visitors = [Session(model=models.default) for _ in foxes]
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


def test_the_header_says_what_the_page_is_for(
    tiny: LoadedModel, tiny_writer: LoadedModel, tiny_translator: LoadedModel
) -> None:
    for loaded, does in ((tiny, "Chat"), (tiny_writer, "Write"), (tiny_translator, "Translate")):
        assert tagline(loaded) == f"{does} with a small language model and watch it choose every word."
