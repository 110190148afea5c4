"""A run opened from a file, an untrusted "attend.trace/1" document, shown without a model.

A file contains no attention and no labels for the prompt's tokens, so the prompt is shown as one box. Knows nothing of
gradio, of models or of tokenizers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from decoding.parameters.parameter import shown
from decoding.settings import DecodingSettings
from decoding.step import CandidateRecord, Choice, ContrastiveCandidate, DropReason, LayerContrast
from decoding.trace import SCHEMA
from model.errors import AttendError
from ui.inspector.contract import BeamRecord, DropRecord, InspectorValue, SearchValue
from ui.inspector.values import step_value
from ui.kit.validation import checked_text
from ui.runs.contract import TokenKind, TokenOrigin
from ui.runs.session import Session
from ui.runs.values import short

MOST_STEPS = 4096  # the longest run there is
MOST_CANDIDATES = 51  # the most that are kept, and the token chosen
MOST_STAGES = 64
MOST_WEIGHED = 64  # candidates of contrastive search
MOST_BEAMS = 64  # of one step: those that live on, those that ended and those that were left
MOST_SCORE = 1e9  # nats
MOST_LAYERS = 100  # that dola looked at
MOST_LABEL = 200  # characters of one token or of a stage's name
MOST_ID = 2**31
_NAME = "replay-"
_NUMBERS = {  # of every stage, in words
    "probabilities": "probabilities",
    "kept": "candidate counts",
    "rest": "probabilities of the other tokens",
    "mass": "kept probabilities",
    "stage_entropy": "entropies",
}


def is_replay(identifier: object) -> bool:
    """Whether a run that the inspector shows came from a file."""
    return isinstance(identifier, str) and identifier.startswith(_NAME)


def opened(session: Session, text: object) -> InspectorValue:
    """The run of a file, for the inspector; `AttendError` for a file that is not one."""
    session.refuse_while_busy()
    if not isinstance(text, str):
        raise _wrong("its content", text)
    session.counter += 1
    try:
        value = replay(_mapping("its content", json.loads(text)), f"{_NAME}{session.counter}")
    except (ValueError, RecursionError) as error:  # no JSON, or lists in lists without end
        raise _refused("invalid JSON") from error
    session.shown = None
    return value


def replay(document: Mapping[str, Any], name: str) -> InspectorValue:
    """The document's run under this name; `AttendError` that says what is wrong with it."""
    if document.get("schema") != SCHEMA:
        raise _refused("not saved by Attend")
    prompt = _mapping("its prompt", document.get("prompt")).get("text")
    steps = [_choice(number, step) for number, step in enumerate(_list("its steps", document, "steps", MOST_STEPS), 1)]
    if not steps:
        raise _wrong("its steps", [])
    strategy = _mapping("its settings", document.get("settings")).get("strategy")
    origin: TokenOrigin = "search" if DecodingSettings.from_dict({"strategy": strategy}).beams else "chosen"
    tokens: list[tuple[str, TokenKind, float | None]] = [
        (checked_text(prompt, "The file's prompt"), "prompt", None),
        *((labels[choice.token], "generated", short(choice.probability)) for choice, labels in steps),
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
    listed = _list("its beams", {"beams": [], **document}, "beams", MOST_STEPS)
    steps: list[list[BeamRecord]] = []
    dropped: list[DropRecord] = []
    best: list[tuple[int, int]] = []
    returned: dict[int, tuple[int, int]] = {}
    parents = [0]  # places in the step before that a parent counts
    for number, step in enumerate(listed):
        subject = f"a beam of step {number + 1}"
        listed_here = _list(f"the beams of step {number + 1}", {"beams": step}, "beams", MOST_BEAMS)
        beams = [_mapping(subject, beam) for beam in listed_here]
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
                returned[int(_number(f"the rank of {subject}", beam["returned"], 1, MOST_BEAMS))] = (number, index)
    if listed and len(best) != 1:
        raise _refused(f"{len(best)} leading beams instead of 1")
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
    parent = int(_number(f"the parent of {subject}", beam.get("parent"), 0, len(parents) - 1))
    scores = (
        _number(f"the scores of {subject}", beam.get(name), -MOST_SCORE, MOST_SCORE)
        for name in ("step_score", "score", "log_probability")
    )
    added, total, log_probability = scores
    ended = beam.get("finished") is True
    final = (
        _number(f"the final score of {subject}", beam.get("final_score"), -MOST_SCORE, MOST_SCORE) if ended else None
    )
    text = _text(f"the text of {subject}", beam.get("text"))
    return text, added, total, log_probability, parents[parent], final


def _drop(subject: str, value: object) -> tuple[str, float | None, float | None]:
    """Why a search let it go, its score, and what that had to beat."""
    found = _mapping(f"the outcome of {subject}", value)
    reason = _text(f"the reason of {subject}", found.get("reason"))
    if reason not in get_args(DropReason):
        raise _wrong(f"the reason of {subject}", reason)
    score, to_beat = (
        None if found.get(name) is None else _number(f"the outcome of {subject}", found[name], -MOST_SCORE, MOST_SCORE)
        for name in ("score", "to_beat")
    )
    return reason, score, to_beat


def _choice(number: int, value: object) -> tuple[Choice, dict[int, str]]:
    """One step, and how its tokens are shown."""
    subject = f"step {number}"
    step = _mapping(subject, value)
    stages = tuple(
        _text(f"a filter of {subject}", stage)
        for stage in _list(f"the filters of {subject}", step, "stages", MOST_STAGES)
    )
    if not stages:
        raise _wrong(f"the filters of {subject}", [])
    token, text = _token(subject, step.get("token"))
    labels = {token: text}
    candidates = []
    for entry in _list(f"the candidates of {subject}", step, "candidates", MOST_CANDIDATES):
        candidate, label = _token(f"a candidate of {subject}", entry)
        labels[candidate] = label
        probabilities = _numbers(f"a candidate of {subject}", entry, "probabilities", 1.0, stages)
        candidates.append(CandidateRecord(candidate, probabilities))
    if all(candidate.id != token for candidate in candidates):
        raise _refused(f"the token of {subject} is not among its candidates")
    draw = step.get("draw")
    choice = Choice(
        token=token,
        rank=int(_number(f"the rank of {subject}", step.get("rank"), 1, MOST_ID)),
        draw=None if draw is None else _number(f"the draw of {subject}", draw, 0, 1),
        stages=stages,
        kept=tuple(int(count) for count in _numbers(subject, step, "kept", MOST_ID, stages)),
        candidates=tuple(candidates),
        rest=_numbers(subject, step, "rest", 1.0, stages),
        mass=_numbers(subject, step, "mass", 1.0, stages),
        stage_entropy=_numbers(subject, step, "stage_entropy", 64.0, stages),
        contrastive_candidates=_weighed(subject, step, labels) if "weighed" in step else (),
        contrast=_contrast(subject, step) if "contrast" in step else None,
    )
    return choice, labels


def _weighed(subject: str, step: Mapping[str, Any], labels: dict[int, str]) -> tuple[ContrastiveCandidate, ...]:
    """What contrastive search weighed; `labels` learns how it is shown."""
    weighed = []
    for entry in _list(f"the contrastive candidates of {subject}", step, "weighed", MOST_WEIGHED):
        token, text = _token(f"a contrastive candidate of {subject}", entry)
        labels[token] = text
        confidence = _number(f"the confidence of {subject}", entry.get("confidence"), 0, 1)
        # a cosine, and a mean of it and a probability; rounding may take it past 1
        degeneration, score = (
            _number(f"the {name} of {subject}", entry.get(name), -2, 2) for name in ("degeneration", "score")
        )
        weighed.append(ContrastiveCandidate(token, confidence, degeneration, score))
    return tuple(weighed)


def _contrast(subject: str, step: Mapping[str, Any]) -> LayerContrast:
    """Which layers dola looked at, the one it took among them."""
    found = _mapping(f"the contrast of {subject}", step.get("contrast"))
    divergences = {}
    for entry in _list(f"the layers of {subject}", found, "divergences", MOST_LAYERS):
        layer = _mapping(f"a layer of {subject}", entry)
        number = int(_number(f"a layer of {subject}", layer.get("layer"), 0, MOST_ID))
        divergences[number] = _number(f"a layer of {subject}", layer.get("bits"), 0, 1)
    layer = int(_number(f"the layer of {subject}", found.get("layer"), 0, MOST_ID))
    if layer not in divergences:
        raise _refused(f"the layer of {subject} is not among those compared")
    return LayerContrast(layer, tuple(divergences.items()))


def _token(subject: str, value: object) -> tuple[int, str]:
    found = _mapping(f"the token of {subject}", value)
    return int(_number(f"the id of {subject}", found.get("id"), 0, MOST_ID)), _text(
        f"the text of {subject}", found.get("text")
    )


def _mapping(subject: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise _wrong(subject, value)
    return value


def _list(subject: str, holder: Mapping[str, Any], name: str, most: int) -> list[Any]:
    value = holder.get(name)
    if not isinstance(value, list):
        raise _wrong(subject, value)
    if len(value) > most:
        raise _refused(f"{subject} can't be more than {most:,}")
    return value


def _text(subject: str, value: object) -> str:
    if not isinstance(value, str) or len(value) > MOST_LABEL:
        raise _wrong(subject, value)
    return value


def _number(subject: str, value: object, low: float, high: float) -> float:
    # sums of probabilities may pass 1 by rounding; no comparison holds for NaN
    if not isinstance(value, int | float) or isinstance(value, bool) or not low <= value <= high + 1e-6:
        raise _wrong(subject, value)
    return value


def _numbers(
    subject: str, holder: Mapping[str, Any], name: str, high: float, stages: tuple[str, ...]
) -> tuple[Any, ...]:
    """One number for every stage."""
    described = f"the {_NUMBERS[name]} of {subject}"
    values = _list(described, holder, name, MOST_STAGES)
    if len(values) != len(stages):
        raise _refused(f"{described} can't be {len(values):,} for {len(stages)} filters")
    return tuple(_number(described, value, 0, high) for value in values)


def _wrong(subject: str, value: object) -> AttendError:
    described = shown(value or None) if isinstance(value, list | dict | str) else shown(value)
    return _refused(f"{subject} can't be {described}")


def _refused(reason: str) -> AttendError:
    return AttendError(f"Not a valid run file ({reason}). Choose one saved here or by generate.py --json.")
