"""Writes the entries of a run document (`decoding.run.run_document`) from the records of decoding. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, cast

from decoding.run.run_document import (
    BeamEntry,
    BeamIndex,
    DropEntry,
    InterventionEntry,
    SearchEntry,
    StepEntry,
    TokenOrigin,
)
from decoding.step import Choice, Dropped, Hypothesis, Step
from model.inspection.intervention import Intervention

Number = Callable[[float], float]  # rounds a number for the screen; `exact` for a file


def exact(number: float) -> float:
    return number


def step_entry(choice: Choice, origin: TokenOrigin = "chosen") -> StepEntry:
    """One token and its distribution, with exact numbers; `AttendError` where candidates were not recorded."""
    entry: StepEntry = {
        "id": choice.chosen.id,
        "origin": origin,
        "rank": choice.rank,
        "draw": choice.draw,
        "stages": list(choice.stages),
        "kept": list(choice.kept),
        "mass": list(choice.mass),
        "entropy": list(choice.stage_entropy),
        "candidates": [
            {"id": candidate.id, "probabilities": list(candidate.probabilities)} for candidate in choice.candidates
        ],
        "rest": list(choice.rest),
    }
    if choice.contrastive_candidates:
        entry["contrastive"] = [
            {
                "id": each.id,
                "confidence": each.confidence,
                "degeneration": each.degeneration,
                "score": each.score,
            }
            for each in choice.contrastive_candidates
        ]
    if choice.contrast is not None:
        divergences: Any = [{"layer": layer, "bits": bits} for layer, bits in choice.contrast.divergences]
        entry["contrast"] = {"layer": choice.contrast.layer, "divergences": divergences}
    return entry


def intervention_entry(intervention: Intervention) -> InterventionEntry:
    """A change inside the model, as `Intervention.of` reads it."""
    return cast(InterventionEntry, intervention.plain())


def search_entries(steps: Sequence[Step], since: int = 0, number: Number = exact) -> list[SearchEntry]:
    """The steps of a search, or of several texts at once, from step `since` on."""
    return [_search_entry(steps, step, number) for step in steps[since:]]


def _search_entry(steps: Sequence[Step], step: Step, number: Number) -> SearchEntry:
    return {
        "beams": [_beam(hypothesis, number) for hypothesis in step.hypotheses],
        "best": None if step.best is None else _beam_index(steps, step.best),
        "returned": [_beam_index(steps, hypothesis) for hypothesis in step.returned],
        "dropped": [_drop(steps, dropped, number) for dropped in step.dropped],
    }


def _beam(hypothesis: Hypothesis, number: Number) -> BeamEntry:
    return {
        "id": hypothesis.tokens[-1],
        "parent": hypothesis.parent,
        "score": number(hypothesis.score),
        "step_score": number(hypothesis.step_score),
        "log_probability": number(hypothesis.log_probability),
        "final_score": None if hypothesis.final_score is None else number(hypothesis.final_score),
        "finish_reason": hypothesis.finish_reason,
        "group": hypothesis.group,
    }


def _drop(steps: Sequence[Step], dropped: Dropped, number: Number) -> DropEntry:
    return {
        **_beam_index(steps, dropped),
        "reason": dropped.reason,
        "row": dropped.row,
        "score": None if dropped.score is None else number(dropped.score),
        "to_beat": None if dropped.to_beat is None else number(dropped.to_beat),
    }


def _beam_index(steps: Sequence[Step], text: Hypothesis | Dropped) -> BeamIndex:
    """A hypothesis of n tokens was made in the n-th step: its length says which."""
    step = len(text.tokens) - 1
    same = (text.group, text.tokens)
    hypotheses = enumerate(steps[step].hypotheses)
    return {"step": step, "index": next(i for i, each in hypotheses if (each.group, each.tokens) == same)}


def ids_in(steps: Iterable[StepEntry], search: Iterable[SearchEntry] = ()) -> set[int]:
    """All tokens that these entries name, for which a document has labels."""
    named = {candidate["id"] for step in steps for candidate in (*step["candidates"], *step.get("contrastive", ()))}
    return named | {step["id"] for step in steps} | {beam["id"] for entry in search for beam in entry["beams"]}
