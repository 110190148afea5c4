"""The address of each request, and limits on program calls by address.

Each address has its own limits, so that no caller can block the others. Behind a proxy, such as that of a Space, all
requests come from the proxy, which forwards the caller's address.
"""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakValueDictionary

from gradio.context import LocalContext
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from model.errors import AttendError
from ui.server.connections.addresses import counted_address
from ui.server.responses import refusal

_COSTLY = ("", "/config", "/gradio_api/info", "/gradio_api/openapi.json")  # paths; the first is the page itself
_COSTLY_AT_ONCE = 4

ADDRESS = ContextVar("address", default="")  # of the current request, in the form that limits count


@dataclass(slots=True)
class ConcurrencyLimiter:
    """Limits the calls that each caller may have running at the same time."""

    limit: int
    sentence: str = "{} calls from your address are still running, which is the limit: try again when one has finished."
    _running: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def acquire(self, caller: str) -> Iterator[None]:
        """Count a call as running; `AttendError` if the caller has reached the limit."""
        with self._lock:
            if self._running[caller] >= self.limit:
                raise AttendError(self.sentence.format(f"{self.limit:,}"))
            self._running[caller] += 1
        try:
            yield
        finally:
            with self._lock:
                self._running[caller] -= 1
                if not self._running[caller]:
                    del self._running[caller]


def caller() -> str:
    """The address that sent the current call; "" outside a call."""
    return address_of(LocalContext.request.get(None))


def address_of(request: Any) -> str:
    """The address that sent a request, Starlette's or Gradio's, in the form that limits count; "" if it is unknown."""
    if request is None or request.client is None:
        return ""
    forwarded = str(request.headers.get("x-forwarded-for", "")) if os.environ.get("SPACE_ID") else ""
    # Only the last entry is from the proxy; the caller may have made up the ones before it.
    return counted_address(forwarded.rpartition(",")[2].strip() or str(request.client.host))


class LimitRequests:
    """Limits the requests that each address may have in progress; an open page has one for as long as it is open.

    Requests that open a page take 20 ms of processor time or more, so only a few of one address run at the same time.
    """

    def __init__(self, app: ASGIApp, limit: int) -> None:
        self._app = app
        self._limiter = ConcurrencyLimiter(
            limit, "{} connections from your address are in use, which is the limit: close some pages, then try again."
        )
        self._turns = WeakValueDictionary[str, asyncio.Semaphore]()  # by address, while any request waits or runs

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        address = address_of(Request(scope))
        async with AsyncExitStack() as request:
            try:
                request.enter_context(self._limiter.acquire(address))
            except AttendError as error:
                refused = refusal(503, str(error), path=scope["path"], close=True)
                return await refused(scope, receive, send)
            if scope["path"].rstrip("/") in _COSTLY:
                turn = self._turns.setdefault(address, asyncio.Semaphore(_COSTLY_AT_ONCE))
                await request.enter_async_context(turn)
            await self._app(scope, receive, send)


class ReadTimeout:
    """Stops a streamed answer that its caller doesn't read."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._sent = self._read = 0  # messages
        self._last_read = time.monotonic()

    def sent(self, unread: int) -> None:
        """Call after each message, with the number of messages that the caller has yet to read.

        `AttendError` if no message has been read for too long.
        """
        self._sent += 1
        read = self._sent - unread
        if read > self._read or unread <= 1:  # the newest message has only just been sent
            self._read, self._last_read = read, time.monotonic()
        if time.monotonic() - self._last_read > self._seconds:
            raise AttendError(
                f"This answer was stopped, since nobody read it for {self._seconds:g} seconds: call again and read it."
            )


def unread_messages() -> int:
    """How many messages the current caller has yet to read."""
    request, page = LocalContext.request.get(None), LocalContext.blocks.get(None)
    if request is None or page is None:
        return 0
    messages = page._queue.pending_messages_per_session.get(request.session_hash)
    return 0 if messages is None else messages.qsize()
