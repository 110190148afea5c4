"""The page without a server beside one that has a server."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import anyio
import anyio.to_thread
import httpx
import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from web import recorded_course, served, static


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


def test_visitors_who_wait_for_a_file_of_the_course_hold_no_thread_of_the_server(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    requests: list[str] = []
    may_end = threading.Event()

    def recorded(name: str) -> str:
        requests.append(name)
        may_end.wait()
        return "{}"

    monkeypatch.setattr(recorded_course, "recorded_file", recorded)

    async def visit() -> list[int]:
        transport, counts = httpx.ASGITransport(Starlette(routes=served.routes())), []
        async with (
            httpx.AsyncClient(transport=transport, base_url="http://page") as client,
            anyio.create_task_group() as visitors,
        ):
            for _ in range(3):
                visitors.start_soon(client.get, "/in-browser/course/start.json")
            while not requests:
                await anyio.sleep(0.01)
            counts += [len(requests), int(anyio.to_thread.current_default_thread_limiter().borrowed_tokens)]
            may_end.set()
        return counts

    with ThreadPoolExecutor() as threads:
        assert threads.submit(anyio.run, visit).result() == [1, 0]
    assert len(requests) == 3
