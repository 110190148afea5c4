"""What answers which event of an encoder alone, which cannot generate, and the page of its own with its endpoints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.events import api

from model.encoder import Encoder
from model.errors import AttendError
from ui import header, inspecting, views
from ui.checks import checked_text
from ui.errors import for_people, for_programs
from ui.handlers import RUNNING
from ui.inspect_parts import InspectParts, lay_out
from ui.refusals import Page


def build(encoder: Encoder) -> gr.Blocks:
    """The whole page, with the endpoints for programs."""
    with Page(title="Attend", fill_width=True, analytics_enabled=False) as page:
        header.lay_out(encoder)
        parts = lay_out(inspecting.overview(encoder))
        wire(parts, lambda: encoder)
        _endpoints(encoder)
    return page


def wire(parts: InspectParts, encoder_of: Callable[..., Encoder], known_by: Sequence[Component] = ()) -> None:
    """
    Args:
        encoder_of: the encoder that is asked; given the values of the components `known_by`.
    """
    count = len(known_by)

    def read_text(*given: Any) -> Any:
        with for_people():
            return views.packed(inspecting.read(encoder_of(*given[:count]), *given[count:]))
        return gr.skip()

    def compare_words(*given: Any) -> Any:  # Gradio names a call by its function, and /compare is an endpoint
        with for_people():
            return views.packed(inspecting.compare(encoder_of(*given[:count]), *given[count:]))
        return gr.skip()

    reads = [parts.text.submit, parts.read.click]
    gr.on(reads, read_text, [*known_by, parts.text], parts.reading, trigger_mode="always_last", **RUNNING)
    compares = [parts.word.submit, parts.compare.click, parts.layer.input]
    asked = [*known_by, parts.word, parts.sentences, parts.layer]
    gr.on(compares, compare_words, asked, parts.words, trigger_mode="always_last", **RUNNING)


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
