"""The switch between the tabs; its entries depend on the visitor's model.

A click shows the tab at once, by style alone (`ui/switch.js`). The server then brings the tab up to date and, if the
model does not support it, switches to another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from model import names
from model.loaded import LoadedModel
from ui.contract import SwitchValue
from ui.encoder.actions import EncoderScreen
from ui.encoder.actions import overview as encoder_overview
from ui.frame import Changes, Frame, Output, Tab, View
from ui.kit import assets
from ui.kit.errors import warn
from ui.kit.events import QUICK, field
from ui.runs.models import Models
from ui.runs.session import Session
from ui.screen import Screen


@dataclass(frozen=True, slots=True)
class SwitchState:
    """The switch's state on the visitor's page."""

    tab: str  # as the page sent it, not yet checked
    clicks: int

    @classmethod
    def of(cls, value: object) -> SwitchState:
        """Read the component's value, which may be anything."""
        fields = value if isinstance(value, Mapping) else {}
        tab, clicks = fields.get("tab"), fields.get("clicks")
        return cls(tab if isinstance(tab, str) else "", clicks if isinstance(clicks, int) else 0)


class Switch:
    """The entries of the tabs that are offered with the visitor's model."""

    def __init__(self, tabs: Sequence[Tab], models: Models) -> None:
        self.tabs = tuple(tabs)
        self._models = models

    def entries(self, loaded: LoadedModel) -> list[str]:
        return [tab.name for tab in self.tabs if tab.offered(loaded)]

    def possible(self, loaded: LoadedModel, wanted: str, *, coming: bool = False) -> Tab:
        """The tab of this entry or, if the model cannot do what it is for, the next one that it can.

        Args:
            coming: whether another model is loading, which may be able to: a visitor who has begun to type stays.
        """
        offered = [tab for tab in self.tabs if tab.offered(loaded)]
        number = next((number for number, tab in enumerate(offered) if tab.name == wanted), 0)
        if coming:
            return offered[number]
        return next((tab for tab in offered[number:] if not tab.unusable(loaded)), offered[number])

    def lay_out(self) -> None:
        """Add the switch to the current Gradio context."""
        first = self._models.first
        value: SwitchValue = {
            "entries": self.entries(first),
            "tab": self.possible(first, "").name,
            "encoder": False,
            "clicks": 0,
        }
        self.component = gr.HTML(
            value,
            html_template='<div class="attend-tabs" role="radiogroup" aria-label="Tab"></div>',
            js_on_load=assets.loader("switch.js", "show"),
            apply_default_css=False,
            padding=False,
            elem_id="attend-tabs",
        )

    @property
    def outputs(self) -> Sequence[Output]:
        return [self.component]

    def render(self, screen: Screen) -> Changes:
        return {} if screen.switch is None else {self.component: {**screen.switch, "number": screen.number}}

    def wire(self, frame: Frame, views: Sequence[View], outputs: Sequence[Output]) -> None:
        """
        Args:
            views: all that a click can change.
        """

        def show(session: Session, event: gr.EventData) -> Screen:
            state = SwitchState(field(event, "tab", str), field(event, "clicks", int))
            if state.clicks > session.clicks:  # of two clicks the second may arrive first
                session.requested_tab, session.clicks = state.tab, state.clicks
            loaded, screen = self._overview(session)
            chosen = next((tab for tab in self.tabs if tab.name == state.tab), None)
            moved = screen.tab is not None and screen.tab != state.tab
            if moved and chosen and chosen.offered(loaded) and (why := chosen.unusable(loaded)):
                warn(why)
            return screen

        handler = frame.screen(views, outputs, show)
        self.component.show(handler, frame.session, outputs, trigger_mode="multiple", **QUICK)

    def follow(self, event: Any, frame: Frame, views: Sequence[View], outputs: Sequence[Output]) -> None:
        """Update the page after an event that may have changed the visitor's model."""

        def show(session: Session, value: object) -> Screen:
            if not session.model_changed:
                return Screen()
            session.model_changed = False
            state = SwitchState.of(value)
            if state.clicks > session.clicks or not session.requested_tab:  # the last click may still be on the way
                session.requested_tab = state.tab
            return self._overview(session)[1]

        event.then(frame.screen(views, outputs, show), [frame.session, self.component], outputs, **QUICK)

    def _overview(self, session: Session) -> tuple[LoadedModel, Screen]:
        """The visitor's model and the whole page, computed again if another tab or model was chosen meanwhile."""
        models = self._models
        while True:
            wanted, chosen = session.requested_tab, session.model
            name = models.current(session)
            loaded = models.get(name)
            if session.encoder is not None:
                screen: Screen = EncoderScreen(inspection=encoder_overview(session.encoder, names.display_name(chosen)))
            else:
                tab = self.possible(loaded, wanted, coming=session.choosing is not None)
                overview = tab.overview(session, models, name)
                screen = replace(overview, tab=tab.name, no_system=loaded.no_system)
            if (session.requested_tab, session.model) == (wanted, chosen):
                break
        value: SwitchValue = {
            "entries": self.entries(loaded),
            "tab": screen.tab or wanted,
            "encoder": isinstance(screen, EncoderScreen),
            "clicks": session.clicks,
        }
        return loaded, replace(screen, switch=value)
