"""Gradio's event queue, with limits for each visitor.

Gradio's own queue has a single limit for everything that waits, so one visitor can fill it. Here program calls and page
events have separate limits, both by visitor or address and in total.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from fastapi import Request
from gradio.block_function import BlockFunction
from gradio.data_classes import PredictBodyInternal
from gradio.queueing import Event, Queue
from gradio.utils import LRUCache

from ui.limits import Limits
from ui.server.callers import address_of
from ui.server.refusals import Page
from ui.server.sessions import LONG_NAME, MAX_NAME, Visits

PROGRAMS = "programs"  # the concurrency id of endpoints
_EVENTS_PER_VISIT = 24  # running or waiting
_MAX_UNREAD = 2000  # answers to program calls, of all callers together
_UNLIMITED = 1 << 60


class FairQueue(Queue):
    """A queue with limits by visitor. It also holds the state of its visits."""

    def __init__(self, blocks: Page, limits: Limits) -> None:
        super().__init__(
            live_updates=True,
            concurrency_count=blocks.max_threads,
            update_intervals=1,
            max_size=None,
            blocks=blocks,
        )
        self._limits = limits
        self.visits = Visits(blocks, limits, lambda: self.busy, self.drop_messages, blocks.departed)
        self.pending_messages_per_session = LRUCache(_UNLIMITED)  # Gradio's own limit could drop anyone's messages
        # After each event, Gradio would go through all records of its statistics, which nobody reads.
        self.ANAYLTICS_CACHE_FREQUENCY, self.ANALYTICS_MAX_EVENTS = _UNLIMITED, 1
        self.sleep_when_free = 0.01  # seconds; with Gradio's 0.001, an idle page uses 3 % of a core

    async def push(self, body: PredictBodyInternal, request: Request, username: str | None) -> tuple[bool, Any, Any]:
        """See `Queue.push`. An event over a limit is refused with a sentence."""
        refusal = self._refusal(body, address_of(request))
        if refusal:
            return False, refusal, "queue_full"
        self._drop_unread()
        return await super().push(body, request, username)

    async def process_events(self, events: list[Event], batch: bool, begin_time: float, fn: BlockFunction) -> None:
        """See `Queue.process_events`."""
        try:
            await super().process_events(events, batch, begin_time, fn)
        finally:
            for event in events:
                if event.session_hash == event._id:  # a call without a session, which nobody can return to
                    self.visits.end(event._id)

    def _drop_unread(self) -> None:
        """Drop the oldest unread answers to calls without a session, if there are too many."""
        excess = len(self.pending_messages_per_session) - _MAX_UNREAD
        unread = (visit for visit in self.pending_messages_per_session if visit not in self.visits)
        for visit in [*islice(unread, max(0, excess))]:
            self.drop_messages(visit)

    def _refusal(self, body: PredictBodyInternal, address: str) -> str:
        """Why an event is over a limit; "" if it isn't."""
        if len(body.session_hash or "") > MAX_NAME:
            return LONG_NAME
        fn = self.blocks.fns.get(-1 if body.fn_index is None else body.fn_index)
        program = fn is not None and fn.concurrency_id == PROGRAMS
        waiting = [event for event in self._waiting() if (event.concurrency_id == PROGRAMS) == program]
        if len(waiting) >= self._limits.waiting:
            return f"{len(waiting)} requests of all visitors are waiting, which is the limit: try again in a minute."
        if program:
            by_address = sum(address_of(event.request) == address for event in waiting)
            if by_address >= self._limits.calls:
                return f"{by_address} calls from your address are waiting, which is the limit: try again in a minute."
            return ""
        pending = [*waiting, *(event for event in self._running() if event.concurrency_id != PROGRAMS)]
        by_visit = sum(event.session_hash == body.session_hash for event in pending)
        by_address = sum(address_of(event.request) == address for event in pending)
        if by_visit >= _EVENTS_PER_VISIT or by_address >= self._limits.events:
            return "Too many of your clicks and keystrokes are still being answered: try again in a moment."
        return ""

    def _waiting(self) -> Iterator[Event]:
        for queue in self.event_queue_per_concurrency_id.values():
            yield from queue.queue

    def _running(self) -> Iterator[Event]:
        for events in self.active_jobs:
            yield from events or ()

    @property
    def busy(self) -> set[str]:
        """The visits with running or waiting events."""
        return {event.session_hash for events in (self._waiting(), self._running()) for event in events}

    def knows(self, event: str) -> bool:
        """Whether a call with this id is waiting or running, or has a result that nobody has fetched yet."""
        return event in self.event_ids_to_events or any(
            event in events for events in self.pending_event_ids_session.values()
        )

    def drop_messages(self, visit: str) -> None:
        """Drop the unread messages of a visit."""
        self.pending_messages_per_session.pop(visit, None)
        self.pending_event_ids_session.pop(visit, None)
