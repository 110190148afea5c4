"""Which function answers which question of the fold "Why?", and how its replies reach the page.

The page asks one question at a time. Each carries the number of the visitor's turn, which rises when another token or
view is chosen, so that an answer that nobody waits for any more ends before its next pass of the model.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import gradio as gr

from model.errors import AttendError
from ui.frame import Frame
from ui.inspector.why import answers, heads, patch
from ui.inspector.why.question import Progress, Question
from ui.inspector.why.why_contract import WhyReply
from ui.kit.component import component
from ui.runs.models import Models
from ui.runs.session import Session

QUESTIONS: Mapping[str, Callable[[Question], Mapping[str, Any] | Progress[Any]]] = MappingProxyType(
    {
        "lens": answers.lens,
        "lens_cell": answers.lens_cell,
        "words": answers.words,
        "parts": answers.parts,
        "inputs": answers.inputs,
        "heads": heads.heads,
        "open_head": heads.open_head,
        "switch_off": heads.switch_off,
        "write_without": heads.write_without,
        "rank_heads": heads.rank_heads,
        "patch_form": patch.patch_form,
        "patch_texts": patch.patch_texts,
    }
)
_ASKING: Any = {"concurrency_limit": 8, "concurrency_id": "causes"}


def build() -> gr.HTML:
    """The fold; its values are `WhyReply`s."""
    return component("inspector/why/why.js", "ask", "leave", name="why")


def wire(frame: Frame, fold: gr.HTML) -> None:
    frame.ask(fold, "ask", answer, **_ASKING)
    frame.hear(fold.leave, go_on)


def go_on(session: Session, turn: int) -> None:
    """Let the answers of earlier turns end."""
    session.causes = max(session.causes, turn)


def answer(session: Session, models: Models, turn: int, question: str, fields: dict[str, Any]) -> Iterator[WhyReply]:
    """What a question is replied to until the visitor goes on."""
    if question not in QUESTIONS:
        raise AttendError("This page is out of date: reload it.")
    go_on(session, turn)
    deadline = time.monotonic() + models.limits.run_seconds
    for reply in answered(question, Question(session, models, fields)):
        if session.causes != turn:
            return
        if "answer" not in reply and time.monotonic() > deadline:
            raise AttendError(
                f"This took longer than the limit of {models.limits.run_seconds:.0f} seconds: ask about a shorter text."
            )
        yield reply


def answered(name: str, question: Question) -> Iterator[WhyReply]:
    """The progress of an answer that takes long, and last the answer."""
    answer = QUESTIONS[name](question)
    if isinstance(answer, Generator):
        answer = yield from answer
    yield {"answer": answer}
