"""Compare: one prompt under several cards of settings; its component and which function answers which of its events."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import gradio as gr

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.compare import actions as compare
from ui.compare.actions import CompareUpdate
from ui.compare.document import compare_document, open_comparison
from ui.compare.endpoint import compare_endpoint
from ui.compare.results.shared import shared
from ui.compare.values import card_settings, compare_form, no_comparison
from ui.examples.recorded import offers_examples
from ui.frame import Frame, Tab
from ui.kit.component import component
from ui.kit.events import QUICK, QUIET, RUNNING, field, reply
from ui.kit.packing import packed
from ui.runs.models import Models
from ui.runs.session import Session, halt
from ui.settings.code import Reproduction
from ui.view import Part


class CompareTab(Tab):
    """Takes any model, but doesn't keep the translator of Translate: to compare with it, choose it here."""

    name = "Compare"
    element = "attend-compare"
    mode = "compare"
    fallback_task = "generation"
    takes_system_prompt = True
    shows = CompareUpdate
    keeps_documents = True
    overview = staticmethod(compare.overview)
    document = staticmethod(compare_document)
    open_document = staticmethod(open_comparison)
    endpoint = staticmethod(compare_endpoint)

    def lay_out(self, models: Models, *, first: bool) -> None:
        form = compare_form()
        self.comparison = component(
            "compare/compare.js",
            "compare",
            "halt",
            "token",
            "remove",
            "missing",
            "panel",
            "file",
            "runs",
            "repeat",
            form=form,
            beginning={"recorded": offers_examples(models.names)},
        )
        # so that the page shows it at once, with no question to the server
        self.comparison.value = packed(no_comparison(chats=models.first.chat is not None))

    @property
    def parts(self) -> Mapping[str, Part]:
        return {"comparison": Part(self.comparison, packed, beside=("update",))}

    def reproduction(
        self, session: Session, loaded: LoadedModel, settings: DecodingSettings, system: object, *values: object
    ) -> Reproduction:
        raise AttendError("A comparison can't be copied as one command: download it as JSON, or switch to another tab.")

    def wire(self, frame: Frame) -> None:
        panel = frame.panel

        def panel_settings(event: gr.EventData, *settings: object) -> Any:
            return reply(event, lambda: {"settings": card_settings(panel.read(settings))})

        def file(session: Session, event: gr.EventData) -> Any:
            return reply(event, lambda: {"file": compare.file(session, field(event, "kind", str))})

        def runs(session: Session, event: gr.EventData) -> Any:
            return reply(event, lambda: {"file": shared(session, frame.models)})

        bind, view = partial(self.bind, frame), self.comparison
        bind(view.compare, compare.compare, RUNNING)
        bind(view.repeat, compare.repeat, RUNNING)
        bind(view.token, compare.open_token, trigger_mode="multiple")
        bind(view.remove, compare.remove, trigger_mode="multiple")
        bind(view.missing, compare.resend, trigger_mode="multiple")
        view.panel(panel_settings, panel.inputs, view, trigger_mode="multiple", **QUICK)
        view.file(file, frame.session, view, trigger_mode="multiple", **QUICK)
        view.runs(runs, frame.session, view, trigger_mode="multiple", **QUICK)
        view.halt(halt, frame.session, None, queue=False, **QUIET)
