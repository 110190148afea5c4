"""The conversation on the page."""

from __future__ import annotations

import gradio as gr

from ui.kit.component import component


def build() -> gr.HTML:
    """The conversation; its values are a `ConversationValue` or an `AnswerUpdate`, packed."""
    return component("chat/conversation.js", "token", "retry", "undo", "edit", "example", "missing")
