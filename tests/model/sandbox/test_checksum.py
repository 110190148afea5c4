"""The short name of weights."""

from __future__ import annotations

from pathlib import Path

import pytest

from model.sandbox import checksum
from model.sandbox.checksum import weights_checksum


def test_weights_have_one_name_wherever_they_are_and_whatever_they_are_called(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("here", "there", "trained")]
    for folder, content in zip(folders, (b"abc", b"abc", b"abd"), strict=True):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(content)
        (folder / "config.json").write_text(folder.name)
    here, there, trained = map(weights_checksum, folders)
    assert here == there != trained and len(here) == 12
    (tmp_path / "a.gguf").write_bytes(b"abc")
    assert weights_checksum(tmp_path / "a.gguf") == here
    assert weights_checksum(tmp_path) != "" == weights_checksum(tmp_path / "none")
    empty = tmp_path / "empty"
    empty.mkdir()
    assert weights_checksum(empty) == ""


def test_of_large_weights_parts_are_read_up_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksum, "PARTS", 4)
    monkeypatch.setattr(checksum, "BYTES", 10)
    path, names = tmp_path / "a.gguf", set[str]()
    for changed in (None, 0, 95, 199):
        content = bytearray(200)
        if changed is not None:
            content[changed] = 1
        path.write_bytes(content)
        names.add(weights_checksum(path))
    assert len(names) == 3  # byte 95 is in none of the parts
