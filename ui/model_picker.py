"""The choice of the model, above the settings: what can be chosen, what is on its way, and what to know about it; for a
translator its languages."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from ui import choosing
from ui.contract import ModelValue
from ui.models import Models
from ui.session import Session

_CANCEL = "Cancel"


@dataclass(frozen=True, slots=True)
class Picker:
    """The controls, once they are on the page."""

    listed: gr.Dropdown
    other: gr.Textbox
    state: gr.HTML
    cancel: gr.Button
    languages: gr.HTML

    @property
    def outputs(self) -> list[Component | BlockContext]:
        return [self.listed, self.other, self.state, self.cancel, self.languages]

    def render(self, value: ModelValue) -> dict[Block, Any]:
        """What these components show of it: everything that changes at all, since Gradio's page may lose what a
        generator leaves alone."""
        return {
            self.listed: gr.update(choices=value["choices"], value=value["name"]),
            self.other: gr.update(value="") if value["empties"] else gr.update(),  # somebody may be typing in it
            self.state: _said(value),
            self.cancel: gr.update(value=_CANCEL, visible=bool(value["title"])),
            self.languages: json.dumps(value["languages"]),
        }


def build(models: Models) -> Picker:
    """Lay it out where the caller stands; only where there is something to choose."""
    value = choosing.standing(Session(model=models.default), models)
    several = models.any_name or len(models.names) > 1
    listed = gr.Dropdown(
        value["choices"], value=value["name"], label="Model", visible=several, elem_id="attend-model", filterable=False
    )
    other = gr.Textbox(
        "",
        label="Another model",
        placeholder="folder or owner/name@revision",
        max_lines=1,
        visible=models.any_name,
        elem_id="attend-other-model",
    )
    state = gr.HTML(
        _said(value),
        html_template=_read("model_picker.html"),
        js_on_load=_read("model_picker.js"),
        apply_default_css=False,
        elem_id="attend-model-state",
    )
    cancel = gr.Button(_CANCEL, size="sm", visible=False, elem_id="attend-model-cancel")
    languages = gr.HTML(
        json.dumps(value["languages"]),
        html_template=_read("languages.html"),
        js_on_load=_read("languages.js"),
        apply_default_css=False,
        elem_id="attend-languages",
    )
    return Picker(listed, other, state, cancel, languages)


def _said(value: ModelValue) -> dict[str, Any]:
    told = {key: value[key] for key in ("title", "said", "share", "notes", "context", "way", "line", "name")}
    return {**told, "names": [name for _, name in value["choices"]]}


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
