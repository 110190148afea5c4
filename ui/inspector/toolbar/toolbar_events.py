"""What the page offers about the run that is shown: which function answers which question of the record's script.

Every question has a number, and the reply carries it: what has been overtaken is not drawn.
"""

from __future__ import annotations

import gradio as gr

from ui.frame import Frame
from ui.inspector.inspector_contract import OpenedRun
from ui.inspector.toolbar import counterfactual as whatif
from ui.inspector.toolbar import record, replay
from ui.kit.component import component
from ui.runs.session import Session

MAX_NAME = 200  # characters of a file's


def build() -> gr.HTML:
    """The record of the run that is shown; its values are `RecordReply`s."""
    form = whatif.whatif_form()
    return component("inspector/toolbar/toolbar.js", "save", "change_settings", "open_file", name="record", form=form)


def wire(frame: Frame, view: gr.HTML) -> None:
    frame.ask(view, "save", record.saved, "file")
    frame.ask(view, "change_settings", whatif.answer, "whatif", trigger_mode="once")  # what comes twice was asked again
    frame.bind(view.open_file, open_file, [frame], shows="inspector", trigger_mode="multiple")


def open_file(session: Session, text: str, file: str, number: int) -> OpenedRun:
    """The run of a file, which appears in the inspector."""
    return replay.opened(session, text, number, file[:MAX_NAME])
