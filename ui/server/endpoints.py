"""Endpoints for programs: functions of the tabs, whose errors come back as the same plain sentences."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any

from gradio.components import Component
from gradio.context import get_blocks_context
from gradio.events import api

from ui.kit.errors import for_programs
from ui.limits import Limits
from ui.runs.generation import CALLER
from ui.server.callers import CallSlots, Unread, caller, messages_waiting
from ui.server.queue import PROGRAMS


def register(endpoints: Mapping[str, Callable[..., Any]], limits: Limits) -> None:
    """Add the functions to the page that is being built, under their names and with the names of their parameters."""
    slots = CallSlots(limits.calls)
    for name, function in endpoints.items():
        called = _for_programs(function, slots, limits)
        api(called, api_name=name, concurrency_limit=limits.program_runs, concurrency_id=PROGRAMS)
        _label(name, list(inspect.signature(function).parameters))


def _label(endpoint: str, parameters: Sequence[str]) -> None:
    """Name an endpoint's parameters and its answer in Gradio's page of endpoints, which numbers them otherwise."""
    page = get_blocks_context()
    assert page is not None
    (registered,) = (fn for fn in page.fns.values() if fn.api_name == endpoint)
    for parameter, shown in zip(parameters, registered.inputs, strict=True):
        assert isinstance(shown, Component)
        shown.label = parameter
    for shown in registered.outputs:
        assert isinstance(shown, Component)
        shown.label = "answer"


def _for_programs(function: Callable[..., Any], slots: CallSlots, limits: Limits) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function):

        @wraps(function)
        def streamed(*arguments: Any) -> Iterator[Any]:
            CALLER.set(caller())
            with for_programs(), slots.held_by(caller()):
                unread = Unread(limits.unread_seconds)
                for item in function(*arguments):
                    yield item
                    unread.sent(messages_waiting())

        return streamed

    @wraps(function)
    def answered(*arguments: Any) -> Any:
        CALLER.set(caller())
        with for_programs(), slots.held_by(caller()):
            return function(*arguments)

    return answered
