"""Headers of every response, and requests refused before they are read."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from ui.server.security import POLICY, Guard


async def echo(scope: Any, receive: Any, send: Any) -> None:
    """An application that reads its whole body and answers with its length."""
    length, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client has gone")
        length += len(message.get("body", b""))
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"x-mine", b"1")]})
    await send({"type": "http.response.body", "body": str(length).encode()})


def run(coroutine: Coroutine[Any, Any, None]) -> None:
    """In a thread of its own: Playwright's loop may be running in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, coroutine).result()


async def echo_at_once(scope: Any, receive: Any, send: Any) -> None:
    """An application that sends each part of the body back while it reads the next."""
    await send({"type": "http.response.start", "status": 200, "headers": []})
    while (message := await receive())["type"] != "http.disconnect":
        await send({"type": "http.response.body", "body": message["body"], "more_body": message["more_body"]})
        if not message["more_body"]:
            return


def messages_of(app: Any, chunks: list[bytes], headers: list[tuple[bytes, bytes]] | None = None) -> list[Any]:
    """What the guard of an application sends in response to one request."""
    queue = [
        {"type": "http.request", "body": chunk, "more_body": index < len(chunks) - 1}
        for index, chunk in enumerate(chunks)
    ]
    sent: list[Any] = []

    async def receive() -> Any:
        return queue.pop(0)

    async def send(message: Any) -> None:
        sent.append(message)

    run(Guard(app, max_bytes=100)({"type": "http", "path": "/", "headers": headers or []}, receive, send))
    return sent


def ask(chunks: list[bytes], headers: list[tuple[bytes, bytes]] | None = None) -> tuple[int, dict[bytes, bytes], bytes]:
    """One request through the guard: status, headers, body."""
    sent = messages_of(echo, chunks, headers)
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


def test_every_answer_names_no_other_host() -> None:
    status, headers, body = ask([b"hello"])
    assert (status, body) == (200, b"5")
    assert headers[b"content-security-policy"] == POLICY.encode()
    assert headers[b"x-mine"] == b"1"
    sources = POLICY.split("frame-ancestors")[0]  # what may be fetched; who may frame the page is another matter
    assert "http" not in sources and "*" not in sources


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large_is_refused_with_the_limit(announced: bool) -> None:
    headers = [(b"content-length", b"120")] if announced else []
    status, _, body = ask([b"x" * 60, b"x" * 60], headers)
    assert status == 413
    assert b"100 bytes" in body


def test_a_body_at_the_limit_passes() -> None:
    assert ask([b"x" * 50, b"x" * 50])[2] == b"100"


def test_a_body_that_becomes_too_large_during_the_response_ends_it() -> None:
    """No second status follows the first."""
    start, *parts = messages_of(echo_at_once, [b"x" * 60, b"x" * 60, b"x"])
    assert start["type"] == "http.response.start" and start["status"] == 200
    assert [part.get("body", b"") for part in parts] == [b"x" * 60, b""]
    assert [part["type"] for part in parts] == ["http.response.body"] * 2 and not parts[-1].get("more_body")


def test_a_response_that_the_application_has_ended_is_left_alone() -> None:
    async def reads_on(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"done"})
        while (await receive())["type"] != "http.disconnect":
            pass

    sent = messages_of(reads_on, [b"x" * 60, b"x" * 60])
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]


def test_errors_of_the_application_are_not_swallowed() -> None:
    async def broken(scope: Any, receive: Any, send: Any) -> None:
        raise ArithmeticError("broken")

    async def nothing(message: Any = None) -> Any:
        return {"type": "http.request"}

    with pytest.raises(ArithmeticError):
        run(Guard(broken)({"type": "http", "path": "/", "headers": []}, nothing, nothing))
