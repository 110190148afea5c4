"""Chat: a conversation, its components and which function answers which of their events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import gradio as gr

from model.loaded import LoadedModel
from ui.chat import chat_actions as chat
from ui.chat.chat_endpoint import chat_endpoint
from ui.chat.chat_reproduction import chat_reproduction
from ui.chat.chat_update import ChatUpdate, overview
from ui.chat.conversation_value import conversation_value
from ui.chat.formatted.markdown import trees
from ui.chat.kept_chat import chat_document, discard_chat, open_chat
from ui.chat.message_tokens import find_message_tokens
from ui.chat.prompt_value import prompt_value
from ui.examples.recorded import offers_examples
from ui.frame import Boxes, Frame, Tab
from ui.inspector.opening import explained_prompt, open_run
from ui.kit import assets
from ui.kit.button import button
from ui.kit.component import component
from ui.kit.events import QUIET, RUNNING
from ui.kit.packing import packed
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.session import Session, halt
from ui.view import Part, visible


class ChatTab(Tab):
    """With a model that only continues texts it leads to Write and says why."""

    name = "Chat"
    element = "attend-chat"
    mode = "chat"
    task = "generation"
    takes_system_prompt = True
    shows = ChatUpdate
    keeps_documents = True
    overview = staticmethod(overview)
    document = staticmethod(chat_document)
    open_document = staticmethod(open_chat)
    discard = staticmethod(discard_chat)
    endpoint = staticmethod(chat_endpoint)
    reproduction = staticmethod(chat_reproduction)

    def unusable(self, loaded: LoadedModel) -> str:
        if loaded.chat is not None:
            return ""
        return f"{loaded.name} is not a chat model, so it can only continue a text: choose a model that chats."

    def lay_out(self, models: Models, *, first: bool) -> None:
        with gr.Column(elem_id="attend-chat"):
            self.conversation = component(
                "chat/conversation.js",
                "token",
                "retry",
                "proceed",
                "undo",
                "edit",
                "version",
                "without",
                "example",
                "missing",
                beginning={"recorded": offers_examples(models.names)},
            )
            self.conversation.value = packed(conversation_value(Session()))
            with gr.Row(elem_id="attend-message-row"):
                self.message = gr.Textbox(
                    "",
                    placeholder="Type a message",
                    label="Message",
                    show_label=False,
                    container=False,
                    lines=1,
                    max_lines=6,
                    scale=1,
                    autofocus=first,
                    min_width=0,  # Gradio's 160 pixels push the button beside it over the inspector
                    elem_id="attend-message",
                )
                self.send = button("Send", "attend-send", variant="primary", min_width=84)
                self.stop = button("Stop", "attend-stop", variant="stop", min_width=84)
            with gr.Row(elem_id="attend-chat-tools"):
                self.clear = button("Clear", "attend-clear", size="sm")
                self.restore = button("Undo clear", "attend-restore", size="sm", visible=False)
                self.redo = button("Redo", "attend-redo", size="sm", visible=False)
                self.text_view = component("chat/text_view.js", "format", "messages", name="text-view")
            self.prompt = gr.HTML(
                packed(prompt_value(Session(), models.first)),
                html_template=assets.template("chat/prompt.html"),
                js_on_load=assets.loader("chat/prompt.js"),
                apply_default_css=False,
                elem_id="attend-prompt",
            )

    @property
    def parts(self) -> Sequence[Part]:
        return [
            Part("answer", self.conversation, packed),
            Part("conversation", self.conversation, packed, beside=("number",)),
            Part("message", self.message),
            Part("prompt", self.prompt, packed),
            Part("cleared", self.restore, visible),
            Part("undone", self.redo, visible),
        ]

    def reopened(self, session: Session, models: Models, name: str) -> PageUpdate:
        return replace(overview(session, models, name), system=session.system, cleared=False)

    @property
    def boxes(self) -> Boxes:
        return {"text": self.message}

    def wire(self, frame: Frame) -> None:
        bind, view = partial(self.bind, frame), self.conversation
        bind([self.message.submit, self.send.click], chat.send, RUNNING, boxes=self.boxes)
        bind(view.example, partial(chat.send, from_box=False), RUNNING)
        bind(view.retry, chat.retry, RUNNING)
        bind(view.edit, chat.edit, RUNNING)
        bind(view.proceed, chat.proceed, RUNNING)
        bind(frame.inspector.branch, chat.branch, RUNNING)
        bind(view.without, chat.write_without, RUNNING)
        bind(view.version, chat.show_version)
        bind(view.undo, chat.undo)
        bind(view.token, chat.open_token, trigger_mode="multiple")
        bind(view.missing, chat.resend, trigger_mode="always_last")
        bind(self.clear.click, chat.clear)
        bind(self.restore.click, chat.restore)
        bind(self.redo.click, chat.redo, boxes=self.boxes)
        bind(frame.inspector.explain, explained_prompt, shows="inspector", trigger_mode="multiple")
        bind(frame.inspector.missing, open_run, shows="inspector", trigger_mode="multiple")
        # `input` would miss a text that is pasted or set by the browser
        bind(frame.system.change, chat.set_system, trigger_mode="always_last")
        frame.ask(self.text_view, "format", trees, "trees")
        frame.ask(self.text_view, "messages", find_message_tokens, "messages")
        self.stop.click(halt, frame.session, None, queue=False, **QUIET)
