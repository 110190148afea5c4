"""The system prompt's box, between the model picker and the settings; enabled if the model takes a system prompt."""

from __future__ import annotations

from typing import Any

import gradio as gr

_TAKEN = "Instructions that the model reads before the conversation."


def build(no_system: str) -> gr.Textbox:
    """Add the box to the current Gradio context; see `update`."""
    return gr.Textbox(
        "",
        label="System prompt",
        placeholder="You are a pirate.",
        lines=2,
        max_lines=8,
        elem_id="attend-system",
        **_state(no_system),
    )


def update(no_system: str) -> dict[str, Any]:
    """The box for this model; its text stays for the next model that supports system prompts.

    Args:
        no_system: why the model takes none; empty where it does.
    """
    return gr.update(**_state(no_system))


def _state(no_system: str) -> dict[str, Any]:
    info = f"This model doesn't support system prompts: {no_system}." if no_system else _TAKEN
    return {"info": info, "interactive": not no_system}
