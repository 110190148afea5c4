"""Translate: a text and its translation, the components and which function answers which of their events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import gradio as gr

from ui.examples.recorded import offers_examples
from ui.frame import Boxes, Frame, Tab
from ui.kit.button import button
from ui.kit.component import component
from ui.kit.events import QUIET, RUNNING
from ui.kit.packing import packed
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.session import Session, halt
from ui.translate import translate_actions as translate
from ui.translate.kept_translation import discard_translation, open_translation, translate_document
from ui.translate.translate_actions import TranslateUpdate, awaiting_model, translation_value
from ui.translate.translate_endpoint import translate_endpoint
from ui.translate.translate_reproduction import translate_reproduction
from ui.view import Part


class TranslateTab(Tab):
    """For encoders that have a decoder."""

    name = "Translate"
    element = "attend-translate"
    mode = "translate"
    task = "translation"
    shows = TranslateUpdate
    keeps_documents = True
    overview = staticmethod(translate.overview)
    document = staticmethod(translate_document)
    open_document = staticmethod(open_translation)
    discard = staticmethod(discard_translation)
    endpoint = staticmethod(translate_endpoint)
    reproduction = staticmethod(translate_reproduction)

    def lay_out(self, models: Models, *, first: bool) -> None:
        with gr.Column(elem_id="attend-translate"):
            self.source = gr.Textbox(
                "",
                placeholder="Type a text to translate",
                label="Text to translate",
                show_label=False,
                container=False,
                lines=1,  # so that Enter translates
                max_lines=8,
                autofocus=first,
                elem_id="attend-given",
            )
            with gr.Row(elem_id="attend-translate-tools"):
                self.go = button("Translate", "attend-go", variant="primary", min_width=110)
                self.stop = button("Stop", "attend-translate-stop", variant="stop", min_width=110)
                self.clear = button("Clear", "attend-translate-clear", size="sm")
            self.translation = component(
                "translate/translation.js",
                "token",
                "example",
                "missing",
                beginning={"recorded": offers_examples(models.names)},
            )
            self.alignment = component("translate/alignment.js", "token")
        brought = awaiting_model(models.for_task("translation"))
        self.translation.value = packed(translation_value(Session(), models.first) if first else brought)

    @property
    def parts(self) -> Sequence[Part]:
        return [
            Part("source", self.source),
            Part("answer", self.translation, packed),
            Part("translation", self.translation, packed, beside=("number",)),
            Part("alignment", self.alignment, packed, beside=("number",)),
        ]

    def reopened(self, session: Session, models: Models, name: str) -> PageUpdate:
        source = session.translation.text if session.translation else ""
        return replace(translate.overview(session, models, name), source=source)

    @property
    def boxes(self) -> Boxes:
        return {"text": self.source}

    def wire(self, frame: Frame) -> None:
        bind = partial(self.bind, frame)
        bind([self.source.submit, self.go.click], translate.translate_box, RUNNING, boxes=self.boxes)
        bind(self.translation.example, partial(translate.translate, example=True), RUNNING)
        bind(self.translation.missing, translate.resend, trigger_mode="always_last")
        bind(self.clear.click, translate.clear)
        for view in (self.translation, self.alignment):
            bind(view.token, translate.open_token, trigger_mode="multiple")
        self.stop.click(halt, frame.session, None, queue=False, **QUIET)
