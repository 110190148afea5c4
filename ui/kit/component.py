"""Components of the page that are drawn by our own scripts.

Each is a `gr.HTML` whose script (a `.js` file in ui/) draws with `textContent` only, so a token is text and never
markup. The type of its value is declared in the contract of its room.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import gradio as gr

from ui.kit import assets
from ui.kit.packing import packed


def component(script: str, *events: str, name: str = "", **props: Mapping[str, object]) -> gr.HTML:
    """A component that is drawn by its script alone.

    Args:
        script: the path of its module in ui/.
        events: the events that its script triggers.
        name: the name by which styles and tests find its element; by default that of the script.
        props: values that its script receives once, packed.
    """
    name = name or Path(script).stem
    return gr.HTML(
        html_template=f'<div class="attend-{name} at-view"></div>',
        js_on_load=assets.loader(script, *events),
        head=assets.head(script),  # `launch(css=…)` drops container queries and rewrites selectors wrongly
        apply_default_css=False,  # Gradio's prose styles are made for articles
        padding=False,
        elem_id=f"attend-{name}",
        **{prop: packed(value) for prop, value in props.items()},  # pyright: ignore[reportArgumentType]
    )
