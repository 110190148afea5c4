"""The view of an encoder alone, on its own page or instead of the tabs: components and their events."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from gradio.components import Component

from model.encoder import Encoder
from ui.encoder import encoder_actions
from ui.encoder.encoder_actions import EncoderUpdate
from ui.encoder.encoder_contract import InspectionValue
from ui.kit.button import button
from ui.kit.component import component
from ui.kit.errors import for_people
from ui.kit.events import RUNNING
from ui.kit.packing import packed
from ui.page_update import PageUpdate
from ui.view import Changes, Output, View

_NEWEST = {**RUNNING, "trigger_mode": "always_last"}  # of several questions the last one counts
_SENTENCES = "\n".join(encoder_actions.SENTENCES)


class EncoderView(View):
    """Hidden until an encoder is chosen; then a style hides everything else."""

    def lay_out(self, value: InspectionValue | None = None) -> None:
        """Add the view to the current Gradio context, hidden without a value."""
        layers = [] if value is None else value["layers"]
        with gr.Column(visible=value is not None, elem_id="attend-inspect") as self.side:
            self.about = component("encoder/about.js")
            with gr.Row(elem_id="attend-inspect-sides"):
                with gr.Column(min_width=320):
                    with gr.Row(elem_classes="attend-ask"):
                        self.text = gr.Textbox(
                            encoder_actions.TEXT,
                            label="Text to read",
                            lines=1,
                            max_lines=6,
                            scale=1,
                            elem_id="attend-read-text",
                        )
                        self.read = button("Read", "attend-read", variant="primary", min_width=84)
                    self.reading = component("encoder/reading.js")
                with gr.Column(min_width=320):
                    self.sentences = gr.Textbox(
                        _SENTENCES, label="Sentences, one per line", lines=4, max_lines=8, elem_id="attend-sentences"
                    )
                    with gr.Row(elem_classes="attend-ask"):
                        self.word = gr.Textbox(
                            encoder_actions.WORD,
                            label="Word they all contain",
                            lines=1,
                            max_lines=1,
                            scale=1,
                            min_width=120,
                            elem_id="attend-word",
                        )
                        self.layer = gr.Dropdown(
                            layers,
                            value=len(layers) - 1 if layers else None,
                            label="Output of",
                            scale=1,
                            min_width=120,
                            elem_id="attend-layer",
                        )
                        self.compare = button("Compare", "attend-compare-words", variant="primary", min_width=96)
                    self.words = component("encoder/words.js")
        if value is not None:
            self.about.value, self.reading.value, self.words.value = (
                value["about"],
                packed(value["reading"]),
                packed(value["words"]),
            )

    @property
    def outputs(self) -> Sequence[Output]:
        """Everything that another encoder changes."""
        fields = [self.text, self.sentences, self.word, self.layer]
        return [self.side, self.about, self.reading, self.words, *fields]

    def render(self, update: PageUpdate) -> Changes:
        """Hidden again by every update of the switch."""
        if not isinstance(update, EncoderUpdate):
            return {} if update.tab is None else {self.side: gr.update(visible=False)}
        value = update.inspection
        return {
            self.side: gr.update(visible=True),
            self.about: value["about"],
            self.text: encoder_actions.TEXT,
            self.reading: packed(value["reading"]),
            self.sentences: _SENTENCES,
            self.word: encoder_actions.WORD,
            self.layer: gr.update(choices=value["layers"], value=value["layers"][-1][1]),
            self.words: packed(value["words"]),
        }

    def wire(self, encoder_of: Callable[..., Encoder], known_by: Sequence[Component] = ()) -> None:
        """
        Args:
            encoder_of: returns the encoder, given the values of the components `known_by`.
        """
        count = len(known_by)

        def answered(action: Callable[..., Any], inputs: Sequence[Any]) -> Any:
            with for_people():
                return packed(action(encoder_of(*inputs[:count]), *inputs[count:]))
            return gr.skip()

        def read_text(*values: Any) -> Any:
            return answered(encoder_actions.read, values)

        def compare_words(*values: Any) -> Any:  # Gradio names a call by its function, and /compare is an endpoint
            return answered(encoder_actions.compare, values)

        reads = [self.text.submit, self.read.click]
        gr.on(reads, read_text, [*known_by, self.text], self.reading, **_NEWEST)
        compares = [self.word.submit, self.compare.click, self.layer.input]
        inputs = [*known_by, self.word, self.sentences, self.layer]
        gr.on(compares, compare_words, inputs, self.words, **_NEWEST)
