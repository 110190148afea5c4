"""Builds the page of the settings, the switch, the tabs and the inspector, with the endpoints for programs.

Each tab has a folder of its own, and `ui/tabs.py` lists them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from model.encoder import Encoder
from model.errors import AttendError
from ui.encoder import encoder_endpoint
from ui.encoder.encoder_actions import overview as encoder_overview
from ui.encoder.encoder_view import EncoderView
from ui.examples.recorded import offers_examples
from ui.frame import Frame, Tab
from ui.history.history_view import History
from ui.inspector.endpoints import cause_endpoints
from ui.inspector.inspector_value import empty_inspector
from ui.inspector.toolbar import toolbar_events as toolbar
from ui.inspector.why import why_events as why
from ui.kit import assets
from ui.kit.component import component
from ui.kit.errors import for_people, warn
from ui.kit.events import QUICK, limit_runs
from ui.kit.packing import packed
from ui.limits import Limits
from ui.models import picker as model_picker
from ui.page import header
from ui.page.switch import Switch, SwitchState
from ui.runs.models import Models
from ui.runs.prompts import is_translator
from ui.runs.run_values import meter_value
from ui.runs.session import Session
from ui.server import endpoints
from ui.server.callers import ConcurrencyLimiter
from ui.server.refusals import Page
from ui.settings import code, system_prompt
from ui.settings import panel as settings_panel
from ui.settings.methods import default_method, misread_link
from ui.settings.panel import FORM_READY
from ui.tabs import TABS
from ui.view import Part, View, hidden
from ui.write.score import score_endpoint
from ui.write.scores import score_events as scores


def build(models: Models, tabs: Sequence[type[Tab]] = TABS) -> Page:
    """The whole page, with the endpoints for programs."""
    instances, limits = [tab() for tab in tabs], models.limits
    switch, encoder, history = Switch(instances, models), EncoderView(), History(instances, models)
    with Page(title="Attend", fill_width=True, analytics_enabled=False) as page:
        first = models.first
        first_tab = switch.possible(first, "")
        session = gr.State(Session.using(models.default, limits=limits))
        with gr.Sidebar(open=True, width=284, elem_id="attend-settings"):
            gr.HTML(html_template="<h2>Settings</h2>", apply_default_css=False)
            picker = model_picker.build(models)
            system, system_examples = system_prompt.build(first.no_system)
            panel = settings_panel.build(
                first.model.context_length,
                default_method(translates=is_translator(first)),
                {tab.name: default_method(translates=tab.task == "translation") for tab in instances if tab.task},
            )
        header.lay_out()
        history.lay_out()
        with gr.Row(elem_id="attend-main"):
            with gr.Column(scale=1, min_width=320, elem_id="attend-left"):
                with gr.Row(elem_id="attend-bar"):
                    switch.lay_out()
                for tab in instances:
                    tab.lay_out(models, first=tab is first_tab)
                meter = _lay_out_meter(first.model.context_length)
            with gr.Column(scale=2, min_width=320, elem_id="attend-right"):
                beginning = {"recorded": offers_examples(models.names)}
                scored = scores.build()
                inspector = component(
                    "inspector/inspector.js", "take", "branch", "explain", "missing", beginning=beginning
                )
                inspector.value = packed(empty_inspector(first_tab.mode or "chat"))
                causes = why.build()
                record = toolbar.build()
        encoder.lay_out()

        frame = Frame(models, session, system, panel, inspector, meter)
        for tab in instances:
            tab.wire(frame)
        everything = [frame, switch, encoder, _System(system, system_examples), history, *instances]
        switch.wire(frame, everything)
        brought = picker.loads(switch.component.bring, frame, switch.bring)
        history.wire(frame, everything)
        opened = picker.loads(history.component.open, frame, history.open, everything)
        for chosen in (*picker.wire(page, frame), brought, opened):
            switch.follow(chosen, frame, everything)
        encoder.wire(_encoder_of, [session])
        toolbar.wire(frame, record)
        why.wire(frame, causes)
        scores.wire(frame, scored)
        _wire_settings(frame, switch, instances)
        page.departed = lambda session: models.forget(session.visitor)
        of_tabs = [tab.endpoint(models) for tab in instances if tab.endpoint is not None]
        page.models, page.calls = models, ConcurrencyLimiter(limits.calls)
        named = {each.__name__: each for each in of_tabs}
        named |= {"score": score_endpoint(models), **cause_endpoints(models)}
        endpoints.register(named, limits, page.calls)
        limit_runs(page, limits.runs)
    return page


def build_encoder(encoder: Encoder, limits: Limits = Limits()) -> Page:
    """The page of an encoder, which can't generate text, with its endpoints."""
    with Page(title="Attend", fill_width=True, analytics_enabled=False) as page:
        header.lay_out()
        view = EncoderView()
        view.lay_out(encoder_overview(encoder))
        view.wire(lambda: encoder)
        page.encoder, page.calls = encoder, ConcurrencyLimiter(limits.calls)
        endpoints.register(encoder_endpoint.endpoints(encoder), limits, page.calls)
    return page


@dataclass(frozen=True, slots=True)
class _System(View):
    """The box of the system prompt and its examples; not every model takes one."""

    box: gr.Textbox
    examples: gr.HTML

    @property
    def parts(self) -> Sequence[Part]:
        return [
            Part("no_system", self.box, system_prompt.box_update),
            Part("system", self.box),
            Part("no_system", self.examples, hidden),
        ]


def _lay_out_meter(limit: int) -> gr.HTML:
    return gr.HTML(
        meter_value(0, limit),
        html_template=assets.template("page/meter.html"),
        js_on_load=assets.loader("page/meter.js"),
        apply_default_css=False,
        elem_id="attend-meter",
    )


def _wire_settings(frame: Frame, switch: Switch, tabs: Sequence[Tab]) -> None:
    """Connect the events of the settings: reading the link with which the page was opened, and "Copy as code"."""
    models, panel = frame.models, frame.panel
    of_tabs = {tab: frame.bound(tab.reproduction, tab.boxes, event=False) for tab in tabs}
    inputs = list(dict.fromkeys(component for _, components in of_tabs.values() for component in components))

    def opened(misread: list[object]) -> None:
        if misread:
            warn(misread_link(misread), seconds=None)

    def copy_as_code(switch_value: object, request: gr.Request, *values: Any) -> Any:
        with for_people():
            value_of = dict(zip(inputs, values, strict=True))
            loaded = models.get(models.current(value_of[frame.session]))
            reproduction, components = of_tabs[switch.possible(loaded, SwitchState.of(switch_value).tab)]
            session, *boxes = [value_of[component] for component in components]
            if (run := reproduction(session, request, *boxes)) is not None:
                return code.dialog_value(run)
        return gr.skip()

    frame.hear(panel.form.opened, opened, js=FORM_READY, trigger_mode="once")  # the script repeats it
    panel.code.click(copy_as_code, [switch.component, *inputs], panel.dialog, **QUICK)


def _encoder_of(session: Session) -> Encoder:
    if session.model.encoder is None:
        raise AttendError("No encoder is selected: choose one under Settings.")
    return session.model.encoder
