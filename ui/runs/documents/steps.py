"""One step of an "attend.trace/1" document, read back as the `Choice` that it was written from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from decoding.step import CandidateRecord, Choice, ContrastiveCandidate, LayerContrast
from ui.runs.documents.reader import MAX_ID, InvalidDocument, as_mapping, as_number, as_text, list_in, wrong

MAX_STEPS = 4096  # the longest possible run
MAX_CANDIDATES = 51  # the most that are kept, and the token chosen
MAX_STAGES = 64
MAX_WEIGHED = 64  # candidates of contrastive search
MAX_LAYERS = 100  # that DoLa considers
_NUMBERS = {  # of every stage, in words
    "probabilities": "probabilities",
    "kept": "candidate counts",
    "rest": "probabilities of the other tokens",
    "mass": "kept probabilities",
    "stage_entropy": "entropies",
}


def read_step(number: int, value: object) -> tuple[Choice, dict[int, str]]:
    """Step `number` (from 1) and the labels of its tokens; `InvalidDocument` if it is not valid."""
    subject = f"step {number}"
    step = as_mapping(subject, value)
    stages = tuple(
        as_text(f"a filter of {subject}", stage)
        for stage in list_in(f"the filters of {subject}", step, "stages", MAX_STAGES)
    )
    if not stages:
        raise wrong(f"the filters of {subject}", [])
    token, text = _token(subject, step.get("token"))
    labels = {token: text}
    candidates = []
    for entry in list_in(f"the candidates of {subject}", step, "candidates", MAX_CANDIDATES):
        candidate, label = _token(f"a candidate of {subject}", entry)
        labels[candidate] = label
        probabilities = _numbers(f"a candidate of {subject}", entry, "probabilities", 1.0, stages)
        candidates.append(CandidateRecord(candidate, probabilities))
    if all(candidate.id != token for candidate in candidates):
        raise InvalidDocument(f"the token of {subject} is not among its candidates")
    draw = step.get("draw")
    choice = Choice(
        token=token,
        rank=int(as_number(f"the rank of {subject}", step.get("rank"), 1, MAX_ID)),
        draw=None if draw is None else as_number(f"the draw of {subject}", draw, 0, 1),
        stages=stages,
        kept=tuple(int(count) for count in _numbers(subject, step, "kept", MAX_ID, stages)),
        candidates=tuple(candidates),
        rest=_numbers(subject, step, "rest", 1.0, stages),
        mass=_numbers(subject, step, "mass", 1.0, stages),
        stage_entropy=_numbers(subject, step, "stage_entropy", 64.0, stages),
        contrastive_candidates=_weighed(subject, step, labels) if "weighed" in step else (),
        contrast=_contrast(subject, step) if "contrast" in step else None,
    )
    return choice, labels


def _weighed(subject: str, step: Mapping[str, Any], labels: dict[int, str]) -> tuple[ContrastiveCandidate, ...]:
    """The candidates of contrastive search; their labels are added to `labels`."""
    weighed = []
    for entry in list_in(f"the contrastive candidates of {subject}", step, "weighed", MAX_WEIGHED):
        token, text = _token(f"a contrastive candidate of {subject}", entry)
        labels[token] = text
        confidence = as_number(f"the confidence of {subject}", entry.get("confidence"), 0, 1)
        # a cosine, and a mean of it and a probability; rounding may take it past 1
        degeneration, score = (
            as_number(f"the {name} of {subject}", entry.get(name), -2, 2) for name in ("degeneration", "score")
        )
        weighed.append(ContrastiveCandidate(token, confidence, degeneration, score))
    return tuple(weighed)


def _contrast(subject: str, step: Mapping[str, Any]) -> LayerContrast:
    """The layers that DoLa considered, among them the one it chose."""
    found = as_mapping(f"the contrast of {subject}", step.get("contrast"))
    divergences = {}
    for entry in list_in(f"the layers of {subject}", found, "divergences", MAX_LAYERS):
        layer = as_mapping(f"a layer of {subject}", entry)
        number = int(as_number(f"a layer of {subject}", layer.get("layer"), 0, MAX_ID))
        divergences[number] = as_number(f"a layer of {subject}", layer.get("bits"), 0, 1)
    layer = int(as_number(f"the layer of {subject}", found.get("layer"), 0, MAX_ID))
    if layer not in divergences:
        raise InvalidDocument(f"the layer of {subject} is not among those compared")
    return LayerContrast(layer, tuple(divergences.items()))


def _token(subject: str, value: object) -> tuple[int, str]:
    found = as_mapping(f"the token of {subject}", value)
    token = int(as_number(f"the id of {subject}", found.get("id"), 0, MAX_ID))
    return token, as_text(f"the text of {subject}", found.get("text"))


def _numbers(
    subject: str, holder: Mapping[str, Any], name: str, high: float, stages: tuple[str, ...]
) -> tuple[Any, ...]:
    """One number for every stage."""
    described = f"the {_NUMBERS[name]} of {subject}"
    values = list_in(described, holder, name, MAX_STAGES)
    if len(values) != len(stages):
        raise InvalidDocument(f"{described} can't be {len(values):,} for {len(stages)} filters")
    return tuple(as_number(described, value, 0, high) for value in values)
