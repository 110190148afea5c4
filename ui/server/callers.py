"""The callers of endpoints, and how much of the server each may use.

Limits apply to each address before they apply to all calls, so that no caller can block the others. Behind a proxy,
such as that of a Space, every call comes from the proxy, which forwards the caller's address. Providers give each IPv6
customer a /64 network at least, so all addresses of one count as the same.
"""

from __future__ import annotations

import ipaddress
import os
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from gradio.context import LocalContext

from model.errors import AttendError

ADDRESS = ContextVar("address", default="")  # that the request being answered came from


@dataclass(slots=True)
class CallSlots:
    """The running calls of each caller, at most `most`."""

    most: int
    _held: Counter[str] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def held_by(self, caller: str) -> Iterator[None]:
        """Take a slot; `AttendError` if the caller has none left."""
        with self._lock:
            if self._held[caller] >= self.most:
                raise AttendError(
                    f"{self.most} calls from your address are still running, which is the limit: try again when one "
                    "has ended."
                )
            self._held[caller] += 1
        try:
            yield
        finally:
            with self._lock:
                self._held[caller] -= 1
                if not self._held[caller]:
                    del self._held[caller]


def caller() -> str:
    """The address that the current call came from; "" outside a call."""
    return address_of(LocalContext.request.get(None))


def address_of(request: Any) -> str:
    """The address that a request, Starlette's or Gradio's, came from, as limits count it; "" if there is none."""
    if request is None or request.client is None:
        return ""
    forwarded = str(request.headers.get("x-forwarded-for", "")) if os.environ.get("SPACE_ID") else ""
    # Only the last entry is the proxy's own; those before it are what the caller claims.
    return counted_address(forwarded.rpartition(",")[2].strip() or str(request.client.host))


def counted_address(address: str) -> str:
    """The address as limits count it: an IPv4 address itself, the /64 network of an IPv6 address."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a proxy may send something else
        return address
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped is not None:  # ::ffff:192.0.2.1
        return str(parsed.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(parsed), 64), strict=False))


class Unread:
    """Notices when nobody has read a streamed answer for some time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._sent = self._read = 0
        self._since = time.monotonic()

    def sent(self, waiting: int) -> None:
        """Call for each message with the number of those that still wait for the reader.

        `AttendError` when none was read for too long.
        """
        self._sent += 1
        read = self._sent - waiting
        if read > self._read or waiting <= 1:  # all before this one was read
            self._read, self._since = read, time.monotonic()
        if time.monotonic() - self._since > self._seconds:
            raise AttendError(f"Nobody has read this answer for {self._seconds:g} seconds: it was stopped.")


def messages_waiting() -> int:
    """How many messages to the caller are still unread."""
    request, page = LocalContext.request.get(None), LocalContext.blocks.get(None)
    if request is None or page is None:
        return 0
    messages = page._queue.pending_messages_per_session.get(request.session_hash)
    return 0 if messages is None else messages.qsize()
