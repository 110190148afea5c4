"""The page: which function answers which event.

What the functions do is in `ui/chat.py` and `ui/write.py`, what is where in `ui/layout.py`; here they are joined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import gradio as gr
from gradio.blocks import Block

from model.errors import AttendError
from ui import chat, endpoints, write
from ui.errors import for_people
from ui.layout import WRITE, Parts, lay_out
from ui.models import Models
from ui.screen import Screen
from ui.session import Session

_QUIET: Any = {"show_progress": "hidden", "api_visibility": "private"}
_RUNS = 8  # at the same time, of all visitors; the model's lock lets them take turns


def build(models: Models) -> gr.Blocks:
    """The whole page, with the endpoints for programs."""
    with gr.Blocks(title="Attend", fill_width=True, analytics_enabled=False) as page:
        parts = lay_out(models)
        _wire_chat(parts, models)
        _wire_write(parts, models)
        _wire_page(parts, models)
        endpoints.register(models)
    return page


def _wire_chat(parts: Parts, models: Models) -> None:
    panel = parts.panel
    base = [parts.session, parts.model]

    def send(session: Session, model: str, text: str, *settings: object) -> Iterator[dict]:
        yield from _shown(parts, lambda: chat.send(session, models, model, text, panel.read(settings)))

    def example(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[dict]:
        text = _field(event, "text", str)
        yield from _shown(parts, lambda: chat.send(session, models, model, text, panel.read(settings)))

    def retry(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[dict]:
        yield from _shown(
            parts, lambda: chat.retry(session, models, model, _field(event, "turn", int), panel.read(settings))
        )

    def edit(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[dict]:
        turn, text = _field(event, "turn", int), _field(event, "text", str)
        yield from _shown(parts, lambda: chat.edit(session, models, model, turn, text, panel.read(settings)))

    def undo(session: Session, model: str, event: gr.EventData) -> dict:
        with for_people():
            return parts.render(chat.undo(session, models, model, _field(event, "turn", int)))

    def clear(session: Session, model: str) -> dict:
        with for_people():
            return parts.render(chat.clear(session, models, model))

    def unclear(session: Session, model: str) -> dict:
        with for_people():
            return parts.render(chat.unclear(session, models, model))

    def token(session: Session, event: gr.EventData) -> dict:
        with for_people():
            turn, index = _field(event, "turn", int), _field(event, "index", int)
            return parts.render(chat.open_token(session, models, turn, index))

    def missing(session: Session, event: gr.EventData) -> dict:
        with for_people():
            return parts.render(chat.open_run(session, models, _field(event, "run", str)))

    running: Any = {**_QUIET, "concurrency_limit": _RUNS, "concurrency_id": "runs"}
    quick: Any = {**_QUIET, "concurrency_limit": None}
    said = [*base, parts.message, *panel.inputs]
    gr.on([parts.message.submit, parts.send.click], send, said, parts.outputs, **running)
    parts.conversation.example(example, [*base, *panel.inputs], parts.outputs, **running)
    parts.conversation.retry(retry, [*base, *panel.inputs], parts.outputs, **running)
    parts.conversation.edit(edit, [*base, *panel.inputs], parts.outputs, **running)
    parts.conversation.undo(undo, base, parts.outputs, **quick)
    parts.clear.click(clear, base, parts.outputs, **quick)
    parts.unclear.click(unclear, base, parts.outputs, **quick)
    parts.conversation.token(token, parts.session, parts.outputs, **quick)
    parts.inspector.missing(missing, parts.session, parts.outputs, **quick)


def _wire_write(parts: Parts, models: Models) -> None:
    panel = parts.panel

    def go(session: Session, model: str, text: str, *settings: object) -> Iterator[dict]:
        yield from _shown(parts, lambda: write.write(session, models, model, text, panel.read(settings)))

    def one(session: Session, model: str, text: str, *settings: object) -> Iterator[dict]:
        def step() -> Iterator[Screen]:
            return write.write(session, models, model, text, replace(panel.read(settings), max_new_tokens=1))

        yield from _shown(parts, step)

    def take(session: Session, event: gr.EventData) -> dict:
        with for_people():
            index, token = _field(event, "index", int), _field(event, "id", int)
            return parts.render(write.take(session, models, index, token))

    def back(session: Session, model: str) -> dict:
        with for_people():
            return parts.render(write.undo(session, models, model))

    def empty(session: Session, model: str) -> dict:
        with for_people():
            return parts.render(write.clear(session, models, model))

    def preview(session: Session, model: str, text: str) -> dict:
        with for_people():
            return parts.render(write.preview(session, models, model, text))

    running: Any = {**_QUIET, "concurrency_limit": _RUNS, "concurrency_id": "runs"}
    quick: Any = {**_QUIET, "concurrency_limit": None}
    written = [parts.session, parts.model, parts.text]
    parts.go.click(go, [*written, *panel.inputs], parts.outputs, **running)
    parts.one.click(one, [*written, *panel.inputs], parts.outputs, **running)
    parts.inspector.take(take, parts.session, parts.outputs, **quick)
    parts.back.click(back, written[:2], parts.outputs, **quick)
    parts.empty.click(empty, written[:2], parts.outputs, **quick)
    parts.text.input(preview, written, parts.outputs, trigger_mode="always_last", **quick)


def _wire_page(parts: Parts, models: Models) -> None:
    def switch(session: Session, model: str, mode: str) -> dict:
        with for_people():
            writing = mode == WRITE or models.get(model).chat is None
            screen = (write if writing else chat).overview(session, models, model)
            return parts.render(replace(screen, writing=writing))

    def stop(session: Session) -> None:
        if session.stop is not None:
            session.stop.set()

    chosen = [parts.session, parts.model, parts.mode]
    gr.on([parts.mode.input, parts.model.input], switch, chosen, parts.outputs, concurrency_limit=None, **_QUIET)
    gr.on([parts.stop.click, parts.halt.click], stop, parts.session, None, queue=False, **_QUIET)


def _shown(parts: Parts, run: Callable[[], Iterator[Screen]]) -> Iterator[dict[Block, Any]]:
    """A run's screens as updates of the components."""
    with for_people():
        for screen in run():
            yield parts.render(screen)


def _field(event: gr.EventData, name: str, kind: type) -> Any:
    """One field of what the page's script sent, which may be anything."""
    data: Mapping[str, Any] = event._data if isinstance(event._data, Mapping) else {}
    value = data.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise AttendError("The page sent something that this version does not understand: reload it.")
    return value
