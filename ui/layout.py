"""What is on the page and where; which function answers which event is in `ui/page.py`.

`Parts.render` alone knows which component shows what of a `Screen`; the sides of the switch know their own.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.blocks import Block, BlockContext
from gradio.components import Component

from model.loaded import LoadedModel
from ui import (
    chat_parts,
    header,
    inspect_parts,
    lessons,
    model_picker,
    settings_panel,
    system_prompt,
    translate_parts,
    views,
    write_parts,
)
from ui.chat_parts import ChatParts
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
from ui.write_parts import WriteParts


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
    move: gr.JSON  # where the switch is to go, which `move.js` does
    clicks: gr.Number  # how often it was clicked, which `handlers.CLICKED` counts
    meter: gr.HTML
    inspector: gr.HTML
    record: gr.HTML
    chatting: ChatParts
    writing: WriteParts
    translating: TranslateParts
    comparison: gr.HTML
    lesson: gr.HTML
    inspection: InspectParts

    @property
    def chat_outputs(self) -> list[Outputs]:
        """Everything that Chat's functions change: each costs the browser a little with every update."""
        return [*self.chatting.outputs, self.inspector, self.meter, self.panel.used]

    @property
    def write_outputs(self) -> list[Outputs]:
        """Everything that Write's functions change."""
        return [*self.writing.outputs, self.inspector, self.meter, self.panel.used]

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
        return list(dict.fromkeys([*own, self.comparison, self.move, self.system, self.inspection.side]))

    def render(self, screen: Screen, outputs: list[Outputs]) -> dict[Block, Any]:
        """The new values of these components; those that are not named stay as they are."""
        values = {
            self.inspector: screen.inspector and views.packed(screen.inspector),
            self.comparison: screen.comparison and views.packed(screen.comparison),
            self.meter: screen.meter,
        }
        changes: dict[Block, Any] = {part: value for part, value in values.items() if value is not None}
        for parts in (self.chatting, self.writing, self.translating):
            changes |= parts.render(screen)
        if screen.move is not None:
            changes[self.move] = screen.move
        if screen.mode is not None or screen.inspection is not None:
            changes[self.inspection.side] = gr.update(visible=screen.inspection is not None)  # its style hides all else
        if screen.inspection is not None:
            changes |= self.inspection.render(screen.inspection)
        if screen.no_system is not None:
            changes[self.system] = system_prompt.update(screen.no_system)
        if screen.model is not None:
            changes |= self.picker.render(screen.model)
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
                mode.preprocess = _as_it_is
                meter = gr.HTML(
                    meter_value(0, limit),
                    html_template=_read("meter.html"),
                    js_on_load=_read("meter.js"),
                    apply_default_css=False,
                    elem_id="attend-meter",
                )
            chatting = chat_parts.lay_out(conversation_value(Session()), prompt_value(Session(), first))
            writing = write_parts.lay_out()
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
        move=gr.JSON(None, visible=False),
        clicks=gr.Number(0, visible=False),
        meter=meter,
        inspector=inspector,
        record=record,
        chatting=chatting,
        writing=writing,
        translating=translating,
        comparison=comparison,
        lesson=lesson,
        inspection=inspection,
    )


def _as_it_is(payload: str | int | float | None) -> str:
    """What the switch says. Gradio's own refuses an entry that there is no more, but a click may come so late; what it
    asks for is looked at where it is done. Not a method: a component's class makes Gradio write a file beside it."""
    return str(payload)


def _starting_with(view: gr.HTML, value: Any) -> gr.HTML:
    """A view that shows this as soon as the page is there, with no question to the server."""
    view.value = value
    return view
