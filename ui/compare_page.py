"""Which function answers which event of Compare; its component is laid out in `ui/layout.py` with the others."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import gradio as gr

from ui import chat, comparing, handlers
from ui.choosing import current
from ui.compare_values import card_settings
from ui.handlers import QUICK, QUIET, RUNNING, field
from ui.layout import Parts
from ui.models import Models
from ui.screen import Screen
from ui.session import Session


def wire(parts: Parts, models: Models) -> None:
    panel, outputs = parts.panel, parts.compare_outputs

    def run(session: Session, system: str, event: gr.EventData, *settings: object) -> Iterator[Screen]:
        chat.instruct(session, system)
        return comparing.compare(
            session,
            models,
            current(session, models),
            field(event, "text", str),
            field(event, "cards", list),
            answer=field(event, "answer", bool),
            history=field(event, "history", bool),
            common_draws=field(event, "common", bool),
            panel=panel.read(settings),
        )

    def take(event: gr.EventData, *settings: object) -> Screen:
        number = field(event, "number", int)
        return Screen(comparison={"number": number, "settings": card_settings(panel.read(settings))})

    def token(session: Session, event: gr.EventData) -> Screen:
        return comparing.open_token(session, models, field(event, "run", str), field(event, "index", int))

    def remove(session: Session, event: gr.EventData) -> Screen:
        return comparing.remove(session, models, current(session, models), field(event, "runs", list))

    def file(session: Session, event: gr.EventData) -> Screen:
        return comparing.file(session, field(event, "number", int), field(event, "kind", str))

    def missing(session: Session) -> Screen:
        return comparing.whole(session, models, current(session, models))

    view, at_once = parts.comparison, partial(handlers.screen, parts, outputs)
    going = handlers.screens(parts, outputs, run)
    view.compare(going, [parts.session, parts.system, *panel.inputs], outputs, **RUNNING)
    view.panel(at_once(take), panel.inputs, outputs, **QUICK)
    view.token(at_once(token), parts.session, outputs, trigger_mode="always_last", **QUICK)
    view.remove(at_once(remove), parts.session, outputs, trigger_mode="multiple", **QUICK)
    view.file(at_once(file), parts.session, outputs, **QUICK)
    view.missing(at_once(missing), parts.session, outputs, **QUICK)
    view.halt(Session.halt, parts.session, None, queue=False, **QUIET)
