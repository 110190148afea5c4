"""The components of Translate: the box, its buttons, what was written, and where the model looked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from ui import views
from ui.button import button
from ui.contract import TranslationValue
from ui.screen import Screen


@dataclass(frozen=True, slots=True)
class TranslateParts:
    """The components, once they are on the page."""

    given: gr.Textbox
    go: gr.Button
    stop: gr.Button
    clear: gr.Button
    translation: gr.HTML
    alignment: gr.HTML

    @property
    def outputs(self) -> list[Component | BlockContext]:
        """Everything of it that a translation changes."""
        return [self.given, self.go, self.stop, self.translation, self.alignment]

    def render(self, screen: Screen) -> dict[Block, Any]:
        """The new values of these components."""
        changes: dict[Block, Any] = {}
        if screen.given is not None:
            changes[self.given] = screen.given
        if screen.translation is not None:
            changes[self.translation] = views.packed(screen.translation)
        if screen.alignment is not None:
            changes[self.alignment] = views.packed(screen.alignment) if screen.alignment else ""
        if screen.running is not None:
            changes[self.go] = gr.update(visible=not screen.running)
            changes[self.stop] = gr.update(visible=screen.running)
        return changes


def lay_out(value: TranslationValue | None) -> TranslateParts:
    """Put it where the caller stands.

    Args:
        value: what it shows first, where the page begins with it.
    """
    with gr.Column(elem_id="attend-translate"):
        given = gr.Textbox(
            "",
            placeholder="Type a text to translate",
            label="Text to translate",
            show_label=False,
            container=False,
            lines=1,  # so that Enter translates
            max_lines=8,
            autofocus=value is not None,
            elem_id="attend-given",
        )
        with gr.Row(elem_id="attend-translate-tools"):
            go = button("Translate", "attend-go", variant="primary", min_width=110)
            stop = button("Stop", "attend-translate-stop", variant="stop", visible=False, min_width=110)
            clear = button("Clear", "attend-translate-clear", size="sm")
        translation, alignment = views.translation(), views.alignment()
    if value is not None:
        translation.value = views.packed(value)
    return TranslateParts(given, go, stop, clear, translation, alignment)
