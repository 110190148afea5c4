"""The connections of a page: how many there may be, and how long a request or its reader may take. Real sockets."""

from __future__ import annotations

import asyncio
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import pytest

from tests.conftest import unused_port
from tests.helpers.paths import ROOT
from tests.helpers.waiting import LONGEST, eventually
from ui.limits import Limits
from ui.server.connections.connection import Connections
from ui.server.connections.server import make_server
from ui.server.connections.sockets import address_of_page, bind

GET = b"GET /%s HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
POST = b"POST /%s HTTP/1.1\r\nHost: 127.0.0.1\r\n%s\r\n\r\n"
NEVER = 10_000.0  # seconds


class Application:
    """Answers at once, when told (/held), with more than anyone reads (/endless), or before the body (/early)."""

    def __init__(self) -> None:
        self.release = threading.Event()
        self.ended = threading.Event()  # of an endless response

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        path = scope["path"]
        if path == "/read":
            while (await receive()).get("more_body"):
                pass
        await send({"type": "http.response.start", "status": 200, "headers": []})
        if path == "/held":
            await send({"type": "http.response.body", "body": b"begun", "more_body": True})
            while not self.release.is_set():
                await asyncio.sleep(0.01)
        if path == "/endless":
            for _ in range(50):
                await send({"type": "http.response.body", "body": bytes(1_000_000), "more_body": True})
            while (await receive())["type"] != "http.disconnect":
                pass
            self.ended.set()
        await send({"type": "http.response.body", "body": b"done"})


class Served:
    """An application on a server with limits."""

    def __init__(self, limits: Limits, sockets: ExitStack) -> None:
        self.application = Application()
        self._port, self._sockets = unused_port(), sockets
        self.server = make_server(self.application, bind("127.0.0.1", self._port), limits)
        self.server.run_in_thread()

    @property
    def connections(self) -> Connections:
        http: Any = self.server.config.http
        return http.keywords["connections"]

    def hurry(self) -> None:
        """From now on, requests have to arrive at once."""
        self.connections.limits = replace(self.connections.limits, request_seconds=0.1)

    def connect(self, sent: bytes = b"") -> socket.socket:
        connection = self._sockets.enter_context(socket.create_connection(("127.0.0.1", self._port), LONGEST))
        connection.sendall(sent)
        return connection

    def await_idle(self, count: int) -> None:
        """Wait until the server has taken so many connections that are idle: it answers before it counts them so."""
        eventually(lambda: sum(map(len, self.connections._idle.values())) == count)

    def held(self) -> socket.socket:
        """A connection whose response goes on until the application is told to end it."""
        connection = self.connect(GET % b"held")
        read_until(connection, b"begun")
        return connection


@pytest.fixture
def serve() -> Iterator[Callable[[Limits], Served]]:
    with ExitStack() as sockets:
        served: list[Served] = []

        def start(limits: Limits) -> Served:
            served.append(Served(limits, sockets))
            return served[-1]

        yield start
        for each in served:
            each.application.release.set()
            each.application.ended.set()
            each.server.close()


def read_until(connection: socket.socket, part: bytes) -> bytes:
    read = b""
    while part not in read:
        more = connection.recv(65536)
        assert more, f"the connection ended after {read!r}"
        read += more
    return read


def rest(connection: socket.socket) -> bytes:
    """What comes before the end of the connection; a server that is in a hurry resets it."""
    read = b""
    try:
        while more := connection.recv(65536):
            read += more
    except ConnectionResetError:
        pass
    return read


def answers(connection: socket.socket) -> bool:
    connection.sendall(GET % b"")
    return b"done" in read_until(connection, b"0\r\n\r\n")


def test_idle_connections_of_one_address_give_way_to_its_new_ones(serve: Callable[[Limits], Served]) -> None:
    served = serve(Limits(connections=3, request_seconds=NEVER))
    first, second, *others = [served.connect() for _ in range(5)]
    assert rest(first) == rest(second) == b""
    assert all(answers(each) for each in others)
    assert answers(served.connect())


def test_one_that_was_used_gives_way_last(serve: Callable[[Limits], Served]) -> None:
    served = serve(Limits(connections=2, request_seconds=NEVER))
    used = served.connect()
    waiting = served.connect()
    served.await_idle(2)
    assert answers(used)
    served.await_idle(2)
    assert answers(served.connect())
    assert rest(waiting) == b""
    assert answers(used)


def test_connections_in_use_are_never_closed(serve: Callable[[Limits], Served]) -> None:
    """Nor is anyone let in beside them, until one of them ends."""
    served = serve(Limits(all_connections=3, request_seconds=NEVER))
    used = [served.held() for _ in range(2)]
    idle = served.connect()
    served.await_idle(1)
    used.append(served.held())
    assert rest(idle) == b""
    refused = rest(served.connect())
    assert refused.startswith(b"HTTP/1.1 503") and b"All connections of this page are in use" in refused
    used.pop().close()
    eventually(lambda: not rest(served.connect(b"GET / HTTP/1.0\r\n\r\n")).startswith(b"HTTP/1.1 503"))
    served.application.release.set()
    assert all(b"done" in read_until(each, b"0\r\n\r\n") for each in used)


@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A", b"HTTP/1.1 408"),
        (POST % (b"read", b"Content-Length: 9") + b"12345", b"HTTP/1.1 408"),
        (POST % (b"read", b"Transfer-Encoding: chunked") + b"5\r\n12345\r\n", b"HTTP/1.1 408"),
        (POST % (b"early", b"Transfer-Encoding: chunked") + b"5\r\n12345\r\n", b"HTTP/1.1 200"),
    ],
    ids=["half a header", "half a body", "a chunk", "a body after its response"],
)
def test_a_request_that_does_not_arrive_ends_its_connection(
    serve: Callable[[Limits], Served], sent: bytes, answer: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    """A connection whose response goes on does not end."""
    served = serve(Limits(request_seconds=NEVER))
    used, connection = served.held(), served.connect()
    assert answers(connection)
    served.hurry()
    connection.sendall(sent)
    assert rest(connection).startswith(answer)
    assert not caplog.records
    served.application.release.set()
    assert b"done" in read_until(used, b"0\r\n\r\n")


def test_a_connection_without_a_request_ends(serve: Callable[[Limits], Served]) -> None:
    assert rest(serve(Limits(request_seconds=0.1)).connect()).startswith(b"HTTP/1.1 408")


def test_a_header_that_keeps_coming_ends_as_well(serve: Callable[[Limits], Served]) -> None:
    connection = serve(Limits(request_seconds=0.2)).connect(b"GET / HTTP/1.1\r\n")
    connection.settimeout(0.02)
    with pytest.raises(OSError, match=r"reset|Broken pipe"):
        while True:
            connection.sendall(b"a: b\r\n")
            try:
                connection.recv(1)
            except TimeoutError:
                continue


def test_a_response_that_nobody_reads_ends(serve: Callable[[Limits], Served]) -> None:
    """More than the buffers of the system hold."""
    served = serve(Limits(unread_seconds=0.2))
    served.connect(GET % b"endless")
    assert served.application.ended.wait(LONGEST)


@pytest.mark.parametrize(
    "sent",
    [
        POST % (b"early", b"Transfer-Encoding: chunked") + b"no length\r\n",
        POST % (b"read", b"Transfer-Encoding: chunked") + b"no length\r\n",
        POST % (b"held", b"Transfer-Encoding: chunked") + b"no length\r\n",
        b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 100_000,
    ],
    ids=["after the response", "before it", "during it", "TLS", "two hosts", "a long header"],
)
def test_an_invalid_request_ends_without_an_error(
    serve: Callable[[Limits], Served], sent: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    served = serve(Limits())
    connection = served.connect()
    with suppress(OSError):  # it may be refused in the middle
        connection.sendall(sent)
    assert rest(connection)[:12] in (b"HTTP/1.1 400", b"HTTP/1.1 200", b"")
    assert all(record.levelno < logging.ERROR for record in caplog.records)


def test_nothing_is_kept_of_connections_that_have_ended(serve: Callable[[Limits], Served]) -> None:
    served = serve(Limits())
    for sent in (b"", GET % b"", b"nonsense\r\n\r\n", POST % (b"read", b"Content-Length: 9")):
        served.connect(sent).close()
    eventually(lambda: len(served.connections) == 0 and not served.connections._idle)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no limit of open files for sockets")
@pytest.mark.parametrize(
    ("soft", "hard", "files", "most", "by_address"),
    [
        (256, 8192, 4256, 4000, 1000),  # 256 files are kept for everything else
        (1024, 1024, 1024, 768, 384),  # of which an address may use half
        (300, 300, 300, 150, 75),
    ],
)
def test_the_limit_of_open_files_is_raised_or_kept(
    soft: int, hard: int, files: int, most: int, by_address: int
) -> None:
    program = (
        "import resource; from ui.limits import Limits; from ui.server.connections.sockets import within_open_files;"
        f"resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard})); limits = within_open_files(Limits());"
        "print(resource.getrlimit(resource.RLIMIT_NOFILE)[0], limits.all_connections, limits.connections)"
    )
    ran = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=LONGEST)
    assert ran.stdout.split() == [str(files), str(most), str(by_address)], ran.stderr


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:80/"),
        ("0.0.0.0", "http://localhost:80/"),
        ("::", "http://localhost:80/"),
        ("::1", "http://[::1]:80/"),
        ("[::1]", "http://[::1]:80/"),
        ("chat.example.org", "http://chat.example.org:80/"),
    ],
)
def test_the_address_of_a_page_can_be_opened(host: str, address: str) -> None:
    assert address_of_page(host, 80) == address
