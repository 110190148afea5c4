"""How the scores of Write's text reach the page. Its script sends the text, one question for each model.

Each question carries the number of the visitor's turn, which rises with the next text and with Stop.
"""

from __future__ import annotations

from typing import Any

import gradio as gr

from model.errors import AttendError
from ui.frame import Frame
from ui.kit.component import component
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write.scores.answers import Replies, scored
from ui.write.scores.scores_contract import ScoreLimits

_SCORING: Any = {"concurrency_limit": 8, "concurrency_id": "scores"}


def build() -> gr.HTML:
    """The scored text; its values are `ScoresReply`s."""
    limits: ScoreLimits = {"characters": MAX_CHARACTERS}
    return component("write/scores/scores.js", "score", "stop", limits=limits)


def wire(frame: Frame, view: gr.HTML) -> None:
    frame.ask(view, "score", score, **_SCORING)
    frame.hear(view.stop, stop)


def score(session: Session, models: Models, text: str, model: str, turn: int) -> Replies:
    """The replies about a text; a refusal stands where its scores would, for as long as they would."""
    try:
        yield from scored(session, models, text, model, turn)
    except AttendError as error:
        yield {"refused": str(error)}


def stop(session: Session, turn: int, closed: bool) -> None:
    """End the scores of earlier turns; a text that was closed needs its second model no more."""
    session.scores = max(session.scores, turn)
    if closed:
        session.model.scoring = None
