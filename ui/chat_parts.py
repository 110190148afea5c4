"""The components of Chat: the conversation, the box for a message, their buttons, and the prompt under them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from ui import views
from ui.button import button
from ui.contract import ConversationValue, PromptValue
from ui.screen import Screen


@dataclass(frozen=True, slots=True)
class ChatParts:
    """The components, once they are on the page."""

    conversation: gr.HTML
    message: gr.Textbox
    send: gr.Button
    stop: gr.Button
    clear: gr.Button
    restore: gr.Button
    prompt: gr.HTML

    @property
    def outputs(self) -> list[Component | BlockContext]:
        """Everything of it that an answer changes."""
        return [self.conversation, self.message, self.prompt, self.send, self.stop, self.restore]

    def render(self, screen: Screen) -> dict[Block, Any]:
        """The new values of these components."""
        changes: dict[Block, Any] = {}
        if screen.conversation is not None:
            changes[self.conversation] = views.packed_conversation(screen.conversation)
        if screen.message is not None:
            changes[self.message] = screen.message
        if screen.prompt is not None:
            changes[self.prompt] = views.packed(screen.prompt)
        if screen.running is not None:
            changes[self.send] = gr.update(visible=not screen.running)
            changes[self.stop] = gr.update(visible=screen.running)
        if screen.replaced is not None:
            changes[self.restore] = gr.update(value=f"{screen.replaced}. Undo", visible=bool(screen.replaced))
        return changes


def lay_out(first: ConversationValue, prompt_first: PromptValue) -> ChatParts:
    """Put it where the caller stands, with what it shows before anybody has said anything."""
    with gr.Column(elem_id="attend-chat"):
        conversation = views.conversation()
        conversation.value = views.packed_conversation(first)
        with gr.Row(elem_id="attend-message-row"):
            message = gr.Textbox(
                "",
                placeholder="Say something",
                label="Message",
                show_label=False,
                container=False,
                lines=1,
                max_lines=6,
                scale=1,
                autofocus=True,
                elem_id="attend-message",
            )
            send = button("Send", "attend-send", variant="primary", min_width=84)
            stop = button("Stop", "attend-stop", variant="stop", visible=False, min_width=84)
        with gr.Row(elem_id="attend-chat-tools"):
            clear = button("Clear", "attend-clear", size="sm")
            restore = button("Cleared. Undo", "attend-restore", size="sm", visible=False)
        prompt = gr.HTML(
            views.packed(prompt_first),
            html_template=_read("prompt.html"),
            js_on_load=_read("prompt.js"),
            apply_default_css=False,
            elem_id="attend-prompt",
        )
    return ChatParts(conversation, message, send, stop, clear, restore, prompt)


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")
