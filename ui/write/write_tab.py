"""Write: a text that the model continues; its components, and the functions for their events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import gradio as gr

from ui.frame import Boxes, Frame, Tab
from ui.kit import assets
from ui.kit.button import button
from ui.kit.events import PREVIEW, QUIET, RUNNING
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.session import Session, halt
from ui.view import Part, disabled, hidden, visible
from ui.write import history
from ui.write import write_actions as write
from ui.write.kept_text import discard_text, open_text, write_document
from ui.write.write_endpoint import generate_endpoint
from ui.write.write_reproduction import write_reproduction
from ui.write.write_update import WriteUpdate

# The box is emptied at once, since the server's answer could meet new text. While there is no server, nothing is lost.
_EMPTIED = "(text) => (document.body.hasAttribute('data-offline') ? text : '')"
_SCORED = assets.call("kit/js/signals.js", "textToScore.publish")
_CHANGED = assets.call("kit/js/signals.js", "writtenText.publish")


class WriteTab(Tab):
    """Continues texts."""

    name = "Write"
    element = "attend-write"
    mode = "write"
    task = "generation"
    shows = WriteUpdate
    keeps_documents = True
    overview = staticmethod(write.overview)
    document = staticmethod(write_document)
    open_document = staticmethod(open_text)
    discard = staticmethod(discard_text)
    endpoint = staticmethod(generate_endpoint)
    reproduction = staticmethod(write_reproduction)

    def lay_out(self, models: Models, *, first: bool) -> None:
        with gr.Column(elem_id="attend-write"):
            self.text = gr.Textbox(
                "",
                placeholder="Type the beginning of a text and let the model continue it.",
                label="Text",
                show_label=False,
                container=False,
                lines=12,
                max_lines=12,  # of constant height: measuring a growing box costs more than drawing the tokens
                elem_id="attend-text",
            )
            with gr.Row(elem_id="attend-write-tools"):
                self.go = button("Continue", "attend-continue", variant="primary", min_width=100)
                self.halt = button("Stop", "attend-halt", variant="stop", visible=False, min_width=100)
                self.next_token = button("Next token", "attend-next", min_width=110)
                self.score = button("Score this text", "attend-score", size="sm")
                self.back = button("Undo", "attend-back", size="sm", interactive=False)
                self.forth = button("Redo", "attend-forth", size="sm", interactive=False)
                self.empty = button("Clear", "attend-empty", size="sm")

    @property
    def parts(self) -> Sequence[Part]:
        return [
            Part("running", self.text, disabled),  # what is typed meanwhile would be overwritten
            Part("text", self.text),
            Part("running", self.empty, disabled),
            Part("running", self.halt, visible),
            Part("running", self.go, hidden),
            Part("running", self.next_token, hidden),
            Part("ended", self.go, disabled),  # ui/write/ended.js says why
            Part("ended", self.next_token, disabled),
            Part("history", self.back, lambda history: disabled(not history[0])),
            Part("history", self.forth, lambda history: disabled(not history[1])),
        ]

    def reopened(self, session: Session, models: Models, name: str) -> PageUpdate:
        return replace(write.overview(session, models, name), text=session.draft.text)

    @property
    def boxes(self) -> Boxes:
        return {"text": self.text}

    def wire(self, frame: Frame) -> None:
        bind, text = partial(self.bind, frame), self.boxes
        bind(self.go.click, write.write, RUNNING, boxes=text)
        bind(self.next_token.click, write.next_token, RUNNING, boxes=text)
        bind(frame.inspector.take, write.take)
        bind(self.back.click, history.undo, boxes=text, trigger_mode="multiple")
        bind(self.forth.click, history.redo, boxes=text, trigger_mode="multiple")
        bind(self.text.input, write.preview, PREVIEW, boxes=text)
        self.empty.click(None, self.text, self.text, js=_EMPTIED, **QUIET)
        cleared = bind(self.empty.click, history.clear)
        bind(cleared.then, write.preview, PREVIEW, boxes=text)  # of what was typed meanwhile, if its preview was first
        self.score.click(None, self.text, None, js=_SCORED, **QUIET)  # ui/write/scores hears of both
        self.text.change(None, self.text, None, js=_CHANGED, **QUIET)
        self.halt.click(halt, frame.session, None, queue=False, **QUIET)
