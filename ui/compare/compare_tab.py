"""Compare: one prompt under several cards of settings; its component and which function answers which of its events."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from model.errors import AttendError
from ui.compare import compare_actions as compare
from ui.compare.compare_actions import CompareUpdate
from ui.compare.compare_endpoint import compare_endpoint
from ui.compare.comparison_value import card_settings, compare_form, no_comparison
from ui.compare.kept_comparison import compare_document, discard_comparison, open_comparison
from ui.compare.results.shared import shared
from ui.examples.recorded import offers_examples
from ui.frame import Frame, Tab
from ui.kit.component import component
from ui.kit.events import QUIET, RUNNING
from ui.kit.packing import packed
from ui.runs.models import Models
from ui.runs.session import halt
from ui.settings.code import Reproduction
from ui.view import Part


def no_reproduction() -> Reproduction:
    raise AttendError("A comparison can't be copied as one command: download it as JSON, or switch to another tab.")


class CompareTab(Tab):
    """Takes any model, but doesn't keep the translator of Translate: to compare with it, choose it here."""

    name = compare.TAB
    element = "attend-compare"
    mode = "compare"
    fallback_task = "generation"
    takes_system_prompt = True
    shows = CompareUpdate
    keeps_documents = True
    overview = staticmethod(compare.overview)
    document = staticmethod(compare_document)
    open_document = staticmethod(open_comparison)
    discard = staticmethod(discard_comparison)
    endpoint = staticmethod(compare_endpoint)
    reproduction = staticmethod(no_reproduction)

    def lay_out(self, models: Models, *, first: bool) -> None:
        form = compare_form()
        self.comparison = component(
            "compare/compare.js",
            "compare",
            "halt",
            "token",
            "remove",
            "restore",
            "missing",
            "panel",
            "file",
            "runs",
            "repeat",
            form=form,
            beginning={"recorded": offers_examples(models.names)},
        )
        # so that the page shows it at once, with no question to the server
        self.comparison.value = packed(no_comparison(chats=models.first.chat is not None))

    @property
    def parts(self) -> Sequence[Part]:
        return [Part("comparison", self.comparison, packed, beside=("update",))]

    def wire(self, frame: Frame) -> None:
        bind, view = partial(self.bind, frame), self.comparison
        bind(view.compare, compare.compare, RUNNING)
        bind(view.repeat, compare.repeat, RUNNING)
        bind(view.token, compare.open_token, trigger_mode="multiple")
        bind(view.remove, compare.remove, trigger_mode="multiple")
        bind(view.restore, compare.restore, trigger_mode="multiple")
        bind(view.missing, compare.resend, trigger_mode="multiple")
        frame.ask(view, "panel", card_settings, "settings")
        frame.ask(view, "file", compare.file, "file")
        frame.ask(view, "runs", shared, "file")
        view.halt(halt, frame.session, None, queue=False, **QUIET)
