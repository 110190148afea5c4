"""The components of Write: the box for a text, and the buttons that go on with it or back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from ui.button import button
from ui.screen import Screen


@dataclass(frozen=True, slots=True)
class WriteParts:
    """The components, once they are on the page."""

    text: gr.Textbox
    go: gr.Button
    halt: gr.Button
    one: gr.Button
    back: gr.Button
    forth: gr.Button
    empty: gr.Button

    @property
    def outputs(self) -> list[Component | BlockContext]:
        """Everything of it that a continuation changes."""
        return [self.text, self.go, self.one, self.halt, self.back, self.forth, self.empty]

    def render(self, screen: Screen) -> dict[Block, Any]:
        """The new values of these components."""
        changes: dict[Block, Any] = {}
        if screen.text is not None:
            changes[self.text] = screen.text
        if screen.running is not None:
            free = gr.update(interactive=not screen.running)  # what is typed meanwhile would be overwritten
            changes[self.text] = free if screen.text is None else {**free, "value": screen.text}
            changes[self.empty] = gr.update(interactive=not screen.running)
            changes[self.halt] = gr.update(visible=screen.running)
            for start in (self.go, self.one):
                changes[start] = gr.update(visible=not screen.running)
        if screen.history is not None:
            for turn, possible in zip((self.back, self.forth), screen.history, strict=True):
                changes[turn] = gr.update(interactive=possible)
        return changes


def lay_out() -> WriteParts:
    """Put it where the caller stands."""
    with gr.Column(elem_id="attend-write"):
        text = gr.Textbox(
            "",
            placeholder="Type the beginning of a text and let the model go on.",
            label="Text",
            show_label=False,
            container=False,
            lines=12,
            max_lines=12,  # a box of one height: to measure a growing one costs more than to draw the tokens
            elem_id="attend-text",
        )
        with gr.Row(elem_id="attend-write-tools"):
            go = button("Continue", "attend-continue", variant="primary", min_width=100)
            halt = button("Stop", "attend-halt", variant="stop", visible=False, min_width=100)
            one = button("Next token", "attend-next", min_width=110)
            back = button("Undo", "attend-back", size="sm", interactive=False)
            forth = button("Redo", "attend-forth", size="sm", interactive=False)
            empty = button("Clear", "attend-empty", size="sm")
    return WriteParts(text, go, halt, one, back, forth, empty)
