"""The page without a server, and its models in Python, with the weights that the browser has."""

import threading
from collections.abc import Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

import attend
from model import names
from tests.browser.web.static_page import COURSE, Quiet, choose, open_tab, visit
from web import static
from web.weights import save_rounded


def rounded(name: str, factory: pytest.TempPathFactory) -> attend.Model:
    folder = factory.mktemp("rounded") / name
    save_rounded(names.EMBEDDED / name, folder)
    return attend.load(str(folder))


@pytest.fixture(scope="session")
def rounded_chat(tmp_path_factory: pytest.TempPathFactory) -> attend.Model:
    return rounded("attend-chat", tmp_path_factory)


@pytest.fixture(scope="session")
def rounded_translator(tmp_path_factory: pytest.TempPathFactory) -> attend.Model:
    return rounded("attend-translate", tmp_path_factory)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page's files."""
    folder = tmp_path_factory.mktemp("static")
    static.write(folder, course=COURSE)
    return folder


@pytest.fixture(scope="session")
def own(folder: Path) -> Iterator[str]:
    """The page's address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as host:
        thread = threading.Thread(target=host.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{host.server_port}/"
        host.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def shared(browser: Browser, own: str) -> Iterator[Page]:
    with visit(browser, own) as page:
        yield page


@pytest.fixture
def page(shared: Page, own: str) -> Page:
    """A page that several tests use one after the other, in Chat."""
    open_tab(shared, "Chat")
    choose(shared, "Greedy")
    return shared
