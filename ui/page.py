"""The page: which function answers which event.

What the functions do is in `ui/chat.py` and `ui/write.py`, what is where in `ui/layout.py`; here they are joined. What
belongs to Translate, to Compare, to the code and to the record is joined in files of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import gradio as gr

from model import catalog
from model.encoder import Encoder
from model.errors import AttendError
from model.loaded import LoadedModel
from ui import (
    chat,
    code_page,
    compare_page,
    comparing,
    endpoints,
    handlers,
    inspect_page,
    inspecting,
    lesson_page,
    model_page,
    record_page,
    translate,
    translate_page,
    write,
)
from ui.choosing import current
from ui.errors import for_people, warn
from ui.handlers import QUICK, QUIET, RUNNING, field
from ui.layout import CHAT, COMPARE, TRANSLATE, WRITE, Parts, lay_out, modes
from ui.models import Models
from ui.prompt_value import prompt_value
from ui.refusals import Page
from ui.screen import Screen
from ui.session import Here, Session
from ui.settings_panel import HEARD
from ui.ways import misread_link


def build(models: Models) -> gr.Blocks:
    """The whole page, with the endpoints for programs."""
    with Page(title="Attend", fill_width=True, analytics_enabled=False) as page:
        parts, here = lay_out(models), Here()
        _wire_chat(parts, models)
        _wire_write(parts, models)
        translate_page.wire(parts, models)
        compare_page.wire(parts, models)
        lesson_page.wire(parts, models, here)
        code_page.wire(parts, models)
        _wire_page(parts, models)
        model_page.wire(page, parts, models, here, partial(_arrived, models))
        inspect_page.wire(parts.inspection, _encoder_of, [parts.session])
        record_page.wire(parts.session, parts.record, parts.inspector, models)
        endpoints.register(models)
    return page


def _wire_chat(parts: Parts, models: Models) -> None:
    chatting, panel, outputs = parts.chatting, parts.panel, parts.chat_outputs

    def send(session: Session, system: str, text: str, *settings: object) -> Iterator[Screen]:
        chat.instruct(session, system)
        return chat.send(session, models, current(session, models), text, panel.read(settings))

    def example(session: Session, system: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        chat.instruct(session, system)
        return chat.send(session, models, current(session, models), field(event, "text", str), panel.read(settings))

    def retry(session: Session, system: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        chat.instruct(session, system)
        return chat.retry(session, models, current(session, models), field(event, "turn", int), panel.read(settings))

    def edit(session: Session, system: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        chat.instruct(session, system)
        turn, text = field(event, "turn", int), field(event, "text", str)
        return chat.edit(session, models, current(session, models), turn, text, panel.read(settings))

    def undo(session: Session, event: gr.EventData) -> Screen:
        return chat.undo(session, models, current(session, models), field(event, "turn", int))

    def clear(session: Session) -> Screen:
        return chat.clear(session, models, current(session, models))

    def restore(session: Session) -> Screen:
        return chat.restore(session, models, current(session, models))

    def token(session: Session, event: gr.EventData) -> Screen:
        return chat.open_token(session, models, field(event, "turn", int), field(event, "index", int))

    def missing(session: Session, event: gr.EventData) -> Screen:
        return chat.open_run(session, models, field(event, "run", str))

    def instruct(session: Session, system: str) -> Screen:
        chat.instruct(session, system)
        return Screen(prompt=prompt_value(session, models.get(current(session, models))))

    set_up = [parts.session, parts.system, *panel.inputs]
    runs, at_once = partial(handlers.screens, parts, outputs), partial(handlers.screen, parts, outputs)
    said = [parts.session, parts.system, chatting.message, *panel.inputs]
    gr.on([chatting.message.submit, chatting.send.click], runs(send), said, outputs, **RUNNING)
    chatting.conversation.example(runs(example), set_up, outputs, **RUNNING)
    chatting.conversation.retry(runs(retry), set_up, outputs, **RUNNING)
    chatting.conversation.edit(runs(edit), set_up, outputs, **RUNNING)
    chatting.conversation.undo(at_once(undo), parts.session, outputs, **QUICK)
    chatting.clear.click(at_once(clear), parts.session, outputs, **QUICK)
    chatting.restore.click(at_once(restore), parts.session, outputs, **QUICK)
    chatting.conversation.token(at_once(token), parts.session, outputs, trigger_mode="always_last", **QUICK)
    instructed = [parts.session, parts.system]
    # `input` would miss a text that is pasted or set by the browser
    parts.system.change(at_once(instruct), instructed, outputs, trigger_mode="always_last", **QUICK)
    parts.inspector.missing(at_once(missing), parts.session, outputs, **QUICK)


def _wire_write(parts: Parts, models: Models) -> None:
    writing, panel, outputs = parts.writing, parts.panel, parts.write_outputs

    def go(session: Session, text: str, *settings: object) -> Iterator[Screen]:
        return write.write(session, models, current(session, models), text, panel.read_as_it_is(settings))

    def one(session: Session, text: str, *settings: object) -> Iterator[Screen]:
        return write.write(
            session, models, current(session, models), text, replace(panel.read_as_it_is(settings), max_new_tokens=1)
        )

    def take(session: Session, event: gr.EventData) -> Screen:
        return write.take(session, models, field(event, "index", int), field(event, "id", int))

    def back(session: Session, text: str) -> Screen:
        return write.undo(session, models, current(session, models), text)

    def forth(session: Session, text: str) -> Screen:
        return write.redo(session, models, current(session, models), text)

    def empty(session: Session) -> Screen:
        return write.clear(session, models, current(session, models))

    def preview(session: Session, text: str) -> Screen:
        return write.preview(session, models, current(session, models), text)

    written = [parts.session, writing.text]
    runs, at_once = partial(handlers.screens, parts, outputs), partial(handlers.screen, parts, outputs)
    writing.go.click(runs(go), [*written, *panel.inputs], outputs, **RUNNING)
    writing.one.click(runs(one), [*written, *panel.inputs], outputs, **RUNNING)
    parts.inspector.take(at_once(take), parts.session, outputs, **QUICK)
    writing.back.click(at_once(back), written, outputs, trigger_mode="multiple", **QUICK)
    writing.forth.click(at_once(forth), written, outputs, trigger_mode="multiple", **QUICK)
    writing.empty.click(at_once(empty), parts.session, outputs, **QUICK)
    writing.text.input(at_once(preview), written, outputs, trigger_mode="always_last", **QUICK)


def _wire_page(parts: Parts, models: Models) -> None:
    def opened(event: gr.EventData) -> None:
        with for_people():
            misread = field(event, "misread", list)
            if misread:
                warn(misread_link(misread), seconds=None)

    parts.panel.form.opened(opened, None, None, js=HEARD, **QUICK)
    outputs = parts.all_outputs

    def switch(session: Session, mode: str, clicks: float) -> Screen:
        if clicks > session.clicks:  # of two clicks the second may be heard first
            session.asked, session.clicks = mode, int(clicks)
        shown = _moving(models, session, _looked_at(models, session), stood=mode)
        if (mode, shown.mode) == (CHAT, WRITE):
            name = current(session, models)
            warn(f"{name} was not made for conversations, so it goes on writing: choose a model that chats.")
        return shown

    handlers.then_move(
        # Every click with the value that it chose: a later one would else be sent with what an answer has put there.
        parts.mode.input(
            handlers.screen(parts, outputs, switch),
            [parts.session, parts.mode, parts.clicks],
            outputs,
            js=handlers.CLICKED,
            trigger_mode="multiple",
            **QUICK,
        ),
        parts,
    )
    gr.on(
        [parts.chatting.stop.click, parts.writing.halt.click], Session.halt, parts.session, None, queue=False, **QUIET
    )


def _looked_at(models: Models, session: Session) -> Screen:
    """The page as the visitor asked for it last, as far as their model can do it; an encoder in its place while they
    look into one."""
    if session.encoder is not None:
        return Screen(inspection=inspecting.overview(session.encoder, waiting=catalog.called(session.model)))
    asked, chosen, name = session.asked, session.model, current(session, models)
    loaded = models.get(name)
    possible = _possible(loaded, asked, coming=session.choosing is not None)
    look = {
        CHAT: chat.overview,
        WRITE: write.overview,
        TRANSLATE: translate.overview,
        COMPARE: comparing.overview,
    }.get(possible)
    screen = look(session, models, name) if look else Screen()  # a lesson is the same for all
    shown = replace(screen, mode=possible, no_system=loaded.no_system)
    return shown if (session.asked, session.model) == (asked, chosen) else _looked_at(models, session)


def _arrived(models: Models, session: Session, mode: str, clicks: float) -> Screen:
    """The same where another model has come.

    Args:
        mode: where the switch stood when this was asked for.
        clicks: how often it had been clicked by then; the last one may still be on the way.
    """
    if clicks > session.clicks or not session.asked:
        session.asked = mode
    return _moving(models, session, _looked_at(models, session), stood=mode)


def _moving(models: Models, session: Session, shown: Screen, *, stood: str) -> Screen:
    """The screen, with the switch where it belongs and the entries of the visitor's model."""
    if shown.mode is None:
        return shown
    session.moves += 1
    entries = list(modes(models.get(current(session, models))))
    return replace(shown, move={"number": session.moves, "stood": stood, "to": shown.mode, "entries": entries})


def _possible(loaded: LoadedModel, asked: str, *, coming: bool) -> str:
    """The entry of the switch that was asked for or, where the model cannot do it, what comes nearest.

    Args:
        coming: whether another model is on its way, which may chat: nobody is sent away from a message they began.
    """
    if asked not in modes(loaded):
        asked = modes(loaded)[0]
    return WRITE if asked == CHAT and loaded.chat is None and not coming else asked


def _encoder_of(session: Session) -> Encoder:
    if session.encoder is None:
        raise AttendError("No encoder is chosen any more: choose one in the settings.")
    return session.encoder
