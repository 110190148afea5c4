"""The server of the page, in place of the one that Gradio would start, which limits neither connections nor time."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from gradio import http_server
from starlette.types import ASGIApp
from uvicorn import Config

from ui.limits import Limits
from ui.server.connections import sockets
from ui.server.connections.connection import Connection, Connections

_ACCEPTED_AT_ONCE = 32  # connections; each counts as an open file before it can be refused
_QUEUED = 1024  # connections that wait to be accepted


class Server(http_server.Server):
    """Gradio's server on our sockets."""

    def __init__(self, config: Config, listeners: Sequence[socket.socket]) -> None:
        super().__init__(config)
        self._listeners = [*listeners]

    def run(self, sockets: list[socket.socket] | None = None) -> None:
        super().run(self._listeners)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        for listener in self._listeners:
            listener.listen(_QUEUED)


@contextmanager
def serving_with(limits: Limits, wrap: Callable[[ASGIApp], ASGIApp]) -> Iterator[None]:
    """Make `gr.Blocks.launch` start our server. Gradio has no public way to choose one.

    Args:
        wrap: adds to the page what comes before all middleware, such as reading the headers of proxies.
    """
    original = http_server.start_server
    http_server.start_server = partial(_start, limits, wrap)
    try:
        yield
    finally:
        http_server.start_server = original


def make_server(app: Any, listeners: Sequence[socket.socket], limits: Limits) -> Server:
    """A server that is not running yet."""
    config = Config(
        app,
        proxy_headers=False,
        http=cast(Any, partial(Connection, connections=Connections(limits))),
        ws="none",
        log_config=None,  # see `ui.server.connections.log`
        log_level="warning",
        backlog=_ACCEPTED_AT_ONCE,
    )
    return Server(config, listeners)


def _start(
    limits: Limits, wrap: Callable[[ASGIApp], ASGIApp], app: ASGIApp, server_name: str, server_port: int, **_: Any
) -> tuple[str, int, str, Server]:
    server = make_server(wrap(app), sockets.bind(server_name, server_port), limits)
    server.run_in_thread()
    return server_name, server_port, sockets.address_of_page(server_name, server_port), server
