"""The history's component, and the handlers of its script: they return a tab's document and open a saved one.

Nothing is stored on the server: the script (`ui/history/history.js`) keeps documents in the visitor's browser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from model.errors import AttendError
from ui.frame import Frame, Tab
from ui.kit.component import component
from ui.kit.packing import packed
from ui.models import select
from ui.models.select import PickerUpdate
from ui.page_update import PageUpdate
from ui.runs.documents.kept_document import open_document
from ui.runs.models import Models
from ui.runs.session import Session
from ui.view import Part, View


class History(View):
    """The component, for all tabs that have documents."""

    def __init__(self, tabs: Sequence[Tab], models: Models) -> None:
        self._tabs: Mapping[str, Tab] = {tab.mode: tab for tab in tabs if tab.mode is not None and tab.keeps_documents}
        self._models = models

    def lay_out(self) -> None:
        """Add the component to the current Gradio context; it opens above the page."""
        entries = {kind: tab.name for kind, tab in self._tabs.items()}  # kind of the tab → its entry in the switch
        self.component = component("history/history.js", "keep", "open", "forget", tabs=entries)

    @property
    def parts(self) -> Sequence[Part]:
        return [Part("history_reply", self.component, packed)]

    def wire(self, frame: Frame, views: Sequence[View]) -> None:
        """
        Args:
            views: everything that a tab can change.
        """
        frame.ask(self.component, "keep", self.keep)
        frame.bind(self.component.forget, self.forget, views, trigger_mode="multiple")

    def keep(self, session: Session, kind: str, key: str, known: list[object]) -> dict[str, Any]:
        """The document of a tab as it is now, without the runs that the page knows."""
        with session.lock:
            document = self._tab(kind).document(session, key)
            if document is None:
                return {"busy": session.busy}
            value = document.value(self._models, {str(name) for name in known})
            return {"document": value, "busy": session.busy}

    def open(
        self, session: Session, number: int, attempt: int, document: dict[str, Any], bring: bool, shown: bool
    ) -> Iterator[PageUpdate]:
        """Open a saved document, with the model that wrote it if it is available.

        The page asks again if no reply arrives; a document that is already open is then shown in its current state.
        """
        try:
            kind, model = str(document.get("kind")), document.get("model")
            tab = self._tab(kind)
            if bring and model != session.model.name and self._models.is_at_hand(model):
                yield from select.choose(session, self._models, model)
            with session.lock:
                languages = session.model.languages.get(session.model.name)
                if attempt > session.opened.get(kind, 0):
                    session.refuse_while_running()
                    open_document(session, self._models, document, tab.open_document)
                    session.opened[kind] = attempt
                inspected_run = session.inspected_run
                update = tab.reopened(session, self._models, self._models.current(session))
                # The visitor may have come to this tab since the page asked.
                if not shown and session.tab.requested != tab.name:
                    update = _out_of_sight(session, inspected_run, update)
                else:
                    update = replace(update, seed=session.take_seed())
                is_newest = session.opened.get(kind) == attempt
        except AttendError:
            yield PageUpdate(history_reply={"number": number})
            raise
        if session.model.languages.get(session.model.name) != languages:
            yield PickerUpdate(model=select.picker_value(session, self._models))
        yield replace(update, history_reply={"number": number, "opened": is_newest})

    def forget(self, session: Session, name: str, kind: str, shown: bool) -> PageUpdate:
        """Empty a tab whose document was deleted, even while it grows; what another tab writes goes on."""
        tab, inspected_run = self._tab(kind), session.inspected_run
        if any(session.runs[run].mode == kind for run in session.growing if run in session.runs):
            session.cancel()
        tab.discard(session)
        session.drop_unused_runs()
        update = tab.reopened(session, self._models, name)
        return update if shown else _out_of_sight(session, inspected_run, update)

    def _tab(self, kind: str) -> Tab:
        if kind not in self._tabs:
            raise AttendError("This page is out of date: reload it.")
        return self._tabs[kind]


def _out_of_sight(session: Session, inspected_run: str | None, update: PageUpdate) -> PageUpdate:
    """The update of a tab that is not in view: the inspector stays with the one that is."""
    session.inspected_run = inspected_run
    return replace(update, inspector=None, meter=None)
