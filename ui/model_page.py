"""Which function answers which event of the choice of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import gradio as gr

from ui import choosing, handlers
from ui.handlers import QUICK, QUIET, field
from ui.layout import Parts
from ui.models import Models
from ui.screen import Screen
from ui.session import Here, Session


def wire(
    page: gr.Blocks, parts: Parts, models: Models, here: Here, look: Callable[[Session, str, float], Screen]
) -> None:
    """
    Args:
        here: filled with those who choose.
        look: the page with the visitor's model, of the switch's entry and how often that was clicked.
    """
    picker, outputs = parts.picker, parts.picker.outputs

    def choose(session: Session, name: str, request: gr.Request, *, typed: bool = False) -> Iterator[Screen]:
        if request.session_hash:
            here[request.session_hash] = session
        return choosing.choose(session, models, name, typed=typed)

    def ask_for(session: Session, name: str, request: gr.Request) -> Iterator[Screen]:
        return choose(session, name, request, typed=True)

    def show(session: Session, mode: str, clicks: float) -> Screen:
        if not session.unseen:
            return Screen()
        session.unseen = False
        return look(session, mode, clicks)

    def leave(request: gr.Request) -> None:
        if session := here.get(request.session_hash or ""):
            choosing.leave(session)

    def tell(
        session: Session, event: gr.EventData
    ) -> Screen:  # Gradio names a call by its function: /translate is taken
        return choosing.translate(session, models, field(event, "source", str), field(event, "target", str))

    shown, looking = handlers.screen(parts, parts.all_outputs, show), [parts.session, parts.mode, parts.clicks]
    # Gradio's list tells `input` twice of a click, and of leaving it in any case; `blur` it tells once of all three.
    ways = ((picker.listed, picker.listed.blur, choose), (picker.other, picker.other.submit, ask_for))
    # What a generator leaves alone Gradio's page may lose, so the rest of the page comes behind it.
    for chosen, event, function in ways:
        going = handlers.screens(parts, outputs, function)
        coming = event(going, [parts.session, chosen], outputs, trigger_mode="multiple", **QUICK)
        handlers.then_move(coming.then(shown, looking, parts.all_outputs, js=handlers.CLICKS, **QUICK), parts)
    told = handlers.screen(parts, outputs, tell)
    turned = picker.languages.translate(told, parts.session, outputs, trigger_mode="multiple", **QUICK)
    handlers.then_move(turned.then(shown, looking, parts.all_outputs, js=handlers.CLICKS, **QUICK), parts)
    picker.cancel.click(choosing.cancel, parts.session, None, queue=False, **QUIET)
    page.unload(leave)
