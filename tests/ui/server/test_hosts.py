"""A page that is not public answers under its own names alone."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from model.loaded import LoadedModel
from tests.conftest import unused_port
from ui.page.layout import build
from ui.runs.models import Models
from ui.server import launch as serve
from ui.server.hosts import is_own, own_names

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


@pytest.fixture(params=[False, True], ids=["local", "public"])
def page(request: pytest.FixtureRequest, tiny: LoadedModel) -> Iterator[tuple[str, bool]]:
    """An address, and whether the page there is public."""
    public, port = request.param, unused_port()
    blocks = build(Models((tiny.name,), lambda name, _: tiny))
    names = None if public else own_names("127.0.0.1")
    serve.launch(blocks, host="127.0.0.1", port=port, names=names, block=False)
    yield f"http://127.0.0.1:{port}", public
    blocks.close()


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


def test_a_served_page_takes_no_files(page: tuple[str, bool]) -> None:
    answer = httpx.post(f"{page[0]}/gradio_api/upload", files={"files": ("a.txt", b"hello")})
    assert answer.status_code == 404
    assert answer.json() == {"detail": "This page takes no files."}
    assert httpx.get(f"{page[0]}/gradio_api/deep_link?session_hash=abc").status_code == 404
