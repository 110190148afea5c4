"""The visits of the page that are kept, and which of them goes first.

Gradio keeps a thousand and drops the one that was used longest ago, so that whoever invents names for visits throws out
the conversations of others. Here a visit that is in use is never dropped, and one address has so many at most: the
next one takes the place of its own oldest, or else is refused. Those that have left are kept for a while, in case they
come back, as long as they are small together.
"""

from __future__ import annotations

import datetime
import threading
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

_BYTES_DEPARTED = 16_000_000  # of what explains the texts of all who have left
_KEPT = 3600.0  # seconds after a visitor has left
_HEARTBEAT = "/heartbeat/"


class Visit(SessionState):
    """What Gradio keeps of a visit, but for a copy of every component's newest value: only its deep links, which this
    page does not offer, ever read that."""

    def __init__(self, blocks: Blocks) -> None:
        self.blocks_config = copy(blocks.default_config)
        self.config_values: dict[int, dict[str, Any]] = {}
        self.state_data: dict[int, Any] = {}
        self._state_ttl = {}
        self.is_closed = False
        self.STATE_TTL_WHEN_CLOSED = _KEPT

    def _update_config(self, key: int) -> None:
        pass

    def _update_value_in_config(self, key: int, value: Any) -> None:
        pass

    @property
    def session(self) -> Session | None:
        """Ours, once an event has needed it."""
        return next((value for value in self.state_data.values() if isinstance(value, Session)), None)


class Visits(StateHolder):
    """All visits, by the name that Gradio's page gives each."""

    def __init__(
        self,
        blocks: Blocks,
        limits: Limits,
        busy: Callable[[], Collection[str]],
        forget: Callable[[str], None],
        departed: Callable[[Session], None],
    ) -> None:
        """
        Args:
            limits: how many visits one address, and all together, may have.
            busy: the visits that have events to be answered.
            forget: called with each visit that is dropped.
            departed: called with the session of a visitor who has left.
        """
        super().__init__()
        self.set_blocks(blocks)
        self._most, self._most_of_address = limits.sessions, limits.visits
        self._busy, self._forget, self._departed = busy, forget, departed
        self._address: dict[str, str] = {}  # of each visit
        self._open = Counter[str]()  # connections that say that a visit goes on
        self._left: OrderedDict[str, datetime.datetime] = OrderedDict()  # when, the first first
        self._guard = threading.RLock()

    def __getitem__(self, session_id: str) -> SessionState:
        with self._guard:
            if session_id not in self.session_data:
                self._admit(session_id)
            self.session_data.move_to_end(session_id)
            self.time_last_used[session_id] = datetime.datetime.now()
            return self.session_data[session_id]

    def _admit(self, visit: str) -> None:
        address = ADDRESS.get()
        of_address = [each for each, its in self._address.items() if its == address]
        if len(of_address) >= self._most_of_address:
            self._make_room(
                of_address, f"{self._most_of_address} visits from your address are open, which is the limit"
            )
        if len(self.session_data) >= self._most:
            self._make_room(self.session_data, f"{self._most:,} visits are open, which is the limit")
        self.session_data[visit] = Visit(self.blocks)
        self._address[visit] = address

    def _make_room(self, among: Collection[str], limit: str) -> None:
        """Drop the one of them that was used longest ago and is not in use."""
        busy, of_these = self._busy(), set(among)
        candidates = (visit for visit in self.session_data if visit in of_these)
        unused = next((visit for visit in candidates if not self._open[visit] and visit not in busy), None)
        if unused is None:
            raise HTTPException(503, f"{limit}: close some, or try again in a few minutes.")
        self.drop(unused)

    def drop(self, visit: str) -> None:
        """Forget all of it, and what was written to it."""
        self.end(visit)
        self._forget(visit)

    def end(self, visit: str) -> None:
        """Forget all but what was written to it and may yet be read."""
        with self._guard:
            self.session_data.pop(visit, None)
            self.time_last_used.pop(visit, None)
            self._address.pop(visit, None)
            self._left.pop(visit, None)

    def opened(self, visit: str) -> None:
        """Somebody keeps a connection for it."""
        with self._guard:
            self._open[visit] += 1
            self._left.pop(visit, None)
            if visit in self.session_data:
                self.session_data[visit].is_closed = False

    def closed(self, visit: str) -> None:
        """That connection has ended; with the last one the visitor has left."""
        with self._guard:
            self._open[visit] -= 1
            if self._open[visit] > 0:
                return
            del self._open[visit]
            if visit in self.session_data:
                self._left[visit] = datetime.datetime.now()
                if (session := self._session(visit)) is not None:
                    self._departed(session)
                self._drop_departed()

    def _drop_departed(self) -> None:
        """The first that left, as long as the texts of all who have are too large together."""
        sizes = {visit: session.bytes for visit in self._left if (session := self._session(visit)) is not None}
        total = sum(sizes.values())
        for visit in [*self._left]:
            if total <= _BYTES_DEPARTED:
                return
            total -= sizes.get(visit, 0)
            self.drop(visit)

    def _session(self, visit: str) -> Session | None:
        kept = self.session_data.get(visit)
        return kept.session if isinstance(kept, Visit) else None

    def delete_all_expired_state(self) -> None:
        """Called by Gradio every second."""
        with self._guard:
            before = datetime.datetime.now() - datetime.timedelta(seconds=_KEPT)
            for visit, left in [*self._left.items()]:
                if left > before:
                    return
                self.drop(visit)


class Visitors:
    """Tells who sent a request, and the visits which of them have a page open."""

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
        self._visits.opened(visit)
        try:
            await self._app(scope, receive, send)
        finally:
            self._visits.closed(visit)
