"""The line above the page: its name, a short description, and its buttons."""

from __future__ import annotations

import gradio as gr

from ui.kit import assets
from ui.kit.events import QUICK


def lay_out() -> None:
    """Add the header to the current Gradio context."""
    template = assets.template("page/header.html")
    script = assets.loader("page/header.js", "poll")
    header = gr.HTML(html_template=template, js_on_load=script, apply_default_css=False, elem_id="attend-header")
    # Each poll opens a stream, see ui/kit/gradio/late_events.js.
    header.poll(lambda: None, None, None, trigger_mode="multiple", **QUICK)
