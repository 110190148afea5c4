"""What an event's action receives, by the names of its parameters, and what becomes of what it returns."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import gradio as gr
import pytest

from decoding.settings import DecodingSettings
from model.errors import AttendError
from model.loaded import LoadedModel
from ui.frame import NO_BOXES, Boxes, Frame
from ui.kit.component import component
from ui.kit.events import replies, reply
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.session import Session
from ui.settings import panel as settings_panel
from ui.view import Part, View, disabled

FORM = {"method": "Temperature", "values": {"seed": -1, "temperature": 0.3}}


@pytest.fixture
def frame(models: Models) -> Frame:
    with gr.Blocks():
        panel, view = settings_panel.build(context_length=64), component("inspector/inspector.js", "missing")
        return Frame(models, gr.State(Session()), gr.Textbox(), panel, view, gr.HTML())


def call(frame: Frame, action: Callable[..., Any], *values: object, boxes: Boxes = NO_BOXES, **data: object) -> Any:
    function, inputs = frame.bound(action, boxes)
    event = [gr.EventData(None, data)] if data else []
    assert len(inputs) == 1 + len(values)
    return function(Session.using(frame.models.default), gr.Request(), *event, *values)


@pytest.mark.usefixtures("counted_seeds")
def test_an_action_takes_what_its_parameters_name(frame: Frame, tiny: LoadedModel) -> None:
    def taken(
        session: Session, name: str, loaded: LoadedModel, text: str, settings: DecodingSettings, turn: int
    ) -> list[object]:
        return [session.model.name, name, loaded.name, text, settings.temperature, settings.seed >= 0, turn]

    answer = call(frame, taken, "Hi", FORM, boxes={"text": frame.system}, turn=3)
    assert answer == [*[tiny.name] * 3, "Hi", 0.3, True, 3]
    assert call(frame, lambda unseeded: unseeded.seed, FORM) == -1  # left to chance
    with pytest.raises(AttendError, match="out of date"):
        call(frame, taken, "Hi", FORM, boxes={"text": frame.system}, turn="three")


def test_a_question_is_answered_under_its_number() -> None:
    def half(event: gr.EventData) -> int:
        if event._data["whole"] % 2:
            raise AttendError("Odd.")
        return event._data["whole"] // 2

    def ask(question: Callable[..., Any], whole: int) -> Any:
        return question(gr.EventData(None, {"number": 7, "whole": whole}))

    assert json.loads(ask(reply(half, "half"), 6)) == {"number": 7, "half": 3}
    with pytest.warns(UserWarning, match="Odd"):
        assert json.loads(ask(reply(half, "half"), 5)) == {"number": 7}

    def counted(event: gr.EventData) -> Iterator[dict[str, object]]:
        yield {"progress": (1, 2)}
        yield {"answer": half(event)}

    assert [json.loads(said)["number"] for said in ask(replies(counted), 6)] == [7, 7]
    with pytest.warns(UserWarning, match="Odd"):
        assert [json.loads(said) for said in ask(replies(counted), 5)][-1] == {"number": 7}


def test_a_new_value_keeps_the_properties_of_its_component() -> None:
    class Box(View):
        box = gr.Textbox()

        @property
        def parts(self) -> Sequence[Part]:
            return [Part("seed", self.box, disabled), Part("system", self.box), Part("tab", self.box, disabled)]

    view = Box()
    assert view.outputs == [view.box]
    assert view.render(PageUpdate(system="Hi")) == {view.box: "Hi"}  # costs Gradio less than a change of properties
    assert view.render(PageUpdate(system="Hi", seed=0)) == {view.box: gr.update(interactive=True, value="Hi")}
    assert view.render(PageUpdate(tab="Chat", seed=0)) == {view.box: gr.update(interactive=False)}
