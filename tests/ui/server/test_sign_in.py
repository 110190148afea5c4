"""A page that asks for a password: who is let in, and that strangers get nothing of it."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr
import httpx
import pytest
from gradio_client import Client
from gradio_client.exceptions import AuthenticationError

from model.errors import AttendError
from model.loaded import LoadedModel
from tests.helpers.served import models_of, served
from tests.ui.server.test_hosts import routes_of
from ui.limits import Limits
from ui.page.layout import build
from ui.server.accounts import VARIABLE, Accounts, SignIns
from ui.server.responses import is_program_path
from ui.server.sign_in import OPEN, SignIn

NAME, PASSWORD = "ada", "correct: hörse"
STRANGER = "Sign in first: this page asks for a name and a password."
WRONG = "This name and password don't match: try again."


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "accounts"
    path.write_text(f"{NAME}:{PASSWORD}\n\n bob:b\n", encoding="utf-8")
    return path


def test_accounts_come_from_a_file_or_else_from_the_environment(file: Path) -> None:
    from_file = Accounts.read(str(file), {VARIABLE: "eve:e"})
    from_environment = Accounts.read("", {VARIABLE: "eve:e\nbob:b"})
    assert from_file is not None and from_environment is not None
    assert from_file.admits(NAME, PASSWORD) and from_file.admits("bob", "b") and not from_file.admits("eve", "e")
    assert from_environment.admits("eve", "e") and from_environment.admits("bob", "b")
    assert Accounts.read("", {}) is None


def test_the_first_account_of_a_file_with_a_byte_order_mark_is_admitted(file: Path) -> None:
    file.write_text(f"{NAME}:{PASSWORD}\n", encoding="utf-8-sig")
    accounts = Accounts.read(str(file), {})
    assert accounts is not None and accounts.admits(NAME, PASSWORD)


@pytest.mark.parametrize(
    ("name", "password"),
    [("ada", "correct"), ("ada", ""), ("", PASSWORD), ("bob", PASSWORD), ("ada:correct", " hörse")],
)
def test_no_other_pair_is_admitted(file: Path, name: str, password: str) -> None:
    accounts = Accounts.read(str(file), {})
    assert accounts is not None and not accounts.admits(name, password)
    assert PASSWORD not in repr(accounts)


@pytest.mark.parametrize("text", ["", "\n", "ada", "ada:", ":secret", "ada:secret\nbob", "secret \x00"])
def test_what_is_no_list_of_accounts_is_refused_without_repeating_it(text: str, tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    path.write_text(text)
    with pytest.raises(AttendError, match="NAME:PASSWORD, one on each line") as refused:
        Accounts.read(str(path), {})
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("kind", ["missing", "folder", "fifo", "large", "binary"])
def test_a_file_that_cannot_be_one_is_refused_at_once(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "accounts"
    if kind == "folder":
        path.mkdir()
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "large":
        path.write_text("a:b\n" * 100_000)
    elif kind == "binary":
        path.write_bytes(b"\xff\xfe")
    with pytest.raises(AttendError, match="accounts"):
        Accounts.read(str(path), {})


@pytest.fixture(scope="module")
def page(tiny: LoadedModel) -> Iterator[gr.Blocks]:
    """A served page that only NAME may open."""
    blocks = build(models_of(tiny))
    with served(blocks, accounts=Accounts.read("", {VARIABLE: f"{NAME}:{PASSWORD}"})):
        yield blocks


@pytest.fixture
def url(page: gr.Blocks) -> str:
    return str(page.local_url).rstrip("/")


def test_strangers_get_one_sentence_whatever_they_ask_for(page: gr.Blocks, url: str) -> None:
    """Every route there is, with its parameters as they stand in its path."""
    open_to_all = (*OPEN, "/login", "")
    files = ("/upload", "/deep_link")  # which nobody may send
    closed = [each for each in routes_of(page) if each[1].rstrip("/") not in open_to_all if not each[1].endswith(files)]
    assert len(closed) > 60
    with httpx.Client(base_url=url) as stranger:
        for method, path in closed:
            answer = stranger.request(method, path)
            unused = answer.status_code == 404  # by anyone
            assert unused or answer.status_code == 401, (method, path)
            if method != "HEAD":
                refused = answer.json()
                assert refused.get("detail") == ("Not Found" if unused else STRANGER) or is_program_path(path)
                assert set(refused) == {"error" if is_program_path(path) else "detail"}
            assert answer.headers["x-content-type-options"] == "nosniff"


def test_the_page_to_sign_in_holds_nothing_of_the_other(url: str, tiny: LoadedModel) -> None:
    answer = httpx.get(url)
    assert answer.status_code == 401 and "Sign in" in answer.text
    assert "gradio" not in answer.text and tiny.name not in answer.text and "set-cookie" not in answer.headers


@pytest.mark.usefixtures("counted_seeds")
def test_a_program_signs_in_and_its_answer_is_streamed(url: str, tiny: LoadedModel) -> None:
    client = Client(url, auth=(NAME, PASSWORD), verbose=False)
    updates: list[Any] = list(client.submit("Hi", [], tiny.name, {"max_new_tokens": 5}, "", api_name="/chat"))
    assert updates[-1]["trace"]["ids"]
    with pytest.raises(AuthenticationError):
        Client(url, auth=(NAME, "wrong"), verbose=False)


def test_only_a_cookie_that_was_given_out_opens_it_and_only_until_its_owner_signs_out(url: str) -> None:
    with httpx.Client(base_url=url) as visitor:
        assert visitor.post("/login", data={"username": NAME, "password": "wrong"}).json() == {"detail": WRONG}
        assert visitor.post("/login", data={"username": NAME, "password": PASSWORD}).json() == {"success": True}
        name, token = next(iter(visitor.cookies.items()))
        assert status(url, f"{name}={token}") == visitor.get("/config").status_code == 200
        assert status(url, f'other={{"a": [1]}}; {name}={token}') == 200  # of another page under this name
        for cookie in (
            "",
            name,
            f"{name}=",
            f"{name}=None",
            f"{name}={token[:-1]}",
            f"{name}={token}a",
            "a=[",
            f"a={token}",
        ):
            assert status(url, cookie) == 401
        visitor.get("/logout")
        assert status(url, f"{name}={token}") == 401


def status(url: str, cookie: str) -> int:
    return httpx.get(f"{url}/config", headers={"cookie": cookie}).status_code


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time in seconds, which tests set."""
    now = [0.0]
    monkeypatch.setattr("ui.server.accounts.time", SimpleNamespace(monotonic=lambda: now[0]))
    return now


def test_a_sign_in_that_is_not_used_expires(clock: list[float]) -> None:
    sign_ins = SignIns(Limits(sign_in_days=2))
    sign_ins["used"], sign_ins["unused"] = "ada", "ada"
    for day in (1, 2.5):
        clock[0] = day * 86_400
        assert sign_ins.renew("used")
    assert not sign_ins.renew("unused")
    assert dict(sign_ins) == {"used": "ada"}
    assert not sign_ins.renew(None) and not sign_ins.renew("made up")


def test_a_name_that_signs_in_too_often_signs_out_itself_alone(clock: list[float]) -> None:
    sign_ins = SignIns(Limits(sign_ins=2))
    for second, (token, name) in enumerate([("a", "ada"), ("b", "bob"), ("c", "ada")]):
        clock[0], sign_ins[token] = second, name
    assert sign_ins.renew("a")
    for number in range(100):
        sign_ins[f"new {number}"] = "ada"
        assert sign_ins.renew("a")
    assert dict(sign_ins) == {"b": "bob", "new 99": "ada", "a": "ada"}


def test_a_name_may_have_as_many_sign_ins_as_the_limit() -> None:
    sign_ins = SignIns(Limits(sign_ins=5))
    for number in range(6):
        sign_ins[f"token {number}"] = "ada"
        assert len(sign_ins) == min(number + 1, 5)
    assert list(sign_ins) == [f"token {number}" for number in range(1, 6)]


def test_after_an_expiry_the_sign_in_page_is_shown_again(
    page: gr.Blocks, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with httpx.Client(base_url=url) as visitor:
        visitor.post("/login", data={"username": NAME, "password": PASSWORD})
        assert visitor.get("/").status_code == 200
        now = time.monotonic()
        with monkeypatch.context() as patch:
            patch.setattr("ui.server.accounts.time", SimpleNamespace(monotonic=lambda: now + 15 * 86_400))
            answer = visitor.get("/")
            assert answer.status_code == 401 and "Sign in" in answer.text
        assert not page.app.tokens
        visitor.post("/login", data={"username": NAME, "password": PASSWORD})
        assert visitor.get("/").status_code == 200


class Gradio:
    """As much of Gradio as signing in needs; every password is wrong."""

    cookie_id = "x"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 400, "headers": []})
        await send({"type": "http.response.body", "body": b"{}"})


def answers(sign_in: SignIn, scope: dict[str, Any]) -> list[Any]:
    """What comes back; in a thread of its own, since Playwright's loop may be running in this one."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        return {"type": "http.request"}

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, sign_in({"headers": [], "app": Gradio(), **scope}, receive, send)).result()
    return sent


def test_who_guesses_has_to_wait_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    now, sign_in = [0.0], SignIn(Gradio(), SignIns(Limits()), lambda name, password: False)
    monkeypatch.setattr("ui.server.sign_in.time", SimpleNamespace(monotonic=lambda: now[0]))

    def guess(address: str) -> int:
        login = {"type": "http", "method": "POST", "path": "/login", "client": (address, 1)}
        return answers(sign_in, login)[0]["status"]

    assert [guess("1.1.1.1") for _ in range(12)] == [401] * 10 + [429] * 2
    assert guess("2.2.2.2") == 401
    now[0] += 61
    assert guess("1.1.1.1") == 401


def test_guesses_that_overlap_count_as_well() -> None:
    sign_in, statuses = SignIn(Gradio(), SignIns(Limits()), lambda name, password: False), list[int]()

    async def guess_at_once() -> None:
        everybody = asyncio.Barrier(10)

        class Slow(Gradio):
            async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
                await everybody.wait()  # until ten passwords are being checked
                await super().__call__(scope, receive, send)

        sign_in._app = Slow()

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        async def receive() -> Any:
            return {"type": "http.request"}

        login = {"type": "http", "method": "POST", "path": "/login", "client": ("1.1.1.1", 1), "headers": []}
        await asyncio.gather(*(sign_in({**login, "app": Gradio()}, receive, send) for _ in range(12)))

    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, guess_at_once()).result()
    assert sorted(statuses) == [401] * 10 + [429] * 2


def test_no_socket_opens() -> None:
    sign_in = SignIn(Gradio(), SignIns(Limits()), lambda name, password: False)
    assert answers(sign_in, {"type": "websocket", "path": "/socket"}) == [{"type": "websocket.close", "code": 1008}]
