"""The state of visits, which Gradio calls sessions, and the order in which they are dropped.

Gradio keeps a thousand visits and drops the least recently used, so anyone who makes up session hashes would evict the
conversations of others. Here a visit in use is never dropped, and each address has a limited number of visits: one more
evicts the least recently used of the same address, or is refused. Visits whose page has been closed are kept for an
hour, in case the visitor returns, within a limit on their total size.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Collection
from copy import copy
from typing import Any

from fastapi import HTTPException
from gradio.blocks import Blocks
from gradio.state_holder import SessionState, StateHolder
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from ui.limits import Limits
from ui.runs.session import Session
from ui.server.callers import ADDRESS, address_of
from ui.server.responses import refusal

MAX_NAME = 100  # characters of a session hash, which Gradio's clients make up with at most 36
_MAX_CLOSED_BYTES = 16_000_000  # of the explanations that all closed pages keep
LONG_NAME = f"A session hash may have at most {MAX_NAME} characters: send a shorter one."
_RETENTION = 3600.0  # seconds after a page was closed
_HEARTBEAT = "/heartbeat/"  # the route of a connection that lasts as long as the page is open


class Visit(SessionState):
    """Gradio's state of a visit, without its copy of every component's newest value.

    Only deep links read that copy, and this page has none.
    """

    def __init__(self, blocks: Blocks) -> None:
        self.blocks_config = copy(blocks.default_config)
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl = {}

    def _update_config(self, key: int) -> None:
        pass

    def _update_value_in_config(self, key: int, value: Any) -> None:
        pass


class Visits(StateHolder):
    """All visits, by the session hash that Gradio's page makes up for each."""

    def __init__(
        self,
        blocks: Blocks,
        limits: Limits,
        busy: Callable[[], Collection[str]],
        on_drop: Callable[[str], None],
        on_close: Callable[[Session], None],
    ) -> None:
        """
        Args:
            limits: on the visits of one address and of all.
            busy: returns the visits that have pending events.
            on_drop: called with each visit that is dropped.
            on_close: called with the session of each page that is closed.
        """
        super().__init__()
        self.set_blocks(blocks)
        self._limit, self._limit_by_address = limits.sessions, limits.visits
        self._busy, self._on_drop, self._on_close = busy, on_drop, on_close
        self._addresses = dict[str, str]()  # by visit
        self._connections = Counter[str]()  # open heartbeats, by visit
        self._closed_at = OrderedDict[str, float]()  # seconds on the clock, by visit, the earliest first
        self._lock = threading.RLock()

    def __getitem__(self, session_id: str) -> SessionState:
        with self._lock:
            if session_id not in self.session_data:
                self._admit(session_id)
            self.session_data.move_to_end(session_id)
            return self.session_data[session_id]

    def _admit(self, visit: str) -> None:
        if len(visit) > MAX_NAME:
            raise HTTPException(422, LONG_NAME)
        address = ADDRESS.get()
        same_address = [other for other, its_address in self._addresses.items() if its_address == address]
        if len(same_address) >= self._limit_by_address:
            self._evict(same_address, f"{self._limit_by_address} visits from your address are open, which is the limit")
        if len(self.session_data) >= self._limit:
            self._evict(self.session_data, f"{self._limit:,} visits are open, which is the limit")
        self.session_data[visit] = Visit(self.blocks)
        self._addresses[visit] = address

    def _evict(self, candidates: Collection[str], refusal: str) -> None:
        """Drop the least recently used of these visits that is not in use; `HTTPException` if all are."""
        busy, allowed = self._busy(), set(candidates)
        by_use = (visit for visit in self.session_data if visit in allowed)
        unused = next((visit for visit in by_use if not self._connections[visit] and visit not in busy), None)
        if unused is None:
            raise HTTPException(503, f"{refusal}: close some, or try again in a few minutes.")
        self.drop(unused)

    def drop(self, visit: str) -> None:
        """Remove the visit and its unread messages."""
        self.end(visit)
        self._on_drop(visit)

    def end(self, visit: str) -> None:
        """Remove the visit; its messages can still be read."""
        with self._lock:
            self.session_data.pop(visit, None)
            self._addresses.pop(visit, None)
            self._closed_at.pop(visit, None)

    def connected(self, visit: str) -> None:
        """Call when a page opens its heartbeat."""
        with self._lock:
            self._connections[visit] += 1
            self._closed_at.pop(visit, None)

    def disconnected(self, visit: str) -> None:
        """Call when a heartbeat ends; after the last one, the page counts as closed."""
        with self._lock:
            self._connections[visit] -= 1
            if self._connections[visit] > 0:
                return
            del self._connections[visit]
            if visit in self.session_data:
                session = self._session(visit)
                self._closed_at[visit] = time.monotonic()
                self._limit_closed()
                if session is not None:
                    self._on_close(session)  # last, since a cluster that is gone may raise here

    def _limit_closed(self) -> None:
        """Drop the visits that were closed first until the rest is small enough."""
        sizes = {visit: session.bytes for visit in self._closed_at if (session := self._session(visit)) is not None}
        total = sum(sizes.values())
        for visit in [*self._closed_at]:
            if total <= _MAX_CLOSED_BYTES:
                return
            total -= sizes.get(visit, 0)
            self.drop(visit)

    def _session(self, visit: str) -> Session | None:
        """Our session, once an event of the visit has needed it."""
        state = self.session_data.get(visit)
        values = () if state is None else state.state_data.values()
        return next((value for value in values if isinstance(value, Session)), None)

    def delete_all_expired_state(self) -> None:
        """Drop the visits that were closed too long ago; Gradio calls this every second."""
        with self._lock:
            expired = time.monotonic() - _RETENTION
            for visit, closed_at in [*self._closed_at.items()]:
                if closed_at > expired:
                    return
                self.drop(visit)


class TrackVisits:
    """Middleware that notes the address of each request, and which visits have their page open."""

    def __init__(self, app: ASGIApp, visits: Visits) -> None:
        self._app = app
        self._visits = visits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        ADDRESS.set(address_of(Request(scope)))
        _, heartbeat, visit = scope["path"].rpartition(_HEARTBEAT)
        if not heartbeat:
            return await self._app(scope, receive, send)
        if len(visit) > MAX_NAME:
            return await refusal(422, LONG_NAME)(scope, receive, send)
        self._visits.connected(visit)
        try:
            await self._app(scope, receive, send)
        finally:
            self._visits.disconnected(visit)
