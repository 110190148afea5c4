"""The connections of a page, limited in number and in time. uvicorn has no such limits.

A connection is busy from the header of a request to the end of its response, and idle otherwise. A busy connection is
never closed while its client sends and reads, since an open page keeps one for hours. An idle one may be closed at any
time to make room for a new one, so nobody can lock others out by opening connections and sending nothing.
"""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from http import HTTPStatus
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from ui.limits import Limits
from ui.server.connections.addresses import counted_address

# States of h11: ours while we answer a request, and the client's while its request arrives.
_BUSY = (h11.SEND_RESPONSE, h11.SEND_BODY)
_ARRIVING = (h11.IDLE, h11.SEND_BODY)


class Connections:
    """All connections of a page."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._open = set[Connection]()
        self._idle = defaultdict[str, dict[Connection, None]](dict)  # by address, the longest idle one first

    def __len__(self) -> int:
        return len(self._open)

    def admit(self, connection: Connection) -> bool:
        """Count a new connection, closing an idle one if there are too many; False if all are busy."""
        idle = self._idle.get(connection.address, {})
        if len(idle) < self.limits.connections:
            if len(self._open) < self.limits.all_connections:
                idle = {}
            elif not (idle := max(self._idle.values(), key=len, default={})):
                return False
        if idle:
            next(iter(idle)).abort()
        self._open.add(connection)
        return True

    def set_idle(self, connection: Connection, idle: bool) -> None:
        """Note whether the connection is idle. One that becomes idle again will be closed last."""
        of_address = self._idle[connection.address]
        if not idle:
            of_address.pop(connection, None)
        elif connection in self._open:
            of_address.setdefault(connection)
        if not of_address:
            del self._idle[connection.address]

    def forget(self, connection: Connection) -> None:
        """Call when a connection has ended."""
        self._open.discard(connection)
        self.set_idle(connection, False)


class Connection(H11Protocol):
    """One connection, whose requests have to arrive, and whose responses have to be read, within some time."""

    def __init__(self, *, connections: Connections, **options: Any) -> None:
        super().__init__(**options)
        self._connections = connections
        self._arrival: asyncio.TimerHandle | None = None  # ends a request that has not arrived completely
        self._reading: asyncio.TimerHandle | None = None  # ends a response that nobody reads
        self.address = ""

    def abort(self) -> None:
        """Close the connection at once."""
        self._connections.forget(self)
        self.transport.abort()

    # What asyncio calls

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.address = counted_address(self.client[0]) if self.client else ""
        if self._connections.admit(self):
            self._note()
        else:
            self._refuse(503, "All connections of this page are in use: try again in a minute.")

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        for timer in (self._arrival, self._reading):
            if timer is not None:
                timer.cancel()
        self._unset_keepalive_if_required()  # uvicorn leaves its timer running after an error
        self._connections.forget(self)

    def data_received(self, data: bytes) -> None:
        if not self.transport.is_closing():
            super().data_received(data)
            self._note()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stop_waiting()
        self._await_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        self._stop_waiting()
        if self.cycle is None or self.cycle.response_complete:  # else more is written
            self._await_reading()

    # What uvicorn calls

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._note()
        self._await_reading()

    def send_400_response(self, msg: str) -> None:
        """uvicorn would raise an error here if the response has begun."""
        self._refuse(400, msg)

    def _note(self) -> None:
        """Note what the connection is doing, after anything that may have changed it."""
        self._connections.set_idle(self, self.conn.our_state not in _BUSY)
        if self.conn.their_state not in _ARRIVING:
            if self._arrival is not None:
                self._arrival.cancel()
                self._arrival = None
        elif self._arrival is None and self.timeout_keep_alive_task is None:
            self._arrival = self.loop.call_later(self._connections.limits.request_seconds, self._end_arrival)

    def _end_arrival(self) -> None:
        seconds = self._connections.limits.request_seconds
        self._refuse(408, f"This request did not arrive within {seconds:g} seconds: send it again.")

    def _await_reading(self) -> None:
        """Close the connection if its client reads nothing for some time."""
        unread = self.transport.get_write_buffer_size()
        if unread and self._reading is None:
            seconds = self._connections.limits.unread_seconds
            self._reading = self.loop.call_later(seconds, self._end_reading, self.cycle, unread)

    def _stop_waiting(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None

    def _end_reading(self, cycle: object, unread: int) -> None:
        self._reading = None
        if cycle is self.cycle and self.transport.get_write_buffer_size() >= unread:
            self.abort()
        else:
            self._await_reading()

    def _refuse(self, status: int, sentence: str) -> None:
        """Answer with a sentence, unless a response has begun, and close the connection."""
        if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
            body = json.dumps({"detail": sentence}).encode()
            head = (
                f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\ncontent-type: application/json\r\n"
                f"content-length: {len(body)}\r\ncache-control: no-store\r\nconnection: close\r\n\r\n"
            )
            self.transport.write(head.encode() + body)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected = True  # else it would answer, too
            self.cycle.message_event.set()
        self.transport.close()
        self._await_reading()
