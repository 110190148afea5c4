"""Gradio's queue of events, in which nobody can stand in everybody's way.

Gradio's own has one limit for all that waits, of programs and pages, of one visitor or many. Here the calls of programs
and the events of pages are counted apart, and each by who sent them before all together.
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
from ui.server.sessions import Visits

PROGRAMS = "programs"  # the concurrency id of endpoints
_OF_VISIT = 24  # events of one page that are being answered or wait
_UNREAD = 2000  # answers
_UNLIMITED = 1 << 60


class FairQueue(Queue):
    """A queue with limits by visitor, and the visits that it serves."""

    def __init__(self, blocks: Page, limits: Limits) -> None:
        super().__init__(
            live_updates=True,
            concurrency_count=blocks.max_threads,
            update_intervals=1,
            max_size=None,
            blocks=blocks,
        )
        self._limits = limits
        self.visits = Visits(blocks, limits, lambda: self.busy, self.forget, blocks.departed)
        self.pending_messages_per_session = LRUCache(_UNLIMITED)  # else those of anybody are dropped
        # Gradio's statistics go through all of their records after each event, and nobody reads them.
        self.ANAYLTICS_CACHE_FREQUENCY, self.ANALYTICS_MAX_EVENTS = _UNLIMITED, 1
        self.sleep_when_free = 0.01  # seconds; Gradio's 0.001 keeps an idle page at 3 % of a core

    async def push(self, body: PredictBodyInternal, request: Request, username: str | None) -> tuple[bool, Any, Any]:
        """See `Queue.push`; what is over a limit is refused with a sentence."""
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
                if event.session_hash == event._id:  # a call that named no visit has nothing to come back to
                    self.visits.end(event._id)

    def _drop_unread(self) -> None:
        """Forget the oldest answers to calls that nobody has read."""
        surplus = len(self.pending_messages_per_session) - _UNREAD
        unread = (visit for visit in self.pending_messages_per_session if visit not in self.visits)
        for visit in [*islice(unread, max(0, surplus))]:
            self.forget(visit)

    def _refusal(self, body: PredictBodyInternal, address: str) -> str:
        """Why an event may not wait; "" where it may."""
        fn = self.blocks.fns.get(-1 if body.fn_index is None else body.fn_index)
        program = fn is not None and fn.concurrency_id == PROGRAMS
        waiting = [event for event in self._waiting() if (event.concurrency_id == PROGRAMS) == program]
        if len(waiting) >= self._limits.waiting:
            return f"{len(waiting)} requests of all visitors are waiting, which is the limit: try again in a minute."
        if program:
            of_caller = sum(address_of(event.request) == address for event in waiting)
            if of_caller >= self._limits.calls:
                return f"{of_caller} calls from your address are waiting, which is the limit: try again in a minute."
            return ""
        pending = [*waiting, *(event for event in self._running() if event.concurrency_id != PROGRAMS)]
        of_visit = sum(event.session_hash == body.session_hash for event in pending)
        of_address = sum(address_of(event.request) == address for event in pending)
        if of_visit >= _OF_VISIT or of_address >= self._limits.events:
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
        """The visits that have events to be answered."""
        return {event.session_hash for events in (self._waiting(), self._running()) for event in events}

    def forget(self, visit: str) -> None:
        """What was written to a visit that is over, and not read."""
        self.pending_messages_per_session.pop(visit, None)
        self.pending_event_ids_session.pop(visit, None)
