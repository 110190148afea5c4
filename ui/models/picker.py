"""The model picker above the settings: the models, the progress of loading, notes, and a translator's languages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import gradio as gr
from gradio.events import Dependency

from ui.examples.recorded import MODELS
from ui.frame import Frame
from ui.kit.component import component
from ui.kit.errors import warn
from ui.kit.events import LOADING, QUICK, QUIET, field
from ui.kit.packing import packed
from ui.models import select
from ui.models.select import PickerUpdate
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.session import Session
from ui.view import Output, Part, View

Load = Callable[[Session, gr.EventData], Iterator[PageUpdate]]


@dataclass(frozen=True, slots=True)
class Picker(View):
    """The component, once it is on the page."""

    shows = PickerUpdate
    model: gr.HTML

    @property
    def parts(self) -> Mapping[str, Part]:
        return {"model": Part(self.model, packed)}

    def wire(self, page: gr.Blocks, frame: Frame) -> list[Dependency]:
        """Connect the events to their functions.

        Returns:
            The events after which the visitor's model may have changed.
        """
        models, sessions, outputs = frame.models, frame.sessions_by_hash, self.outputs

        def choose(session: Session, event: gr.EventData) -> Iterator[PageUpdate]:
            return select.choose(session, models, field(event, "name", str), typed=field(event, "typed", bool))

        def leave(request: gr.Request) -> None:
            if session := sessions.get(request.session_hash or ""):
                with session.lock:  # an event that is still being handled may use the model
                    select.leave(session)

        def set_languages(session: Session, event: gr.EventData) -> PageUpdate:
            return select.translate(session, models, field(event, "source", str), field(event, "target", str))

        chosen = self.loads(self.model.choose, frame, choose)
        translated = self.model.translate(
            frame.handler((self,), outputs, set_languages), frame.session, outputs, trigger_mode="multiple", **QUICK
        )

        def differs(session: Session) -> None:
            warn(select.other_weights(session), seconds=None)

        self.model.differs(differs, frame.session, None, **QUICK)
        self.model.cancel(select.cancel, frame.session, None, queue=False, **QUIET)
        page.unload(leave)
        return [chosen, translated]

    def loads(
        self,
        event: Callable[..., Dependency],
        frame: Frame,
        load: Load,
        views: Sequence[View] = (),
        outputs: Sequence[Output] = (),
    ) -> Dependency:
        """Let an event load a model and show the progress; the model is freed when the visitor leaves.

        Args:
            views: the other views that the event changes.
            outputs: their components.
        """

        def loading(session: Session, data: gr.EventData, request: gr.Request) -> Iterator[PageUpdate]:
            if request.session_hash:
                frame.sessions_by_hash[request.session_hash] = session
            return load(session, data)

        everything = [*self.outputs, *outputs]
        handler = frame.run_handler((self, *views), everything, loading, in_turn=False)
        return event(handler, frame.session, everything, trigger_mode="multiple", **LOADING)


def build(models: Models) -> Picker:
    """Add the picker to the current Gradio context."""
    form = {"any_name": models.any_name, "in_browser": [name for name in MODELS if name in models.names]}
    model = component("models/picker.js", "choose", "cancel", "translate", "differs", name="model", form=form)
    model.value = packed(select.picker_value(Session.using(models.default), models))
    return Picker(model)
