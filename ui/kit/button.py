"""A button as wide as its label, for the rows of buttons under a component."""

from __future__ import annotations

from typing import Literal

import gradio as gr


def button(
    label: str,
    elem_id: str,
    *,
    variant: Literal["primary", "secondary", "stop"] = "secondary",
    size: Literal["sm", "lg"] = "lg",
    min_width: int = 70,
    visible: bool = True,
    interactive: bool = True,
) -> gr.Button:
    """Add the button to the current Gradio context."""
    return gr.Button(
        label,
        variant=variant,
        size=size,
        scale=0,
        min_width=min_width,
        visible=visible,
        interactive=interactive,
        elem_id=elem_id,
    )
