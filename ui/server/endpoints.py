"""Endpoints for programs: functions of the tabs, with the page's error messages."""

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
from ui.server.callers import ConcurrencyLimiter, ReadTimeout, caller, unread_messages
from ui.server.queue import PROGRAMS


def register(endpoints: Mapping[str, Callable[..., Any]], limits: Limits, limiter: ConcurrencyLimiter) -> None:
    """Add the functions as endpoints to the page that is being built, under these names.

    Args:
        limiter: of the calls of each address.
    """
    for name, function in endpoints.items():
        handler = _for_programs(function, limiter, limits)
        api(handler, api_name=name, concurrency_limit=limits.program_runs, concurrency_id=PROGRAMS)
        _label(name, list(inspect.signature(function).parameters))


def _label(endpoint: str, parameters: Sequence[str]) -> None:
    """Name an endpoint's parameters and answer in Gradio's API page, which would otherwise number them."""
    page = get_blocks_context()
    assert page is not None
    (registered,) = (fn for fn in page.fns.values() if fn.api_name == endpoint)
    for parameter, component in zip(parameters, registered.inputs, strict=True):
        assert isinstance(component, Component)
        component.label = parameter
    for component in registered.outputs:
        assert isinstance(component, Component)
        component.label = "answer"


def _for_programs(function: Callable[..., Any], limiter: ConcurrencyLimiter, limits: Limits) -> Callable[..., Any]:
    if inspect.isgeneratorfunction(function):

        @wraps(function)
        def streamed(*arguments: Any) -> Iterator[Any]:
            CALLER.set(caller())
            with for_programs(), limiter.acquire(caller()):
                timeout = ReadTimeout(limits.unread_seconds)
                for item in function(*arguments):
                    yield item
                    timeout.sent(unread_messages())

        return streamed

    @wraps(function)
    def answered(*arguments: Any) -> Any:
        CALLER.set(caller())
        with for_programs(), limiter.acquire(caller()):
            return function(*arguments)

    return answered
