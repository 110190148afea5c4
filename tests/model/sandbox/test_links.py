"""A checkpoint's files are in its folder: a link out of it could bring any file of this machine into a prompt."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from model import catalog
from model.errors import AttendError
from model.names import locate
from model.sandbox.folder import check_folder
from tests.helpers.folders import CHATML, bert, gpt2

NAMES = (
    *("config.json", "generation_config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"),
    *("chat_template.jinja", "special_tokens_map.json"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return gpt2(tmp_path / "evil", CHATML)


def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("root:x:0:0")
    return path


@pytest.mark.parametrize("form", ["absolute", "relative", "through another link"])
def test_a_file_that_is_a_link_out_of_the_folder_is_never_read(folder: Path, tmp_path: Path, form: str) -> None:
    target = secret(tmp_path)
    if form == "relative":
        target = Path("..") / target.name
    elif form == "through another link":
        (folder / "inside").symlink_to(target)
        target = Path("inside")
    for name in NAMES:
        kept = (folder / name).read_bytes() if (folder / name).exists() else None
        (folder / name).unlink(missing_ok=True)
        (folder / name).symlink_to(target)
        with pytest.raises(AttendError, match="a link to a file outside the checkpoint's folder, so it is never read"):
            catalog.load(str(folder))
        (folder / name).unlink()
        if kept is not None:
            (folder / name).write_bytes(kept)


@pytest.mark.parametrize("linked", ["folder", "file"])
def test_neither_are_named_templates(folder: Path, tmp_path: Path, linked: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "default.jinja").write_text("{{ messages[0].content }}")
    if linked == "folder":
        (folder / "additional_chat_templates").symlink_to(elsewhere)
    else:
        (folder / "additional_chat_templates").mkdir()
        (folder / "additional_chat_templates" / "default.jinja").symlink_to(elsewhere / "default.jinja")
    with pytest.raises(AttendError, match=r"additional_chat_templates.* is a link to a file outside"):
        check_folder(folder)


def test_nor_those_of_an_encoder_nor_a_folder_s_gguf_file(tmp_path: Path) -> None:
    folder = bert(tmp_path / "bert")
    (folder / "tokenizer_config.json").unlink()
    (folder / "tokenizer_config.json").symlink_to(secret(tmp_path))
    with pytest.raises(AttendError, match="is a link to a file outside"):
        catalog.load_encoder(str(folder))
    (tmp_path / "evil").mkdir()
    (tmp_path / "evil" / "model.gguf").symlink_to(secret(tmp_path))
    with pytest.raises(AttendError, match=r"model.gguf is a link to a file outside"):
        locate(str(tmp_path / "evil"))


def test_links_within_the_folder_and_to_the_folder_are_followed(folder: Path, tmp_path: Path) -> None:
    (folder / "chat_template.jinja").rename(folder / "written.jinja")
    (folder / "chat_template.jinja").symlink_to("written.jinja")
    (tmp_path / "latest").symlink_to(folder)
    assert catalog.load(str(tmp_path / "latest")).chat is not None


def test_a_repository_of_the_hub_s_cache_links_to_its_own_blobs_alone(folder: Path, tmp_path: Path) -> None:
    """As huggingface_hub lays it out: models--OWNER--NAME/snapshots/REVISION/FILE → ../../blobs/CHECKSUM."""
    repository = tmp_path / "hub" / "models--someone--tiny"
    snapshot = repository / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    for number, path in enumerate(sorted(folder.iterdir())):
        shutil.move(path, repository / "blobs" / str(number))
        (snapshot / path.name).symlink_to(Path("..") / ".." / "blobs" / str(number))
    assert catalog.load(str(snapshot)).chat is not None
    (snapshot / "chat_template.jinja").unlink()
    (snapshot / "chat_template.jinja").symlink_to(secret(tmp_path))
    with pytest.raises(AttendError, match="is a link to a file outside"):
        check_folder(snapshot)
