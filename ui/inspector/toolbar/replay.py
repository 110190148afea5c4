"""A run opened from a file, an untrusted "attend.trace/1" document, shown without a model.

A file contains no attention and no labels for the prompt's tokens, so the prompt is shown as one box. Knows nothing of
gradio, of models or of tokenizers.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from decoding.settings import DecodingSettings
from decoding.step import DropReason
from decoding.trace import SCHEMA
from model.errors import AttendError
from ui.inspector.inspector_contract import BeamRecord, DropRecord, InspectorValue, SearchValue
from ui.inspector.values import step_value
from ui.kit.validation import checked_text
from ui.runs.documents.reader import InvalidDocument, as_mapping, as_number, as_text, list_in, wrong
from ui.runs.documents.steps import MAX_STEPS, read_step
from ui.runs.runs_contract import TokenKind, TokenOrigin
from ui.runs.session import Session
from ui.runs.values import short_share

MAX_BEAMS = 64  # of one step: those that live on, those that ended and those that were left
MAX_SCORE = 1e9  # nats
_NAME = "replay-"


def is_replay(identifier: object) -> bool:
    """Whether a run that the inspector shows came from a file."""
    return isinstance(identifier, str) and identifier.startswith(_NAME)


def opened(session: Session, text: object) -> InspectorValue:
    """The run of a file, for the inspector; `AttendError` for a file that is not one."""
    session.refuse_while_busy()
    session.counter += 1
    try:
        content = json.loads(as_text("its content", text, sys.maxsize))
        value = replay(as_mapping("its content", content), f"{_NAME}{session.counter}")
    except InvalidDocument as error:
        raise _refused(str(error)) from error
    except (ValueError, RecursionError) as error:  # no JSON, or lists in lists without end
        raise _refused("invalid JSON") from error
    session.shown = None
    return value


def replay(document: Mapping[str, Any], name: str) -> InspectorValue:
    """The document's run under this name; `InvalidDocument` that says what is wrong with it."""
    if document.get("schema") != SCHEMA:
        raise InvalidDocument("not saved by Attend")
    prompt = as_mapping("its prompt", document.get("prompt")).get("text")
    steps = [
        read_step(number, step) for number, step in enumerate(list_in("its steps", document, "steps", MAX_STEPS), 1)
    ]
    if not steps:
        raise wrong("its steps", [])
    strategy = as_mapping("its settings", document.get("settings")).get("strategy")
    origin: TokenOrigin = "search" if DecodingSettings.from_dict({"strategy": strategy}).beams else "chosen"
    tokens: list[tuple[str, TokenKind, float | None]] = [
        (checked_text(prompt, "The file's prompt"), "prompt", None),
        *(
            (labels[choice.token], "generated", short_share(choice.probability, choice.kept[0]))
            for choice, labels in steps
        ),
    ]
    return {
        "run": name,
        "mode": "file",
        "tokens": tokens,
        "source": 0,
        "first": 1,
        "steps": [step_value(choice, labels.__getitem__, origin) for choice, labels in steps],
        "layers": 0,
        "heads": 0,
        "rows": [],
        "rows_from": 0,
        "selected": None,
        "search": _search(document) if origin == "search" else None,
        "busy": False,
    }


def _search(document: Mapping[str, Any]) -> SearchValue | None:
    """The beams, in the order of the file; None of one that was saved when they had no texts."""
    listed = list_in("its beams", {"beams": [], **document}, "beams", MAX_STEPS)
    steps: list[list[BeamRecord]] = []
    dropped: list[DropRecord] = []
    best: list[tuple[int, int]] = []
    returned: dict[int, tuple[int, int]] = {}
    parents = [0]  # places in the step before that a parent counts
    for number, step in enumerate(listed):
        subject = f"a beam of step {number + 1}"
        listed_here = list_in(f"the beams of step {number + 1}", {"beams": step}, "beams", MAX_BEAMS)
        beams = [as_mapping(subject, beam) for beam in listed_here]
        if any("text" not in beam for beam in beams):
            return None
        steps.append([_beam(subject, beam, parents) for beam in beams])
        parents = [index for index, beam in enumerate(beams) if beam.get("finished") is not True]
        for index, beam in enumerate(beams):
            if beam.get("dropped") is not None:
                dropped.append((number, index, *_drop(subject, beam["dropped"])))
            if beam.get("leads") is True:
                best.append((number, index))
            if beam.get("returned") is not None:
                returned[int(as_number(f"the rank of {subject}", beam["returned"], 1, MAX_BEAMS))] = (number, index)
    if listed and len(best) != 1:
        raise InvalidDocument(f"{len(best)} leading beams instead of 1")
    return {
        "first": 1,
        "since": 0,
        "steps": steps,
        "dropped": dropped,
        "best": next(iter(best), None),
        "over": bool(returned),
        "returned": [returned[rank] for rank in sorted(returned)],
    }


def _beam(subject: str, beam: Mapping[str, Any], parents: Sequence[int]) -> BeamRecord:
    parent = int(as_number(f"the parent of {subject}", beam.get("parent"), 0, len(parents) - 1))
    scores = (
        as_number(f"the scores of {subject}", beam.get(name), -MAX_SCORE, MAX_SCORE)
        for name in ("step_score", "score", "log_probability")
    )
    added, total, log_probability = scores
    ended = beam.get("finished") is True
    final = (
        as_number(f"the final score of {subject}", beam.get("final_score"), -MAX_SCORE, MAX_SCORE) if ended else None
    )
    text = as_text(f"the text of {subject}", beam.get("text"))
    return text, added, total, log_probability, parents[parent], final


def _drop(subject: str, value: object) -> tuple[str, float | None, float | None]:
    """Why a search let it go, its score, and what that had to beat."""
    found = as_mapping(f"the outcome of {subject}", value)
    reason = as_text(f"the reason of {subject}", found.get("reason"))
    if reason not in get_args(DropReason):
        raise wrong(f"the reason of {subject}", reason)
    score, to_beat = (
        None if found.get(name) is None else as_number(f"the outcome of {subject}", found[name], -MAX_SCORE, MAX_SCORE)
        for name in ("score", "to_beat")
    )
    return reason, score, to_beat


def _refused(reason: str) -> AttendError:
    return AttendError(f"Not a valid run file ({reason}). Choose one saved here or by generate.py --json.")
