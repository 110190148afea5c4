"""Which function answers which event of Translate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import gradio as gr

from ui import handlers, translate
from ui.choosing import current
from ui.handlers import QUICK, QUIET, RUNNING, field
from ui.layout import Parts
from ui.models import Models
from ui.screen import Screen
from ui.session import Session


def wire(parts: Parts, models: Models) -> None:
    own, panel, outputs = parts.translating, parts.panel, parts.translate_outputs

    def go(session: Session, text: str, *settings: object) -> Iterator[Screen]:
        return translate.translate(session, models, current(session, models), text, panel.read(settings))

    def example(session: Session, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        text, name = field(event, "text", str), current(session, models)
        return translate.translate(session, models, name, text, panel.read(settings), example=True)

    def clear(session: Session) -> Screen:
        return translate.clear(session, models, current(session, models))

    def token(session: Session, event: gr.EventData) -> Screen:
        return translate.open_token(session, models, field(event, "index", int))

    runs, at_once = partial(handlers.screens, parts, outputs), partial(handlers.screen, parts, outputs)
    gr.on([own.given.submit, own.go.click], runs(go), [parts.session, own.given, *panel.inputs], outputs, **RUNNING)
    own.translation.example(runs(example), [parts.session, *panel.inputs], outputs, **RUNNING)
    own.clear.click(at_once(clear), parts.session, outputs, **QUICK)
    for view in (own.translation, own.alignment):
        view.token(at_once(token), parts.session, outputs, trigger_mode="always_last", **QUICK)
    own.stop.click(Session.halt, parts.session, None, queue=False, **QUIET)
