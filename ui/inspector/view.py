"""The inspector on the page: its component."""

from __future__ import annotations

import gradio as gr

from ui.kit.component import component


def build() -> gr.HTML:
    """The tokens, the table and the attention map; its value is an `InspectorValue`, packed."""
    return component("inspector/inspector.js", "take", "missing")
