"""The switch between the tabs. Chat and Write need a model that continues texts, Translate a translator.

A click shows the tab at once, by style alone (`ui/page/switch.js`). The server then updates the tab; if the tab needs
another kind of model, that model is loaded first. Choosing a model in the list switches to a tab for it. Compare takes
any model, but doesn't keep the translator of Translate: to compare with a translator, choose it in Compare.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import gradio as gr

from model import names
from model.loaded import LoadedModel
from ui.encoder.encoder_actions import EncoderUpdate
from ui.encoder.encoder_actions import overview as encoder_overview
from ui.frame import Frame, Tab
from ui.inspector.inspector_value import empty_inspector
from ui.kit import assets
from ui.kit.errors import warn
from ui.models import select
from ui.page.page_contract import SwitchValue
from ui.page_update import PageUpdate
from ui.runs.models import Models
from ui.runs.prompts import task_of
from ui.runs.session import Session
from ui.view import Part, View


@dataclass(frozen=True, slots=True)
class SwitchState:
    """The switch's state on the visitor's page."""

    tab: str  # as the page sent it, not yet checked
    clicks: int

    @classmethod
    def of(cls, value: object) -> SwitchState:
        """Read the component's value, which comes from a browser and may be anything."""
        fields = value if isinstance(value, Mapping) else {}
        tab, clicks = fields.get("tab"), fields.get("clicks")
        return cls(tab if isinstance(tab, str) else "", clicks if isinstance(clicks, int) else 0)


class Switch(View):
    """The switch, with an entry for each tab for which there is a model."""

    def __init__(self, tabs: Sequence[Tab], models: Models) -> None:
        self.tabs = tuple(tabs)
        self._models = models

    def entries(self, session: Session) -> list[str]:
        return [
            tab.name for tab in self.tabs if tab.task is None or self._models.for_task(tab.task, session.model.last)
        ]

    def _named(self, name: str) -> Tab | None:
        return next((tab for tab in self.tabs if tab.name == name), None)

    def possible(self, loaded: LoadedModel, wanted: str, *, loading: bool = False) -> Tab:
        """The tab of this entry or, if the model doesn't suit it, the next tab that the model suits.

        Args:
            loading: whether another model is loading. Then the visitor stays on a tab that the current model suits but
                can't be used in, since they may have begun to type and the next model may be usable.
        """
        suiting = [tab for tab in self.tabs if tab.suits(loaded)]
        number = next((number for number, tab in enumerate(suiting) if tab.name == wanted), 0)
        if loading:
            return suiting[number]
        return next((tab for tab in suiting[number:] if not tab.unusable(loaded)), suiting[number])

    def awaited(self, session: Session) -> str:
        """The name of the model that the chosen tab needs instead of the visitor's; "" if it needs none."""
        task = session.tab.task
        if task in (None, task_of(self._models.get(self._models.current(session)))):
            return ""
        coming = session.model.coming
        if coming is not None and names.task(coming.name) in (None, task):
            return coming.name
        return self._models.for_task(task, session.model.last)

    def request(self, session: Session, name: str) -> None:
        """Record that the visitor chose this tab."""
        left, tab = self._named(session.tab.requested), self._named(name)
        was_brought = left and left.task and session.model.name != self._models.default  # the model, by the tab before
        session.tab.requested = name
        session.tab.task = tab and (tab.task or (tab.fallback_task if was_brought else None))

    def lay_out(self) -> None:
        """Add the switch to the current Gradio context."""
        first = self._models.first
        value: SwitchValue = {
            "entries": self.entries(Session.using(self._models.default)),
            "tab": self.possible(first, "").name,
            "loading": "",
            "encoder": False,
            "clicks": 0,
        }
        self.component = gr.HTML(
            value,
            html_template=assets.template("page/switch.html"),
            js_on_load=assets.loader("page/switch.js", "show", "bring"),
            apply_default_css=False,
            padding=False,
            elem_id="attend-tabs",
        )

    @property
    def parts(self) -> Sequence[Part]:
        return [Part("switch", self.component, beside=("number",))]

    def wire(self, frame: Frame, views: Sequence[View]) -> None:
        """Connect the event of a click.

        Args:
            views: everything that a click can change.
        """
        frame.bind(self.component.show, self.show, views, trigger_mode="multiple")

    def show(self, session: Session, tab: str, clicks: int) -> PageUpdate:
        """Show the tab that was clicked, or why the visitor's model can't be used in it."""
        if clicks > session.tab.clicks:  # the second of two clicks may arrive first
            session.tab.clicks = clicks
            self.request(session, tab)
        awaited = self.awaited(session)
        if session.model.coming is not None and session.model.coming.for_tab and not awaited:
            select.cancel(session)  # the visitor has left the tab that it was for
        session.model.changed = False  # this updates the whole page
        loaded, update = self._overview(session, awaited)
        chosen = self._named(tab)
        moved = update.tab is not None and update.tab != tab
        if moved and chosen and chosen.suits(loaded) and (why := chosen.unusable(loaded)):
            warn(why)
        return update

    def bring(self, session: Session) -> Iterator[PageUpdate]:
        """Load the model that the chosen tab needs at the time when this runs."""
        if name := self.awaited(session):
            yield from select.choose(session, self._models, name, for_tab=True)
        else:
            yield PageUpdate()

    def follow(self, event: Any, frame: Frame, views: Sequence[View]) -> None:
        """Update the page after an event that may have changed the visitor's model."""
        # If two models are loaded in quick succession, the page may still be following the first when the second
        # arrives.
        boxes = {"state": self.component}
        frame.bind(event.then, self.show_changed, views, boxes=boxes, trigger_mode="multiple")

    def show_changed(self, session: Session, state: object) -> PageUpdate:
        """Show the chosen tab with another model, if the visitor's has changed."""
        if not session.model.changed:
            return PageUpdate()
        session.model.changed = False
        click = SwitchState.of(state)
        if click.clicks > session.tab.clicks or not session.tab.requested:  # the last click may still be on the way
            self.request(session, click.tab)
        coming = session.model.coming is not None
        return self._overview(session, self.awaited(session) if coming else "")[1]

    def _overview(self, session: Session, awaited: str) -> tuple[LoadedModel, PageUpdate]:
        """The visitor's model, and an update of the whole page.

        Args:
            awaited: the name of the model for which the chosen tab waits; "" if it waits for none.
        """
        models, wanted = self._models, session.tab.requested
        name = models.current(session)
        loaded = models.get(name)
        if session.model.encoder is not None:
            update: PageUpdate = EncoderUpdate(
                inspection=encoder_overview(session.model.encoder, names.display_name(session.model.name))
            )
        elif awaited:
            tab = self._named(wanted)
            update = PageUpdate(tab=wanted, seed=-1, inspector=empty_inspector((tab and tab.mode) or "chat"))
        else:
            tab = self.possible(loaded, wanted, loading=session.model.coming is not None)
            update = tab.overview(session, models, name)
            update = replace(update, tab=tab.name, no_system=loaded.no_system, seed=session.take_seed())
        value: SwitchValue = {
            "entries": self.entries(session),
            "tab": update.tab or wanted,
            "loading": names.display_name(awaited) if session.model.encoder is None else "",
            "encoder": isinstance(update, EncoderUpdate),
            "clicks": session.tab.clicks,
        }
        return loaded, replace(update, switch=value)
