"""The model picker, above the settings: the choices, the progress of loading, notes, and a translator's languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import gradio as gr
from gradio.components import Component
from gradio.events import Dependency

from ui.frame import Changes, Frame, Output
from ui.kit import assets
from ui.kit.events import QUICK, QUIET, field
from ui.kit.packing import packed
from ui.models import select
from ui.models.contract import ModelValue
from ui.models.select import PickerScreen
from ui.runs.models import Models
from ui.runs.session import Session
from ui.screen import Screen

_CANCEL = "Cancel"


@dataclass(frozen=True, slots=True)
class Picker:
    """The controls, once they are on the page."""

    listed: gr.Dropdown
    other: gr.Textbox
    state: gr.HTML
    cancel: gr.Button
    languages: gr.HTML

    @property
    def outputs(self) -> list[Output]:
        return [self.listed, self.other, self.state, self.cancel, self.languages]

    def render(self, screen: Screen) -> Changes:
        """Always updates every control, since Gradio's page may lose one that a generator leaves out."""
        if not isinstance(screen, PickerScreen) or screen.model is None:
            return {}
        value = screen.model
        return {
            self.listed: gr.update(choices=value["choices"], value=value["name"]),
            self.other: gr.update(value="")
            if value["clears_input"]
            else gr.update(),  # the visitor may be typing in it
            self.state: _state(value),
            self.cancel: gr.update(value=_CANCEL, visible=bool(value["title"])),
            self.languages: packed(value["languages"]),
        }

    def wire(self, page: gr.Blocks, frame: Frame) -> list[Dependency]:
        """Connect the events to their functions.

        Returns:
            The events after which the visitor's model may have changed.
        """
        models, sessions, outputs = frame.models, frame.sessions_by_hash, self.outputs

        def choose(session: Session, name: str, request: gr.Request, *, typed: bool = False) -> Iterator[Screen]:
            if request.session_hash:
                sessions[request.session_hash] = session
            return select.choose(session, models, name, typed=typed)

        def choose_typed(session: Session, name: str, request: gr.Request) -> Iterator[Screen]:
            return choose(session, name, request, typed=True)

        def leave(request: gr.Request) -> None:
            if session := sessions.get(request.session_hash or ""):
                with session.lock:  # an event that is still being handled may use the model
                    select.leave(session)

        def set_languages(session: Session, event: gr.EventData) -> Screen:
            return select.translate(session, models, field(event, "source", str), field(event, "target", str))

        # Gradio's dropdown sends `input` twice for a click, and also when it loses focus; `blur` only once.
        choosing = ((self.listed, self.listed.blur, choose), (self.other, self.other.submit, choose_typed))
        chosen = [self.wire_loading(event, function, frame, box) for box, event, function in choosing]
        translated = self.languages.translate(
            frame.screen((self,), outputs, set_languages), frame.session, outputs, trigger_mode="multiple", **QUICK
        )
        self.cancel.click(select.cancel, frame.session, None, queue=False, **QUIET)
        page.unload(leave)
        return [*chosen, translated]

    def wire_loading(
        self, event: Any, function: Callable[..., Iterator[Screen]], frame: Frame, *inputs: Component
    ) -> Dependency:
        """Show the progress of a model that the function loads when the event happens."""
        handler = frame.screens((self,), self.outputs, function, in_turn=False)
        return event(handler, [frame.session, *inputs], self.outputs, trigger_mode="multiple", **QUICK)


def build(models: Models) -> Picker:
    """Add the picker to the current Gradio context; its lists are visible only if there is a choice."""
    value = select.picker_value(Session(model=models.default), models)
    several = models.any_name or len(models.names) > 1
    listed = gr.Dropdown(
        value["choices"], value=value["name"], label="Model", visible=several, elem_id="attend-model", filterable=False
    )
    other = gr.Textbox(
        "",
        label="Another model",
        placeholder="Folder or owner/name@revision",
        max_lines=1,
        visible=models.any_name,
        elem_id="attend-other-model",
    )
    state = gr.HTML(
        _state(value),
        html_template=assets.template("models/picker.html"),
        js_on_load=assets.loader("models/picker.js"),
        apply_default_css=False,
        elem_id="attend-model-state",
    )
    cancel = gr.Button(_CANCEL, size="sm", visible=False, elem_id="attend-model-cancel")
    languages = gr.HTML(
        packed(value["languages"]),
        html_template=assets.template("models/languages.html"),
        js_on_load=assets.loader("models/languages.js", "translate"),
        apply_default_css=False,
        elem_id="attend-languages",
    )
    return Picker(listed, other, state, cancel, languages)


def _state(value: ModelValue) -> dict[str, Any]:
    shown = {key: value[key] for key in ("title", "status", "share", "notes", "context", "method", "tagline", "name")}
    return {**shown, "names": [name for _, name in value["choices"]]}
