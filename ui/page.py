"""The page: which function answers which event.

What the functions do is in `ui/chat.py` and `ui/write.py`, what is where in `ui/layout.py`; here they are joined.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial, wraps
from typing import Any

import gradio as gr
from gradio.blocks import Block

from model.errors import AttendError
from ui import chat, code, endpoints, write
from ui.checks import checked_text
from ui.errors import for_people
from ui.layout import WRITE, Outputs, Parts, lay_out
from ui.models import Models
from ui.screen import Screen
from ui.session import Session

_RUNS = 8  # at the same time, of all visitors; the model's lock lets them take turns

_QUIET: Any = {"show_progress": "hidden", "api_visibility": "private"}
_QUICK: Any = {**_QUIET, "concurrency_limit": None}
_RUNNING: Any = {**_QUIET, "concurrency_limit": _RUNS, "concurrency_id": "runs"}


def build(models: Models) -> gr.Blocks:
    """The whole page, with the endpoints for programs."""
    with gr.Blocks(title="Attend", fill_width=True, analytics_enabled=False) as page:
        parts = lay_out(models)
        _wire_chat(parts, models)
        _wire_write(parts, models)
        _wire_code(parts, models)
        _wire_page(parts, models)
        endpoints.register(models)
    return page


def _wire_chat(parts: Parts, models: Models) -> None:
    panel, outputs = parts.panel, parts.chat_outputs

    def send(session: Session, model: str, text: str, *settings: object) -> Iterator[Screen]:
        return chat.send(session, models, model, text, panel.read(settings))

    def example(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        return chat.send(session, models, model, _field(event, "text", str), panel.read(settings))

    def retry(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        return chat.retry(session, models, model, _field(event, "turn", int), panel.read(settings))

    def edit(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        turn, text = _field(event, "turn", int), _field(event, "text", str)
        return chat.edit(session, models, model, turn, text, panel.read(settings))

    def undo(session: Session, model: str, event: gr.EventData) -> Screen:
        return chat.undo(session, models, model, _field(event, "turn", int))

    def clear(session: Session, model: str) -> Screen:
        return chat.clear(session, models, model)

    def unclear(session: Session, model: str) -> Screen:
        return chat.unclear(session, models, model)

    def token(session: Session, event: gr.EventData) -> Screen:
        return chat.open_token(session, models, _field(event, "turn", int), _field(event, "index", int))

    def missing(session: Session, event: gr.EventData) -> Screen:
        return chat.open_run(session, models, _field(event, "run", str))

    base = [parts.session, parts.model]
    set_up = [*base, *panel.inputs]
    runs, at_once = partial(_screens, parts, outputs), partial(_screen, parts, outputs)
    said = [*base, parts.message, *panel.inputs]
    gr.on([parts.message.submit, parts.send.click], runs(send), said, outputs, **_RUNNING)
    parts.conversation.example(runs(example), set_up, outputs, **_RUNNING)
    parts.conversation.retry(runs(retry), set_up, outputs, **_RUNNING)
    parts.conversation.edit(runs(edit), set_up, outputs, **_RUNNING)
    parts.conversation.undo(at_once(undo), base, outputs, **_QUICK)
    parts.clear.click(at_once(clear), base, outputs, **_QUICK)
    parts.unclear.click(at_once(unclear), base, outputs, **_QUICK)
    parts.conversation.token(at_once(token), parts.session, outputs, trigger_mode="always_last", **_QUICK)
    parts.inspector.missing(at_once(missing), parts.session, outputs, **_QUICK)


def _wire_write(parts: Parts, models: Models) -> None:
    panel, outputs = parts.panel, parts.write_outputs

    def go(session: Session, model: str, text: str, *settings: object) -> Iterator[Screen]:
        return write.write(session, models, model, text, panel.read(settings))

    def one(session: Session, model: str, text: str, *settings: object) -> Iterator[Screen]:
        return write.write(session, models, model, text, replace(panel.read(settings), max_new_tokens=1))

    def take(session: Session, event: gr.EventData) -> Screen:
        return write.take(session, models, _field(event, "index", int), _field(event, "id", int))

    def back(session: Session, model: str, text: str) -> Screen:
        return write.undo(session, models, model, text)

    def forth(session: Session, model: str, text: str) -> Screen:
        return write.redo(session, models, model, text)

    def empty(session: Session, model: str) -> Screen:
        return write.clear(session, models, model)

    def preview(session: Session, model: str, text: str) -> Screen:
        return write.preview(session, models, model, text)

    base = [parts.session, parts.model]
    written = [*base, parts.text]
    runs, at_once = partial(_screens, parts, outputs), partial(_screen, parts, outputs)
    parts.go.click(runs(go), [*written, *panel.inputs], outputs, **_RUNNING)
    parts.one.click(runs(one), [*written, *panel.inputs], outputs, **_RUNNING)
    parts.inspector.take(at_once(take), parts.session, outputs, **_QUICK)
    parts.back.click(at_once(back), written, outputs, trigger_mode="multiple", **_QUICK)
    parts.forth.click(at_once(forth), written, outputs, trigger_mode="multiple", **_QUICK)
    parts.empty.click(at_once(empty), base, outputs, **_QUICK)
    parts.text.input(at_once(preview), written, outputs, trigger_mode="always_last", **_QUICK)


def _wire_code(parts: Parts, models: Models) -> None:
    panel = parts.panel

    def show(session: Session, model: str, mode: str, message: object, text: object, *settings: object) -> Any:
        with for_people():
            loaded, chosen = models.get(model), panel.read_as_it_is(settings)
            if mode == WRITE or loaded.chat is None:
                asked = code.asked_in_write(session, loaded, checked_text(text, "The text"), chosen)
            else:
                asked = code.asked_in_chat(session, loaded, checked_text(message, "The message"), chosen)
            return {"blocks": code.blocks(asked), "opened": time.time()}
        return gr.skip()

    said = [parts.session, parts.model, parts.mode, parts.message, parts.text, *panel.inputs]
    panel.code.click(show, said, panel.dialog, **_QUICK)


def _wire_page(parts: Parts, models: Models) -> None:
    def switch(session: Session, model: str, mode: str) -> Screen:
        writing = mode == WRITE or models.get(model).chat is None
        screen = (write if writing else chat).overview(session, models, model)
        return replace(screen, writing=writing, corrected=writing is not (mode == WRITE))

    def stop(session: Session) -> None:
        if session.stop is not None:
            session.stop.set()

    outputs = parts.all_outputs
    chosen = [parts.session, parts.model, parts.mode]
    switched = [parts.mode.input, parts.model.input]
    gr.on(switched, _screen(parts, outputs, switch), chosen, outputs, trigger_mode="always_last", **_QUICK)
    gr.on([parts.stop.click, parts.halt.click], stop, parts.session, None, queue=False, **_QUIET)


def _screens(parts: Parts, outputs: list[Outputs], function: Callable[..., Iterator[Screen]]) -> Callable[..., Any]:
    """The handler of a function that gives one screen after another."""

    @wraps(function)  # gradio reads the signature, to know who wants the event
    def handler(*arguments: Any) -> Iterator[dict[Block, Any]]:
        with for_people():
            for screen in function(*arguments):
                yield parts.render(screen, outputs)
            return
        yield parts.render(Screen(), outputs)  # a run that yields nothing would empty every component

    return handler


def _screen(parts: Parts, outputs: list[Outputs], function: Callable[..., Screen]) -> Callable[..., Any]:
    """The handler of a function that gives one screen."""

    @wraps(function)
    def handler(*arguments: Any) -> dict[Block, Any]:
        screen = Screen()  # where something goes wrong, nothing changes
        with for_people():
            screen = function(*arguments)
        return parts.render(screen, outputs)

    return handler


def _field(event: gr.EventData, name: str, kind: type) -> Any:
    """One field of what the page's script sent, which may be anything."""
    data: Mapping[str, Any] = event._data if isinstance(event._data, Mapping) else {}
    value = data.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise AttendError("The page sent something that this version does not understand: reload it.")
    return value
