"""Copying as code: what the panel's last button asks for; its dialog is laid out with the panel."""

from __future__ import annotations

import time
from typing import Any

import gradio as gr

from model.errors import AttendError
from ui import code
from ui.chat import drawn_seed, instruct
from ui.checks import checked_text
from ui.choosing import current
from ui.errors import for_people
from ui.handlers import QUICK
from ui.layout import COMPARE, TRANSLATE, WRITE, Parts
from ui.models import Models
from ui.session import Session


def wire(parts: Parts, models: Models) -> None:
    panel = parts.panel

    def show(
        session: Session, mode: str, system: object, message: object, text: object, given: object, *settings: object
    ) -> Any:
        with for_people():
            if mode == COMPARE:
                raise AttendError(
                    "A comparison is no single command: save its JSON, or switch to another of the entries."
                )
            loaded, chosen = models.get(current(session, models)), panel.read_as_it_is(settings)
            if mode == TRANSLATE:
                asked = code.asked_in_translate(session, loaded, checked_text(given, "The text"), chosen)
            elif mode == WRITE or loaded.chat is None:
                asked = code.asked_in_write(session, loaded, checked_text(text, "The text"), chosen)
            else:
                instruct(session, system)
                asked = code.asked_in_chat(session, loaded, checked_text(message, "The message"), chosen)
            # a new value opens it, even with the same text
            return {"blocks": code.blocks(asked), "seed": drawn_seed(asked.settings), "opened": time.time()}
        return gr.skip()

    boxes = [parts.system, parts.chatting.message, parts.writing.text, parts.translating.given]
    said = [parts.session, parts.mode, *boxes, *panel.inputs]
    panel.code.click(show, said, panel.dialog, **QUICK)
