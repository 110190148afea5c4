"""The model picker above the settings: the models, the progress of loading, notes, and a translator's languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import gradio as gr
from gradio.events import Dependency

from ui.examples.recorded import MODELS
from ui.frame import Frame
from ui.kit.component import component
from ui.kit.errors import warn
from ui.kit.events import LOADING, QUICK, QUIET
from ui.kit.packing import packed
from ui.models import select
from ui.models.select import PickerUpdate
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.session import Session
from ui.view import Part, View


@dataclass(frozen=True, slots=True)
class Picker(View):
    """The component, once it is on the page."""

    shows = PickerUpdate
    model: gr.HTML

    @property
    def parts(self) -> Sequence[Part]:
        return [Part("model", self.model, packed)]

    def wire(self, page: gr.Blocks, frame: Frame) -> list[Dependency]:
        """Connect the events to their functions.

        Returns:
            The events after which the visitor's model may have changed.
        """

        def choose(session: Session, model: str, typed: bool) -> Iterator[PageUpdate]:
            yield from select.choose(session, frame.models, model, typed=typed)

        def leave(request: gr.Request) -> None:
            if session := frame.sessions_by_hash.get(request.session_hash or ""):
                with session.lock:  # an event that is still being handled may use the model
                    select.leave(session)

        def differs(session: Session) -> None:
            warn(select.other_weights(session), seconds=None)

        self.model.differs(differs, frame.session, None, **QUICK)
        self.model.cancel(select.cancel, frame.session, None, queue=False, **QUIET)
        page.unload(leave)
        translated = frame.bind(self.model.translate, select.choose_languages, [self], trigger_mode="multiple")
        return [self.loads(self.model.choose, frame, choose), translated]

    def loads(
        self,
        event: Callable[..., Dependency],
        frame: Frame,
        load: Callable[..., Iterator[PageUpdate]],
        views: Sequence[View] = (),
    ) -> Dependency:
        """Let an action load a model and show the progress; the model is freed when the visitor leaves.

        Args:
            views: the other views that the event changes.
        """
        return frame.bind(event, load, [self, *views], LOADING, in_turn=False, trigger_mode="multiple")


def build(models: Models) -> Picker:
    """Add the picker to the current Gradio context."""
    form = {"any_name": models.any_name, "in_browser": [name for name in MODELS if name in models.names]}
    model = component("models/picker.js", "choose", "cancel", "translate", "differs", name="model", form=form)
    model.value = packed(select.picker_value(Session.using(models.default), models))
    return Picker(model)
