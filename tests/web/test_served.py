"""The page without a server beside one that has a server."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from web import served, static


def test_it_is_written_once_and_nothing_else_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []

    def write(folder: Path, course: tuple[str, ...]) -> None:
        assert course == ()  # it is recorded when it is asked for
        written.append(folder)
        (folder / "web").mkdir(parents=True)
        (folder / "index.html").write_text("the page", encoding="utf-8")
        (folder / "web" / "page.js").write_text("the script", encoding="utf-8")

    monkeypatch.setattr(static, "write", write)
    served._written.cache_clear()
    client = TestClient(Starlette(routes=served.routes()))
    assert not written  # until somebody asks
    assert client.get("/in-browser").text == "the page"
    assert client.get("/in-browser/web/page.js").headers["content-type"].startswith("text/javascript")
    assert "Tokens, side by side" in client.get("/in-browser/course/start.json").text
    assert client.get("/in-browser/..%2Fapp.py").status_code == client.get("/in-browser/web").status_code == 404
    assert len(written) == 1 and not written[0].exists()
    served._written.cache_clear()
