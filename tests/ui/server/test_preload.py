"""The links that a page's head gets before it is sent."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from ui.kit import assets
from ui.server.preload import Preload

PAGE = "<html><head><title>é</title></head><body>&lt;/head></body></html>"
LINKS = '<link rel="modulepreload" href="a.js">'


async def page(_: Request) -> Response:
    return HTMLResponse(PAGE)


async def data(_: Request) -> Response:
    return JSONResponse({"html": "</head>"})


@pytest.fixture
def client() -> TestClient:
    return TestClient(
        Starlette(routes=[Route("/", page), Route("/data", data)], middleware=[Middleware(Preload, links=LINKS)])
    )


def test_the_links_end_the_head_and_the_length_is_right(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.text == PAGE.replace("</head><body>", f"{LINKS}</head><body>")
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_nothing_else_is_changed(client: TestClient) -> None:
    assert client.get("/data").json() == {"html": "</head>"}
    length = int(client.head("/").headers["content-length"])
    assert length == len(PAGE.encode())


def test_what_a_page_loads_is_preloaded_with_all_that_it_imports() -> None:
    links = assets.preloads(
        [assets.loader("chat/conversation.js", "token"), assets.call("page/page.js", "start"), "alert(1)"]
    )
    for name in ("chat/conversation.js", "kit/js/signals.js", "page/page.js", assets.STYLESHEET):
        assert links.count(f'"{assets.address(name)}"') == 1
    assert "compare/compare.js" not in links
