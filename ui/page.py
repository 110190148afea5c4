"""The page: which function answers which event.

What the functions do is in `ui/chat.py` and `ui/write.py`, what is where in `ui/layout.py`; here they are joined. What
belongs to Compare, to the code and to the record is joined in files of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import gradio as gr

from ui import chat, code_page, compare_page, comparing, endpoints, handlers, record_page, write
from ui.errors import for_people, warn
from ui.handlers import QUICK, QUIET, RUNNING, field
from ui.layout import CHAT, COMPARE, WRITE, Parts, lay_out
from ui.models import Models
from ui.screen import Screen
from ui.session import Session
from ui.settings_panel import HEARD
from ui.ways import misread_link


def build(models: Models) -> gr.Blocks:
    """The whole page, with the endpoints for programs."""
    with endpoints.Page(title="Attend", fill_width=True, analytics_enabled=False) as page:
        parts = lay_out(models)
        _wire_chat(parts, models)
        _wire_write(parts, models)
        compare_page.wire(parts, models)
        code_page.wire(parts, models)
        _wire_page(parts, models)
        record_page.wire(parts.session, parts.record, parts.inspector, models)
        endpoints.register(models)
    return page


def _wire_chat(parts: Parts, models: Models) -> None:
    panel, outputs = parts.panel, parts.chat_outputs

    def send(session: Session, model: str, text: str, *settings: object) -> Iterator[Screen]:
        return chat.send(session, models, model, text, panel.read(settings))

    def example(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        return chat.send(session, models, model, field(event, "text", str), panel.read(settings))

    def retry(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        return chat.retry(session, models, model, field(event, "turn", int), panel.read(settings))

    def edit(session: Session, model: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        turn, text = field(event, "turn", int), field(event, "text", str)
        return chat.edit(session, models, model, turn, text, panel.read(settings))

    def undo(session: Session, model: str, event: gr.EventData) -> Screen:
        return chat.undo(session, models, model, field(event, "turn", int))

    def clear(session: Session, model: str) -> Screen:
        return chat.clear(session, models, model)

    def restore(session: Session, model: str) -> Screen:
        return chat.restore(session, models, model)

    def token(session: Session, event: gr.EventData) -> Screen:
        return chat.open_token(session, models, field(event, "turn", int), field(event, "index", int))

    def missing(session: Session, event: gr.EventData) -> Screen:
        return chat.open_run(session, models, field(event, "run", str))

    base = [parts.session, parts.model]
    set_up = [*base, *panel.inputs]
    runs, at_once = partial(handlers.screens, parts, outputs), partial(handlers.screen, parts, outputs)
    said = [*base, parts.message, *panel.inputs]
    gr.on([parts.message.submit, parts.send.click], runs(send), said, outputs, **RUNNING)
    parts.conversation.example(runs(example), set_up, outputs, **RUNNING)
    parts.conversation.retry(runs(retry), set_up, outputs, **RUNNING)
    parts.conversation.edit(runs(edit), set_up, outputs, **RUNNING)
    parts.conversation.undo(at_once(undo), base, outputs, **QUICK)
    parts.clear.click(at_once(clear), base, outputs, **QUICK)
    parts.restore.click(at_once(restore), base, outputs, **QUICK)
    parts.conversation.token(at_once(token), parts.session, outputs, trigger_mode="always_last", **QUICK)
    parts.inspector.missing(at_once(missing), parts.session, outputs, **QUICK)


def _wire_write(parts: Parts, models: Models) -> None:
    panel, outputs = parts.panel, parts.write_outputs

    def go(session: Session, model: str, text: str, *settings: object) -> Iterator[Screen]:
        return write.write(session, models, model, text, panel.read_as_it_is(settings))

    def one(session: Session, model: str, text: str, *settings: object) -> Iterator[Screen]:
        return write.write(session, models, model, text, replace(panel.read_as_it_is(settings), max_new_tokens=1))

    def take(session: Session, event: gr.EventData) -> Screen:
        return write.take(session, models, field(event, "index", int), field(event, "id", int))

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
    runs, at_once = partial(handlers.screens, parts, outputs), partial(handlers.screen, parts, outputs)
    parts.go.click(runs(go), [*written, *panel.inputs], outputs, **RUNNING)
    parts.one.click(runs(one), [*written, *panel.inputs], outputs, **RUNNING)
    parts.inspector.take(at_once(take), parts.session, outputs, **QUICK)
    parts.back.click(at_once(back), written, outputs, trigger_mode="multiple", **QUICK)
    parts.forth.click(at_once(forth), written, outputs, trigger_mode="multiple", **QUICK)
    parts.empty.click(at_once(empty), base, outputs, **QUICK)
    parts.text.input(at_once(preview), written, outputs, trigger_mode="always_last", **QUICK)


def _wire_page(parts: Parts, models: Models) -> None:
    def switch(session: Session, model: str, mode: str) -> Screen:
        possible = WRITE if mode == CHAT and models.get(model).chat is None else mode
        look = {CHAT: chat.overview, WRITE: write.overview, COMPARE: comparing.overview}[possible]
        return replace(look(session, models, model), mode=possible, corrected=possible != mode)

    def opened(event: gr.EventData) -> None:
        with for_people():
            misread = field(event, "misread", list)
            if misread:
                warn(misread_link(misread), seconds=None)

    parts.panel.form.opened(opened, None, None, js=HEARD, **QUICK)
    outputs = parts.all_outputs
    chosen = [parts.session, parts.model, parts.mode]
    switched = [parts.mode.input, parts.model.input]
    gr.on(switched, handlers.screen(parts, outputs, switch), chosen, outputs, trigger_mode="always_last", **QUICK)
    gr.on([parts.stop.click, parts.halt.click], Session.halt, parts.session, None, queue=False, **QUIET)
