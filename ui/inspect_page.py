"""The page of an encoder alone, which cannot generate: what is on it, what answers which event, its endpoints."""

from __future__ import annotations

from typing import Any

import gradio as gr
from gradio.events import api

from model.encoder import Encoder
from model.errors import AttendError
from ui import inspecting, views
from ui.checks import checked_text
from ui.endpoints import Page
from ui.errors import for_people, for_programs
from ui.handlers import RUNNING
from ui.layout import header

_LINE = "Look into an encoder: where its tokens look, and what it makes of a word."


def build(encoder: Encoder) -> gr.Blocks:
    """The whole page, with the endpoints for programs."""
    with Page(title="Attend", fill_width=True, analytics_enabled=False) as page:
        header(_LINE)
        views.about(inspecting.about(encoder))
        with gr.Row(elem_id="attend-inspect"):
            with gr.Column(min_width=320):
                _one_text(encoder)
            with gr.Column(min_width=320):
                _one_word(encoder)
        _endpoints(encoder)
    return page


def _one_text(encoder: Encoder) -> None:
    with gr.Row(elem_classes="attend-ask"):
        text = gr.Textbox(
            inspecting.TEXT, label="A text to read", lines=1, max_lines=6, scale=1, elem_id="attend-read-text"
        )
        button = gr.Button("Read", variant="primary", scale=0, min_width=84, elem_id="attend-read")
    reading = views.reading()
    reading.value = views.packed(inspecting.read(encoder, inspecting.TEXT))

    def read(given: object) -> Any:
        with for_people():
            return views.packed(inspecting.read(encoder, given))
        return gr.skip()

    gr.on([text.submit, button.click], read, text, reading, trigger_mode="always_last", **RUNNING)


def _one_word(encoder: Encoder) -> None:
    sentences = "\n".join(inspecting.SENTENCES)
    lines = gr.Textbox(sentences, label="Sentences, one a line", lines=4, max_lines=8, elem_id="attend-sentences")
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
            inspecting.layers(encoder),
            value=encoder.layer_count,
            label="As it leaves",
            scale=1,
            min_width=120,
            elem_id="attend-layer",
        )
        button = gr.Button("Compare", variant="primary", scale=0, min_width=96, elem_id="attend-compare-words")
    words = views.words()
    words.value = views.packed(inspecting.compare(encoder, inspecting.WORD, sentences, encoder.layer_count))

    def compare(*given: object) -> Any:
        with for_people():
            return views.packed(inspecting.compare(encoder, *given))
        return gr.skip()

    asked = [word.submit, button.click, layer.input]
    gr.on(asked, compare, [word, lines, layer], words, trigger_mode="always_last", **RUNNING)


def _endpoints(encoder: Encoder) -> None:
    def similarity(word: str, sentences: list[str], layer: int | None = None) -> dict[str, Any]:
        """Compare what a layer makes of one word in several sentences.

        Args:
            word: it must stand in every sentence.
            sentences: 2 to 12 of them.
            layer: 0 (the embeddings) to the last, which is the default.

        Returns:
            {"word", "layer", "pieces": its tokens in each sentence, "vectors", "cosines": of each vector to each}
        """
        with for_programs():
            if not isinstance(sentences, list):
                raise AttendError("The sentences are no list: send a list of texts.")
            given = "\n".join(" ".join(checked_text(one, "A sentence").split()) for one in sentences)
            chosen = encoder.layer_count if layer is None else layer
            value = inspecting.compare(encoder, word, given, chosen)
            return {**{key: value[key] for key in ("word", "pieces", "vectors", "cosines")}, "layer": chosen}

    def generate(prompt: str, model: str = encoder.name, settings: dict[str, Any] | None = None) -> dict[str, Any]:
        """Refused: an encoder continues no text."""
        with for_programs():
            raise AttendError(inspecting.about(encoder))

    api(similarity, api_name="similarity", concurrency_limit=4, concurrency_id="programs")
    api(generate, api_name="generate", concurrency_limit=4, concurrency_id="programs")
