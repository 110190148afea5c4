"""Which GGUF file a name means: a path, a folder, a repository of the Hub with one or several."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest

from model import catalog, names
from model import device as device_module
from model.errors import AttendError
from model.progress import in_words
from tests.helpers.folders import refusal as refused
from tests.helpers.hub_server import StandIn, commit_of
from tests.helpers.hub_stage import fetch
from tests.model.gguf.test_gguf import llama, written

REPOSITORY = "someone/Tiny-GGUF"
Q4, Q8 = "tiny-Q4_K_M.gguf", "tiny-Q8_0.gguf"


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("gguf") / Q8, llama())


@pytest.fixture
def repository(hub_server: StandIn, file: Path, tmp_path: Path) -> Path:
    """A repository with one GGUF file, on the fake Hub."""
    folder = tmp_path / "repository"
    folder.mkdir()
    shutil.copy(file, folder / Q8)
    (folder / "README.md").write_text("A model card.")
    (folder / "config.json").write_text('{"model_type": "llama"}')  # as many have it
    hub_server.repositories[REPOSITORY, "main"] = folder
    return folder


def refusal(name: str) -> str:
    return refused(catalog.load, name)


def test_a_path_is_loaded_and_called_by_its_name(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = catalog.load(f" {file} ")
    assert (loaded.name, loaded.address, loaded.notes) == ("tiny-Q8_0", str(file), ())
    monkeypatch.chdir(file.parent)
    assert catalog.load(Q8).name == names.display_name(Q8) == "tiny-Q8_0"
    copied = shutil.copy(file, file.parent / "model.GGUF")
    assert names.display_name(str(copied)) == f"{file.parent.name}/model"  # which says nothing alone


def test_a_folder_with_one_file_is_that_file(file: Path, tmp_path: Path) -> None:
    folder = tmp_path / "fox"
    folder.mkdir()
    shutil.copy(file, folder)
    (folder / "mmproj-tiny-f16.gguf").write_bytes(b"GGUF")  # the eyes of a model that sees
    assert catalog.load(str(folder)).name == "fox"
    shutil.copy(file, folder / Q4)
    expected = f"{folder} holds several GGUF files ({Q4}, {Q8}): give the path of one."
    assert refusal(str(folder)) == expected
    assert catalog.load(str(folder / Q4)).name == "tiny-Q4_K_M"
    for path in folder.iterdir():
        path.unlink()
    (folder / "big-00001-of-00002.gguf").write_bytes(b"GGUF")
    assert "holds only models that were split into several files (big-00001-of-00002.gguf)" in refusal(str(folder))


def test_a_part_of_a_split_model_and_a_missing_file_are_refused_by_their_names(file: Path, tmp_path: Path) -> None:
    part = shutil.copy(file, tmp_path / "tiny-00002-of-00003.gguf")
    assert refusal(str(part)).startswith(f"{part} is one part of a model that was split into several files")
    for name in (f"/nowhere/{Q8}", "owner/name/file.gguf", "file.gguf"):
        assert refusal(name) == f"There is no file {name!r}: check its path; a file on the Hub is owner/name:FILE.gguf."


def test_an_address_is_turned_into_a_name_and_a_malformed_name_is_refused_without_a_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("model.hub.repository.fetch", lambda *_, **__: pytest.fail("the Hub was used"))
    page = "https://huggingface.co/owner/name/resolve/main/tiny-Q8_0.gguf"
    for address, name in ((page, "owner/name:tiny-Q8_0.gguf"), ("hf.co/owner/name:Q8_0", "owner/name:Q8_0")):
        assert refusal(address).endswith(f"is a web address, not a model name: use {name}.")
    for name in ("owner/name:", "owner/name:a b", "owner/name:../x.gguf", "name:Q4_K_M"):
        assert "There is no " in refusal(name)


def test_the_only_file_of_a_repository_comes_alone(repository: Path, hub_server: StandIn, file: Path) -> None:
    progress: list[tuple[int, int]] = []
    loaded = catalog.load(REPOSITORY, progress=lambda done, total: progress.append((done, total)))
    assert (loaded.name, loaded.address) == (REPOSITORY, REPOSITORY)
    assert hub_server.requested_files() == [Q8]
    assert progress[-1] == (file.stat().st_size, file.stat().st_size)
    hub_server.requests.clear()
    hub_server.statuses = {"": (500, "")}
    again = catalog.load(REPOSITORY)
    assert "so the copy of someone/Tiny-GGUF downloaded earlier" in again.notes[0]


def test_one_of_several_is_named_as_llama_cpp_does(repository: Path, hub_server: StandIn) -> None:
    (repository / Q4).write_bytes((repository / Q8).read_bytes() + b"other")
    (repository / "big-Q2_K-00001-of-00002.gguf").write_bytes(b"GGUF")
    named = f"name one after a colon, such as {REPOSITORY}:Q4_K_M"
    assert refusal(REPOSITORY) == f"{REPOSITORY} holds several GGUF files ({Q4}, {Q8}): {named}."
    assert refusal(f"{REPOSITORY}:Q2_K") == f"{REPOSITORY} has no GGUF file Q2_K, only {Q4}, {Q8}: {named}."
    assert hub_server.requested_files() == []
    for part in ("Q4_K_M", "q4_k_m", Q4):
        assert names.locate(f"{REPOSITORY}:{part}@main").gguf == part
        assert catalog.load(f"{REPOSITORY}:{part}").name == f"{REPOSITORY}:{part}"
    assert hub_server.requested_files() == [Q4]
    commit = commit_of(repository)
    catalog.load(f"{REPOSITORY}:Q8_0@{commit}")
    assert hub_server.requested_files() == [Q4, Q8]
    hub_server.requests.clear()
    assert catalog.load(f"{REPOSITORY}:Q8_0@{commit}").name == f"{REPOSITORY}:Q8_0@{commit}"
    assert hub_server.requests == []  # a commit never changes


def test_safetensors_go_before_gguf_in_a_folder_and_on_the_hub(
    hub_server: StandIn, on_the_hub: Path, file: Path, tmp_path: Path
) -> None:
    both = Path(shutil.copytree(on_the_hub, tmp_path / "both"))
    shutil.copy(file, both)
    assert names.locate(str(both)).path == both
    assert catalog.load(str(both)).name == "both"
    hub_server.repositories[REPOSITORY, "main"] = both
    assert catalog.load(f"{REPOSITORY}:Q8_0").name == f"{REPOSITORY}:Q8_0"
    assert hub_server.requested_files() == [Q8]
    catalog.load(REPOSITORY)
    assert "model.safetensors" in hub_server.requested_files()


def test_what_cannot_be_run_is_refused_before_it_is_downloaded(
    repository: Path, hub_server: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Hub says what architecture the files have; and the limit is the one of all downloads."""
    hub_server.overrides = {"gguf": {"architecture": "gemma3", "total": 10**9}}
    assert "is a GGUF file of the architecture 'gemma3'" in refusal(REPOSITORY)
    hub_server.overrides = {"gguf": {"architecture": "llama"}}
    with pytest.raises(AttendError, match="over the limit of 1 kB"):
        catalog.load(REPOSITORY, limit=1000)
    size, needed = (repository / Q8).stat().st_size, []
    for gguf in ({"architecture": "llama", "total": 2 * size}, {"total": 10**12}, {}):
        hub_server.overrides = {"gguf": gguf}
        monkeypatch.setattr(
            device_module.psutil, "virtual_memory", lambda: SimpleNamespace(available=1000, total=10**9)
        )
        needed += re.findall(r"needs about (.*) of memory, but only 1 kB is free", refusal(REPOSITORY))
    # Four bytes for each weight that the Hub counts, of which a byte holds eight at most; else as many as the file has.
    assert needed == [in_words(4 * weights) for weights in (2 * size, 8 * size, size // 4)]
    assert hub_server.requested_files() == []


def test_files_with_strange_names_are_never_fetched(repository: Path, hub_server: StandIn) -> None:
    (repository / "deep").mkdir()
    shutil.move(repository / Q8, repository / "deep" / Q8)
    (repository / "-strange name.gguf").write_bytes(b"GGUF")
    assert "has no model.safetensors: choose a model with safetensors" in refusal(REPOSITORY)
    assert fetch().path.is_dir()  # the other repository of this Hub is as it was


def test_a_model_of_the_catalogue_comes_from_a_package_where_it_is_installed(
    tmp_path: Path, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = names.Entry("someone/fox", 1, 1, "MIT", "English", "tests", package="tiny_fox/tiny-Q8_0.gguf")
    monkeypatch.setattr(names, "ENTRIES", (entry,))
    monkeypatch.setattr("model.hub.repository.is_installed", lambda *_: False)
    assert not names.is_installed(entry) and names.locate("fox").repository == "someone/fox"
    package = tmp_path / "tiny_fox"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('a package is never imported')")
    monkeypatch.syspath_prepend(tmp_path)
    assert not names.is_installed(entry)  # without its file
    shutil.copy(file, package)
    assert names.is_installed(entry)
    loaded = catalog.load("fox")
    assert (loaded.name, loaded.address) == ("fox", "fox")
    assert loaded.notes == (
        "The weights of fox are from the tiny-fox package, which rounded them to 4 bits; fox@main downloads the "
        "original.",
    )
    assert names.locate("fox@main").repository == "someone/fox"  # the original ones
