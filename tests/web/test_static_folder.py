"""The folder of the page without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from model.errors import AttendError
from web import static


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(AttendError, match="holds other files: choose an empty folder"):
        static.write(tmp_path)
    assert (tmp_path / "thesis.txt").read_text(encoding="utf-8") == "mine"


def test_a_page_whose_writing_was_interrupted_is_written_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str, folder: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(static, "export", interrupted)
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            static.write(tmp_path / "page")


def test_what_is_kept_for_visits_without_a_network_exists(tmp_path: Path) -> None:
    folder = tmp_path / "page"
    static.write(folder, course=("start", "tokens"))
    line = next(line for line in (folder / "offline.js").read_text(encoding="utf-8").splitlines() if "FILES =" in line)
    kept = json.loads(line.partition("= ")[2].rstrip(";"))
    assert "web/page/page.js" in kept and "models/attend-chat/model.json" in kept
    assert all((folder / name).exists() for name in kept) and "offline.js" not in kept
    assert {path.name for path in (folder / "course").iterdir()} == {"start.json", "tokens.json"}
    assert {path.name for path in (folder / "gallery").iterdir()} == {"chat.html", "write.html", "translate.html"}
