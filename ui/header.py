"""The line above the page: its name, what it is in one line, and its buttons."""

from __future__ import annotations

from pathlib import Path

import gradio as gr

from model.encoder import Encoder
from model.loaded import LoadedModel
from ui.translate import is_translator


def line(model: LoadedModel | Encoder) -> str:
    """What the page is for with this model."""
    if not isinstance(model, LoadedModel):
        return "Look into an encoder: where its tokens look, and what it makes of a word."
    if is_translator(model):
        return "Translate with a small language model and watch it choose every word."
    if model.chat is None:
        return "Write with a small language model and watch it choose every word."
    return "Chat with a small language model and watch it choose every word."


def lay_out(model: LoadedModel | Encoder) -> None:
    """Put it where the caller stands; its line follows the model that is chosen."""
    template = _read("header.html").replace("<!-- line -->", line(model))
    gr.HTML(html_template=template, js_on_load=_read("header.js"), apply_default_css=False, elem_id="attend-header")


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
