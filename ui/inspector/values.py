"""What the inspector shows of a run: its tokens, what each was chosen from, and the attention. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Callable

from decoding.step import CandidateRecord, Choice, ContrastiveCandidate
from ui.inspector.beams.search import search_value
from ui.inspector.inspector_contract import CandidateRow, ContrastiveRow, InspectorValue, StepValue
from ui.runs.run import RunRecord, TokenLabels, TokenRecord
from ui.runs.runs_contract import RunMode, TokenKind, TokenOrigin
from ui.runs.values import MAX_ROWS, short, short_share

_LEAST = math.ulp(0.0)  # in the place of a probability that no float can hold


def inspector_value(
    run: RunRecord,
    tokenizer: TokenLabels,
    *,
    busy: bool,
    since: int = 0,
    selected: int | None = None,
    most_rows: int = MAX_ROWS,
    most_steps: int | None = None,
) -> InspectorValue:
    """The run from token `since` on (0: all of it), as the inspector's contract has it.

    Args:
        most_rows: bytes of attention; of a longer text the newest rows.
        most_steps: how many steps, the newest; None for all.
    """
    first = run.first
    explained = run.tokens[max(first, since) :]
    left_out = 0 if most_steps is None else max(0, len(explained) - most_steps)
    rows: list[str] = []
    size = 0
    for token in reversed(explained):
        size += len(token.row or "")
        if token.row is None or size > most_rows:
            break
        rows.append(token.row)
    rows.reverse()
    value: InspectorValue = {
        "run": run.id,
        "mode": run.mode,
        "tokens": [_token(token, tokenizer) for token in run.tokens[since:]],
        "source": len(run.source),
        "first": first,
        "steps": [
            step_value(token.choice, tokenizer.label, token.origin)
            for token in explained[left_out:]
            if token.choice is not None
        ],
        "layers": run.shape[0],
        "heads": run.shape[1],
        "rows": rows,
        "rows_from": len(run.tokens) - len(rows) - 1,
        "search": search_value(run.trace, tokenizer.label, since),
        "selected": selected,
        "busy": busy,
    }
    if since:
        value["since"] = since
    if left_out:
        value["steps_from"] = max(first, since) + left_out
    return value


def empty_inspector(mode: RunMode, *, unloaded: str = "") -> InspectorValue:
    """
    Args:
        mode: the tab, whose example the page shows instead where it has one.
        unloaded: the model that wrote the text, where it is no longer loaded.
    """
    return {
        "unloaded": unloaded,
        "run": None,
        "mode": mode,
        "tokens": [],
        "source": 0,
        "first": 0,
        "steps": [],
        "layers": 0,
        "heads": 0,
        "rows": [],
        "rows_from": 0,
        "search": None,
        "selected": None,
        "busy": False,
    }


def step_value(choice: Choice, label: Callable[[int], str], origin: TokenOrigin = "chosen") -> StepValue:
    """One choice as the inspector shows it; `label` names a token id as a table does."""
    rows = [_row(candidate, choice, label) for candidate in choice.candidates]
    known = [sum(row[3][stage] > 0 for row in rows) for stage in range(len(choice.stages))]
    value: StepValue = {
        "stages": list(choice.stages),
        "kept": list(choice.kept),
        "mass": [_mass(choice, stage) for stage in range(len(choice.mass))],
        "entropy": [short(bits) for bits in choice.stage_entropy],
        "rank": choice.rank,
        "draw": choice.draw,
        "origin": origin,
        "rest": [
            short(mass) or (_LEAST if kept > listed else 0.0)
            for mass, kept, listed in zip(choice.rest, choice.kept, known, strict=True)
        ],
        "rows": rows,
    }
    if choice.contrastive_candidates:
        value["contrastive"] = [
            _contrastive_row(candidate, choice, label) for candidate in choice.contrastive_candidates
        ]
    if choice.contrast is not None:
        divergences = [(layer, short(bits)) for layer, bits in choice.contrast.divergences]
        value["contrast"] = {"layer": choice.contrast.layer, "divergences": divergences}
    return value


def _token(token: TokenRecord, tokenizer: TokenLabels) -> tuple[str, TokenKind, float | None]:
    kind: TokenKind = "prompt" if token.given else "generated"
    if tokenizer.is_special(token.id):
        kind = "control"
    p = None if token.choice is None else short_share(token.choice.probability, token.choice.kept[0])
    return tokenizer.label(token.id), kind, p


def _mass(choice: Choice, stage: int) -> float:
    """What the stage before left of the probability: less than all where it removed a token, however unlikely."""
    removed = stage > 0 and choice.kept[stage] < choice.kept[stage - 1]
    return short_share(choice.mass[stage], 2) if removed else float(f"{choice.mass[stage]:.6g}")


def _row(candidate: CandidateRecord, choice: Choice, label: Callable[[int], str]) -> CandidateRow:
    probabilities = candidate.probabilities
    left = next(
        (
            i
            for i in range(1, len(probabilities))
            # a stage that keeps as many as before removed nothing: its 0 is a number too small to write
            if probabilities[i] == 0 < probabilities[i - 1] and choice.kept[i] < choice.kept[i - 1]
        ),
        len(probabilities) if probabilities[0] else 0,
    )  # how many stages have it
    removed_by = choice.stages[left] if 0 < left < len(probabilities) else None
    sent = [
        short_share(p or _LEAST, kept) if i < left else p
        for i, (p, kept) in enumerate(zip(probabilities, choice.kept, strict=True))
    ]
    return candidate.id, label(candidate.id), int(candidate.id == choice.token), sent, removed_by


def _contrastive_row(candidate: ContrastiveCandidate, choice: Choice, label: Callable[[int], str]) -> ContrastiveRow:
    numbers = short(candidate.confidence), short(candidate.degeneration), short(candidate.score)
    return label(candidate.id), *numbers, int(candidate.id == choice.token)
