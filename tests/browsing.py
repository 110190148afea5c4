"""The whole page in a real browser: served as `make run` does, with no error in its console and no other host asked."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright import sync_api
from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize, expect

from model import catalog
from model.loaded import LoadedModel
from tests.conftest import make_checkpoint, unused_port
from tests.stage import CHROMIUM, FLAGS
from tests.visitor import PATIENCE
from ui import serve
from ui.models import Models
from ui.page import build

ROOT = Path(__file__).resolve().parent.parent
Opener = Callable[..., Page]


@pytest.fixture(scope="session")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The app as `make run` starts it, with the embedded model where there is one."""
    model, port = catalog.DEFAULT, unused_port()
    if model not in catalog.embedded():
        model = str(make_checkpoint(tmp_path_factory.mktemp("page") / "tiny", context_length=512))
    command = [sys.executable, "app.py", "--port", str(port), "--model", model]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        line = server.stdout.readline()
        assert "ready" in line, line
        yield f"http://127.0.0.1:{port}/"
        server.terminate()


@contextmanager
def page_of(models: Models) -> Iterator[str]:
    """Where their page is served, in this process."""
    port, blocks = unused_port(), build(models)
    serve.launch(blocks, host="127.0.0.1", port=port, block=False)
    yield f"http://127.0.0.1:{port}/"
    blocks.close()


@contextmanager
def serving(*loaded: LoadedModel, pause: float) -> Iterator[str]:
    """A page of these models, each of which takes so many seconds over a token."""

    def slow(decode: Any) -> Any:
        def slowly(*arguments: Any) -> Iterator[Any]:
            for step in decode(*arguments):
                time.sleep(pause)
                yield step

        return slowly

    by_name = {one.name: one for one in loaded}
    with page_of(Models(tuple(by_name), lambda name, _: by_name[name], wrap=slow)) as address:
        yield address


@pytest.fixture(scope="module")
def slow_models(tiny: LoadedModel, tiny_writer: LoadedModel) -> Iterator[str]:
    """A page whose first model knows no conversations and whose second does; each takes its time over a token."""
    with serving(tiny_writer, tiny, pause=0.1) as address:
        yield address


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the browsers of this process keep what they have loaded: a page that is known opens in half the time."""
    return tmp_path_factory.mktemp("profile")


@pytest.fixture(scope="module")
def returning(profile: Path) -> Iterator[BrowserContext]:
    """A browser that knows Gradio's scripts; whoever visits with it forgets all else first."""
    with sync_api.sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile, executable_path=CHROMIUM, args=FLAGS, reduced_motion="reduce"
        )
        yield context
        context.close()


@pytest.fixture(scope="module")
def browser(returning: BrowserContext) -> Browser:
    """The same, for visitors of their own."""
    assert returning.browser is not None
    return returning.browser


@pytest.fixture
def visit(url: str, returning: BrowserContext, browser: Browser) -> Iterator[Opener]:
    """Opens the page as a new visitor; afterwards nobody may have seen an error or asked another host."""
    faults: list[str] = []
    pages: list[Page] = []

    def visitor(viewport: ViewportSize, options: dict[str, Any]) -> Page:
        if pages or options:  # a second visitor, or another device
            return browser.new_context(viewport=viewport, reduced_motion="reduce", **options).new_page()
        page = returning.new_page()
        page.set_viewport_size(viewport)
        return page

    def open_page(path: str = "", at: str = url, **options: Any) -> Page:
        def watch(request: sync_api.Request) -> None:
            if not request.url.startswith((at, "data:", "blob:")):
                faults.append(f"asked for {request.url}")

        page = visitor(options.pop("viewport", {"width": 1440, "height": 900}), options)
        pages.append(page)
        if page.context is returning:
            forgetting = {"origin": at.rstrip("/"), "storageTypes": "cookies,local_storage,session_storage,indexeddb"}
            returning.new_cdp_session(page).send("Storage.clearDataForOrigin", forgetting)
        page.set_default_timeout(PATIENCE)
        page.on("request", watch)
        page.on("pageerror", lambda error: faults.append(f"script error: {error}"))
        page.on("dialog", lambda dialog: faults.append(f"a dialog: {dialog.message}"))
        page.on("console", lambda said: faults.append(f"console: {said.text}") if said.type == "error" else None)
        page.goto(at + path)
        page.wait_for_function("window.__gradio_session_hash__")
        expect(page.locator(".attend-inspector .at-empty")).to_be_visible(timeout=PATIENCE)
        return page

    yield open_page
    for page in pages:
        page.close()
        if page.context is not returning:
            page.context.close()
    assert faults == []
