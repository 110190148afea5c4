"""The box for a system prompt and its examples, above the settings, for models that take a system prompt."""

from __future__ import annotations

from typing import Any

import gradio as gr

from ui.kit.component import component

_INFO = "Instructions that the model reads before the conversation."


def build(no_system: str) -> tuple[gr.Textbox, gr.HTML]:
    """Add the box and its examples to the current Gradio context; see `box_update`."""
    box = gr.Textbox(
        "",
        label="System prompt",
        placeholder="For example: You are a pirate.",
        lines=2,
        max_lines=8,
        elem_id="attend-system",
        **_state(no_system),
    )
    examples = component("settings/system_examples.js", name="system-examples")
    examples.visible = not no_system
    return box, examples


def box_update(no_system: str) -> dict[str, Any]:
    """The box for this model; the text stays for the next model that supports system prompts.

    Args:
        no_system: why the model takes no system prompt; empty if it takes one.
    """
    return gr.update(**_state(no_system))


def _state(no_system: str) -> dict[str, Any]:
    info = f"This model doesn't support system prompts: {no_system}." if no_system else _INFO
    return {"info": info, "interactive": not no_system}
