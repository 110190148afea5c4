"""A page that is not public answers under its own names alone."""

from __future__ import annotations

import asyncio
import re
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import gradio as gr
import httpx
import pytest
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from model.loaded import LoadedModel
from tests.conftest import unused_port
from tests.helpers.served import models_of, served
from ui.kit import assets
from ui.page.layout import build
from ui.server import launch as serve
from ui.server.hosts import is_own, own_names
from ui.server.security import CheckForwarded

LOCAL = own_names("127.0.0.1")
OPEN = own_names("0.0.0.0", added=("https://chat.example.org:8443/page", "*.lab.example.org", ".hall.example.org"))
SHARED = own_names("127.0.0.1", share=True)


@pytest.mark.parametrize(
    ("host", "origin", "names"),
    [
        ("127.0.0.1:7860", None, LOCAL),
        ("localhost:7860", "http://localhost:7860", LOCAL),
        ("[::1]:7860", "http://[::1]:7860", LOCAL),
        ("127.0.0.1:7860", "http://localhost:3000", LOCAL),  # a page that its developer serves on this machine, too
        ("192.168.1.7:7860", "http://192.168.1.7:7860", OPEN),
        ("chat.example.org", "https://chat.example.org", OPEN),
        ("CHAT.example.org", "https://chat.example.org", OPEN),
        ("a.lab.example.org", None, OPEN),
        ("b.hall.example.org:80", None, OPEN),
        ("abc123.gradio.live", "https://abc123.gradio.live", SHARED),
    ],
)
def test_its_own(host: str, origin: str | None, names: frozenset[str]) -> None:
    assert is_own(host, origin, names)


@pytest.mark.parametrize(
    ("host", "origin", "names"),
    [
        ("evil.example:7860", None, LOCAL),  # a name that was given this machine's address
        ("evil.example:7860", "http://evil.example:7860", LOCAL),
        ("127.0.0.1:7860", "https://evil.example", LOCAL),
        ("127.0.0.1:7860", "http://6.6.6.6", LOCAL),
        ("127.0.0.1:7860", "null", LOCAL),  # a sandboxed frame
        ("localhost.evil.example", None, LOCAL),
        ("evil-lab.example.org", None, OPEN),
        ("chat.example.org.evil.example", None, OPEN),
        ("abc123.gradio.live", None, LOCAL),
        ("", None, LOCAL),
        ("[::1", None, LOCAL),
        ("127.0.0.1:7860", "http://[", LOCAL),
    ],
)
def test_not_its_own(host: str, origin: str | None, names: frozenset[str]) -> None:
    assert not is_own(host, origin, names)


@pytest.fixture(scope="module", params=[False, True], ids=["local", "public"])
def page(request: pytest.FixtureRequest, tiny: LoadedModel) -> Iterator[tuple[str, bool]]:
    """An address, and whether the page there is public."""
    with served(build(models_of(tiny)), names=None if request.param else LOCAL) as url:
        yield url, request.param


def test_a_served_page_refuses_foreign_names_unless_it_is_public(page: tuple[str, bool]) -> None:
    url, public = page
    assert httpx.get(f"{url}/config").status_code == 200
    assert httpx.get(f"{url}/config", headers={"host": "evil.example"}).status_code == (200 if public else 403)
    foreign = httpx.get(f"{url}/config", headers={"origin": "https://evil.example"})
    assert foreign.status_code == (200 if public else 403)
    assert "access-control-allow-credentials" not in foreign.headers
    assert foreign.headers.get("access-control-allow-origin") == ("*" if public else None)
    if not public:
        assert "--allow-host" in foreign.json()["detail"]


FORGED = [
    {"x-forwarded-host": "evil.example"},
    {"x-forwarded-host": "6.6.6.6"},
    {"x-forwarded-host": "localhost/@evil.example"},
    {"x-forwarded-host": "evil.example, localhost"},
    {"x-forwarded-proto": "https"},
    {"x-forwarded-prefix": "/evil"},
    {"x-forwarded-port": "666"},
    {"x-gradio-server": "http://evil.example"},
    {"forwarded": "host=evil.example;proto=https"},
]


@pytest.mark.parametrize("forged", FORGED, ids=str)
def test_a_forged_header_does_not_change_the_address_of_a_page(page: tuple[str, bool], forged: dict[str, str]) -> None:
    url, _ = page
    for path in ("/config", "/"):
        answer = httpx.get(f"{url}{path}", headers=forged)
        assert answer.status_code == 200 and f'"root":"{url}"' in answer.text.replace('": "', '":"')


@pytest.mark.parametrize(
    "host", ["a@b", "127.0.0.1:99999", "127.0.0.1:0", "[::1", "[gg::]", "a b", "<b>", "a/b?c#d", ""]
)
def test_a_host_that_is_none_is_refused_in_one_sentence(page: tuple[str, bool], host: str) -> None:
    answer = httpx.get(f"{page[0]}/config", headers={"host": host})
    assert (
        answer.status_code in ((400, 403) if host else (200, 400, 403))
        and "no-store" in answer.headers["cache-control"]
    )


def forwarded(headers: dict[str, str], names: frozenset[str] | None, client: str = "127.0.0.1") -> dict[str, str]:
    """What is left of the headers of a request."""
    seen: list[Scope] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        seen.append(scope)

    async def nothing(message: Any = None) -> Any:
        return {}

    raw = [(name.encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "headers": raw, "client": (client, 1), "scheme": "http", "path": "/"}
    with ThreadPoolExecutor(1) as thread:  # Playwright's loop may be running in this one
        thread.submit(asyncio.run, CheckForwarded(app, names)(scope, nothing, nothing)).result()
    return {name.decode(): value.decode() for name, value in seen[0]["headers"]}


@pytest.mark.parametrize("name", ["chat.example.org", "a.lab.example.org:8443"])
def test_an_allowed_name_may_be_forwarded(name: str) -> None:
    headers = {"host": "127.0.0.1:7860", "x-forwarded-host": name, "x-forwarded-proto": "https"}
    assert forwarded(headers, OPEN) == headers
    assert forwarded(headers, LOCAL) == {"host": "127.0.0.1:7860"}


def test_a_space_is_told_its_name_by_its_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPACE_ID", "someone/attend")
    monkeypatch.setenv("SPACE_HOST", "someone-attend.hf.space")
    for name in ("someone-attend.hf.space", "someone--attend.hf.space"):
        headers = {"host": "10.0.0.7:7860", "x-forwarded-host": name, "x-forwarded-proto": "https"}
        assert forwarded(headers, None, client="10.0.0.1") == headers
    of_its_own = {"host": "chat.example.org", "x-forwarded-proto": "https"}
    assert forwarded(of_its_own, None, client="10.0.0.1") == of_its_own
    forged = {"host": "someone-attend.hf.space", "x-forwarded-host": "evil.example"}
    assert "x-forwarded-host" not in forwarded(forged, None, client="10.0.0.1")


def test_a_public_page_believes_the_proxies_that_are_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    headers = {"host": "127.0.0.1", "x-forwarded-host": "chat.example.org", "x-forwarded-proto": "https"}
    assert forwarded(headers, None) == {"host": "127.0.0.1"}
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "10.0.0.0/8")
    assert forwarded(headers, None, client="10.1.2.3") == headers
    assert forwarded(headers, None, client="11.1.2.3") == {"host": "127.0.0.1"}


def test_nothing_that_may_hold_a_text_is_stored(tiny: LoadedModel) -> None:
    """Every route there is, with its parameters as they stand in its path."""
    blocks = build(models_of(tiny))
    with served(blocks) as url, httpx.Client(base_url=url) as client:
        requests = routes_of(blocks)
        assert len(requests) > 60
        for method, path in [*sorted(requests), ("GET", "/nowhere"), ("DELETE", "/config"), ("GET", "/assets/none.js")]:
            with client.stream(method, path) as answer:  # some never end
                assert answer.headers.get_list("cache-control") == ["no-store"], (method, path)
        script = assets.address("page/page.js")
        stored = [f"/{script}", re.findall(r"/(assets/[\w-]+\.js)", client.get("/").text)[0]]
        for path in stored:
            assert "immutable" in client.get(path).headers["cache-control"]


def routes_of(page: gr.Blocks) -> set[tuple[str, str]]:
    """The method and the path of every route of a served page."""
    included = [getattr(route, "original_router", None) for route in page.app.routes]
    routes = [*page.app.routes, *(route for router in included if router for route in router.routes)]
    return {(method, each.path) for each in routes if isinstance(each, Route) for method in each.methods or ()}


@pytest.mark.parametrize(
    ("host", "names"), [("::1", ["[::1]"]), ("::", ["[::1]", "127.0.0.1"]), ("0.0.0.0", ["127.0.0.1"])]
)
def test_a_page_is_served_at_any_address(host: str, names: list[str], tiny: LoadedModel) -> None:
    if ":" in host and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    blocks, port = build(models_of(tiny)), unused_port()
    printed: list[str] = []
    serve.launch(blocks, host=host, port=port, names=own_names(host), ready=printed.append, block=False)
    assert [httpx.get(f"http://{name}:{port}/config").status_code for name in names] == [200] * len(names)
    assert httpx.get(printed[0]).status_code == 200
    blocks.close()


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_a_served_page_takes_no_files(page: tuple[str, bool]) -> None:
    answer = httpx.post(f"{page[0]}/gradio_api/upload", files={"files": ("a.txt", b"hello")})
    assert answer.status_code == 404
    assert answer.json() == {"detail": "This page takes no files."}
    assert httpx.get(f"{page[0]}/gradio_api/deep_link?session_hash=abc").status_code == 404
