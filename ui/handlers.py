"""What stands between gradio's events and the page's functions: screens rendered, errors said, fields checked."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block

from model.errors import AttendError
from ui.errors import for_people
from ui.layout import Outputs, Parts
from ui.screen import Screen

_MOVE = (Path(__file__).parent / "move.js").read_text(encoding="utf-8")
# Before a question is sent: how often the switch was clicked, this time included or not.
CLICKED = "(session, mode) => [session, mode, (window.attendClicks = (window.attendClicks ?? 0) + 1)]"
CLICKS = "(session, mode) => [session, mode, window.attendClicks ?? 0]"
_RUNS = 8  # at the same time, of all visitors; the model's lock lets them take turns

# How handlers are registered: unseen by programs, those that answer at once, those that run a model.
QUIET: Any = {"show_progress": "hidden", "api_visibility": "private"}
QUICK: Any = {**QUIET, "concurrency_limit": None}
RUNNING: Any = {**QUIET, "concurrency_limit": _RUNS, "concurrency_id": "runs"}


def screens(parts: Parts, outputs: list[Outputs], function: Callable[..., Iterator[Screen]]) -> Callable[..., Any]:
    """The handler of a function that gives one screen after another."""

    @wraps(function)  # gradio reads the signature, to know who wants the event
    def handler(*arguments: Any) -> Iterator[dict[Block, Any]]:
        with for_people():
            for shown in function(*arguments):
                yield parts.render(shown, outputs)
            return
        yield parts.render(Screen(), outputs)  # a run that yields nothing would empty every component

    return handler


def screen(parts: Parts, outputs: list[Outputs], function: Callable[..., Screen]) -> Callable[..., Any]:
    """The handler of a function that gives one screen."""

    @wraps(function)
    def handler(*arguments: Any) -> dict[Block, Any]:
        shown = Screen()  # where something goes wrong, nothing changes
        with for_people():
            shown = function(*arguments)
        return parts.render(shown, outputs)

    return handler


def then_move(event: Any, parts: Parts) -> None:
    """Let the switch go where an answer puts it, unless it was clicked meanwhile: only the page knows that."""
    event.then(None, [parts.move, parts.mode], parts.mode, js=_MOVE, **QUIET)


def field(event: gr.EventData, name: str, kind: type) -> Any:
    """One field of what the page's script sent, which may be anything."""
    data: Mapping[str, Any] = event._data if isinstance(event._data, Mapping) else {}
    value = data.get(name)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise AttendError("The page sent something that this version does not understand: reload it.")
    return value
