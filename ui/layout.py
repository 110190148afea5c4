"""What is on the page and where; which function answers which event is in `ui/page.py`.

`Parts.render` alone knows which component shows what of a `Screen`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from model.loaded import LoadedModel
from ui import header, inspect_parts, lessons, model_picker, settings_panel, system_prompt, translate_parts, views
from ui.compare_values import compare_form, no_comparison
from ui.inspect_parts import InspectParts
from ui.model_picker import Picker
from ui.models import Models
from ui.prompt_value import prompt_value
from ui.screen import Screen
from ui.session import Session
from ui.settings_panel import Panel
from ui.translate import is_translator, translation_value
from ui.translate_parts import TranslateParts
from ui.values import conversation_value, empty_inspector, meter_value
from ui.ways import first_way
from ui.whatif import whatif_form


def _read(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


CSS = "\n".join(
    _read(f"{part}.css")
    for part in ("page", "header", "prompt", "model_picker", "languages", "settings", "code", "inspect", "translate")
)
SCRIPT = _read("page.js")

CHAT, WRITE, TRANSLATE, COMPARE, LEARN = "Chat", "Write", "Translate", "Compare", "Learn"


def modes(loaded: LoadedModel) -> tuple[str, ...]:
    """The entries of the switch: what can be done with a model. One that translates answers every text for itself, so
    that a conversation with it would promise a memory that it has not, and it goes on with no text of anybody's."""
    return (TRANSLATE, COMPARE, LEARN) if is_translator(loaded) else (CHAT, WRITE, COMPARE, LEARN)


Outputs = Component | BlockContext


@dataclass(frozen=True, slots=True)
class Parts:
    """The components that something happens to, or in which something happens."""

    session: gr.State
    picker: Picker
    system: gr.Textbox
    panel: Panel
    mode: gr.Radio
    meter: gr.HTML
    inspector: gr.HTML
    record: gr.HTML
    conversation: gr.HTML
    message: gr.Textbox
    send: gr.Button
    stop: gr.Button
    clear: gr.Button
    restore: gr.Button
    prompt: gr.HTML
    text: gr.Textbox
    go: gr.Button
    halt: gr.Button
    one: gr.Button
    back: gr.Button
    forth: gr.Button
    empty: gr.Button
    translating: TranslateParts
    comparison: gr.HTML
    lesson: gr.HTML
    inspection: InspectParts

    @property
    def chat_outputs(self) -> list[Outputs]:
        """Everything that Chat's functions change: each costs the browser a little with every update."""
        shown = [self.conversation, self.inspector, self.meter, self.message, self.prompt]
        return [*shown, self.send, self.stop, self.restore, self.panel.used]

    @property
    def write_outputs(self) -> list[Outputs]:
        """Everything that Write's functions change."""
        shown = [self.text, self.inspector, self.meter, self.go, self.one, self.halt]
        return [*shown, self.back, self.forth, self.empty, self.panel.used]

    @property
    def translate_outputs(self) -> list[Outputs]:
        """Everything that Translate's functions change."""
        return [*self.translating.outputs, self.inspector, self.meter, self.panel.used]

    @property
    def compare_outputs(self) -> list[Outputs]:
        """Everything that Compare's functions change."""
        return [self.comparison, self.inspector, self.meter, self.panel.used]

    @property
    def all_outputs(self) -> list[Outputs]:
        """Everything that a screen can change."""
        own = [*self.chat_outputs, *self.write_outputs, *self.translate_outputs, *self.inspection.outputs]
        return list(dict.fromkeys([*own, self.comparison, self.mode, self.system, self.inspection.side]))

    def render(self, screen: Screen, outputs: list[Outputs]) -> dict[Block, Any]:
        """The new values of these components; those that are not named stay as they are."""
        values = {
            self.conversation: screen.conversation and views.packed_conversation(screen.conversation),
            self.inspector: screen.inspector and views.packed(screen.inspector),
            self.comparison: screen.comparison and views.packed(screen.comparison),
            self.prompt: screen.prompt and views.packed(screen.prompt),
            self.meter: screen.meter,
            self.message: screen.message,
            self.text: screen.text,
        }
        changes: dict[Block, Any] = {part: value for part, value in values.items() if value is not None}
        if screen.running is not None:
            for button in (self.stop, self.halt):
                changes[button] = gr.update(visible=screen.running)
            for button in (self.send, self.go, self.one):
                changes[button] = gr.update(visible=not screen.running)
            changes[self.text] = gr.update(interactive=not screen.running)  # what is typed would be overwritten
            if screen.text is not None:
                changes[self.text]["value"] = screen.text
            changes[self.empty] = gr.update(interactive=not screen.running)
        if screen.history is not None:
            for button, possible in zip((self.back, self.forth), screen.history, strict=True):
                changes[button] = gr.update(interactive=possible)
        changes |= self.translating.render(screen)
        if screen.modes is not None:
            changes[self.mode] = gr.update(choices=list(screen.modes))
        if screen.mode is not None and screen.moves:
            changes[self.mode] = {**gr.update(value=screen.mode), **changes.get(self.mode, {})}
        if screen.mode is not None or screen.inspection is not None:
            changes[self.inspection.side] = gr.update(visible=screen.inspection is not None)  # its style hides all else
        if screen.inspection is not None:
            changes |= self.inspection.render(screen.inspection)
        if screen.no_system is not None:
            changes[self.system] = system_prompt.update(screen.no_system)
        if screen.model is not None:
            changes |= self.picker.render(screen.model)
        if screen.replaced is not None:
            changes[self.restore] = gr.update(value=f"{screen.replaced}. Undo", visible=bool(screen.replaced))
        if screen.seed is not None:
            changes[self.panel.used] = settings_panel.seed_note(screen.seed)
        changes = {part: change for part, change in changes.items() if part in outputs}
        return changes or {outputs[0]: gr.skip()}


def lay_out(models: Models) -> Parts:
    """Put everything into the `gr.Blocks` that the caller has opened."""
    first = models.first
    limit = first.model.context_length
    possible = modes(first)
    mode_first = WRITE if CHAT in possible and first.chat is None else possible[0]
    session = gr.State(Session(model=models.default))
    with gr.Sidebar(open=False, width=312, elem_id="attend-settings"):
        gr.HTML(html_template="<h2>Settings</h2>", apply_default_css=False)
        picker = model_picker.build(models)
        system = system_prompt.build(first.no_system)
        panel = settings_panel.build(limit, first_way(translates=mode_first == TRANSLATE))
    header.lay_out(first)
    with gr.Row(elem_id="attend-main"):
        with gr.Column(scale=4, min_width=320, elem_id="attend-left"):
            with gr.Row(elem_id="attend-bar"):
                mode = gr.Radio(
                    list(possible),
                    value=mode_first,
                    label="What to do",
                    show_label=False,
                    container=False,
                    min_width=120,
                    elem_id="attend-mode",
                )
                meter = gr.HTML(
                    meter_value(0, limit),
                    html_template=_read("meter.html"),
                    js_on_load=_read("meter.js"),
                    apply_default_css=False,
                    elem_id="attend-meter",
                )
            with gr.Column(elem_id="attend-chat"):
                conversation = _starting_with(
                    views.conversation(), views.packed_conversation(conversation_value(Session()))
                )
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
                    send = gr.Button("Send", variant="primary", scale=0, min_width=84, elem_id="attend-send")
                    stop = _button("Stop", "attend-stop", variant="stop", visible=False, min_width=84)
                with gr.Row(elem_id="attend-chat-tools"):
                    clear = _button("Clear", "attend-clear", size="sm")
                    restore = _button("Cleared. Undo", "attend-restore", size="sm", visible=False)
                prompt = gr.HTML(
                    views.packed(prompt_value(Session(), first)),
                    html_template=_read("prompt.html"),
                    js_on_load=_read("prompt.js"),
                    apply_default_css=False,
                    elem_id="attend-prompt",
                )
            with gr.Column(elem_id="attend-write"):
                text = gr.Textbox(
                    "",
                    placeholder="Type the beginning of a text and let the model go on.",
                    label="Text",
                    show_label=False,
                    container=False,
                    lines=12,
                    max_lines=12,  # a box of one height: to measure a growing one costs more than to draw the tokens
                    elem_id="attend-text",
                )
                with gr.Row(elem_id="attend-write-tools"):
                    go = _button("Continue", "attend-continue", variant="primary", min_width=100)
                    halt = _button("Stop", "attend-halt", variant="stop", visible=False, min_width=100)
                    one = _button("Next token", "attend-next", min_width=110)
                    back = _button("Undo", "attend-back", size="sm", interactive=False)
                    forth = _button("Redo", "attend-forth", size="sm", interactive=False)
                    empty = _button("Clear", "attend-empty", size="sm")
            translating = translate_parts.lay_out(
                translation_value(Session(), first) if mode_first == TRANSLATE else None
            )
            unused = views.packed(no_comparison(chats=first.chat is not None))
            comparison = _starting_with(views.comparison(compare_form()), unused)
            lesson = views.lesson(lessons.FIRST)
        with gr.Column(scale=5, min_width=320, elem_id="attend-right"):
            inspector = _starting_with(views.inspector(), views.packed(empty_inspector(mode_first.lower())))
            record = views.record(whatif_form())
    inspection = inspect_parts.lay_out()
    return Parts(
        session=session,
        picker=picker,
        system=system,
        panel=panel,
        mode=mode,
        meter=meter,
        inspector=inspector,
        record=record,
        conversation=conversation,
        message=message,
        send=send,
        stop=stop,
        clear=clear,
        restore=restore,
        prompt=prompt,
        text=text,
        go=go,
        halt=halt,
        one=one,
        back=back,
        forth=forth,
        empty=empty,
        translating=translating,
        comparison=comparison,
        lesson=lesson,
        inspection=inspection,
    )


def _button(
    words: str,
    elem_id: str,
    *,
    variant: Literal["primary", "secondary", "stop"] = "secondary",
    size: Literal["sm", "lg"] = "lg",
    min_width: int = 70,
    visible: bool = True,
    interactive: bool = True,
) -> gr.Button:
    """A button as wide as its words."""
    return gr.Button(
        words,
        variant=variant,
        size=size,
        scale=0,
        min_width=min_width,
        visible=visible,
        interactive=interactive,
        elem_id=elem_id,
    )


def _starting_with(view: gr.HTML, value: Any) -> gr.HTML:
    """A view that shows this as soon as the page is there, with no question to the server."""
    view.value = value
    return view
