"""How the scores of Write's text reach the page. Its script sends the text, one question for each model.

Each question carries the number of the visitor's turn, which rises with the next text and with Stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import gradio as gr

from model.errors import AttendError
from ui.kit.component import component
from ui.kit.errors import for_people
from ui.kit.events import QUICK, QUIET, field, replies
from ui.kit.validation import MAX_CHARACTERS
from ui.runs.models import Models
from ui.runs.session import Session
from ui.write.scores.answers import scored
from ui.write.scores.scores_contract import ScoreLimits

_SCORING: Any = {**QUIET, "trigger_mode": "multiple", "concurrency_limit": 8, "concurrency_id": "scores"}


def build() -> gr.HTML:
    """The scored text; its values are `ScoresReply`s."""
    limits: ScoreLimits = {"characters": MAX_CHARACTERS}
    return component("write/scores/scores.js", "score", "stop", limits=limits)


def wire(session: gr.State, shown: gr.HTML, models: Models) -> None:
    def on_score(visitor: Session, event: gr.EventData) -> Iterator[Any]:
        def answer() -> Iterator[Any]:
            text, name = field(event, "text", str), field(event, "model", str)
            try:
                yield from scored(visitor, models, text, name, field(event, "turn", int))
            except AttendError as error:  # stands where the scores would, as long as they would
                yield {"refused": str(error)}

        yield from replies(event, answer)

    def on_stop(visitor: Session, event: gr.EventData) -> None:
        with for_people():
            visitor.scores = max(visitor.scores, field(event, "turn", int))
            if field(event, "closed", bool):
                visitor.model.scoring = None

    shown.score(on_score, session, shown, **_SCORING)
    shown.stop(on_stop, session, None, trigger_mode="multiple", **QUICK)
