"""What is shown of an encoder alone, on a page of its own or in the place of the chat: what is there, and where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block
from gradio.components import Component

from ui import inspecting, views
from ui.contract import InspectionValue

_SENTENCES = "\n".join(inspecting.SENTENCES)


@dataclass(frozen=True, slots=True)
class InspectParts:
    """The components, once they are on the page."""

    side: gr.Column
    about: gr.HTML
    text: gr.Textbox
    read: gr.Button
    reading: gr.HTML
    sentences: gr.Textbox
    word: gr.Textbox
    layer: gr.Dropdown
    compare: gr.Button
    words: gr.HTML

    @property
    def outputs(self) -> list[Component]:
        """Everything that another encoder changes."""
        return [self.about, self.text, self.reading, self.sentences, self.word, self.layer, self.words]

    def render(self, value: InspectionValue) -> dict[Block, Any]:
        """What these components show of an encoder that has just been chosen."""
        return {
            self.about: value["about"],
            self.text: inspecting.TEXT,
            self.reading: views.packed(value["reading"]),
            self.sentences: _SENTENCES,
            self.word: inspecting.WORD,
            self.layer: gr.update(choices=value["layers"], value=value["layers"][-1][1]),
            self.words: views.packed(value["words"]),
        }


def lay_out(value: InspectionValue | None = None) -> InspectParts:
    """Put it where the caller stands; without an encoder it is not seen."""
    layers = [] if value is None else value["layers"]
    with gr.Column(visible=value is not None, elem_id="attend-inspect") as side:
        about = views.about()
        with gr.Row(elem_id="attend-inspect-sides"):
            with gr.Column(min_width=320):
                with gr.Row(elem_classes="attend-ask"):
                    text = gr.Textbox(
                        inspecting.TEXT,
                        label="A text to read",
                        lines=1,
                        max_lines=6,
                        scale=1,
                        elem_id="attend-read-text",
                    )
                    read = gr.Button("Read", variant="primary", scale=0, min_width=84, elem_id="attend-read")
                reading = views.reading()
            with gr.Column(min_width=320):
                sentences = gr.Textbox(
                    _SENTENCES, label="Sentences, one a line", lines=4, max_lines=8, elem_id="attend-sentences"
                )
                with gr.Row(elem_classes="attend-ask"):
                    word = gr.Textbox(
                        inspecting.WORD,
                        label="A word in all of them",
                        lines=1,
                        max_lines=1,
                        scale=1,
                        min_width=120,
                        elem_id="attend-word",
                    )
                    layer = gr.Dropdown(
                        layers,
                        value=len(layers) - 1 if layers else None,
                        label="As it leaves",
                        scale=1,
                        min_width=120,
                        elem_id="attend-layer",
                    )
                    compare = gr.Button(
                        "Compare", variant="primary", scale=0, min_width=96, elem_id="attend-compare-words"
                    )
                words = views.words()
    if value is not None:
        about.value, reading.value, words.value = (
            value["about"],
            views.packed(value["reading"]),
            views.packed(value["words"]),
        )
    return InspectParts(side, about, text, read, reading, sentences, word, layer, compare, words)
