"""What the inspector shows of a run: its tokens, what each was chosen from, and the attention. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from decoding.request import TokenLabels
from decoding.run.run_document import StepEntry, TokenOrigin
from decoding.run.trace import Trace
from decoding.run.writer import ids_in, search_entries, step_entry
from decoding.step import CandidateRecord, Choice
from ui.inspector.inspector_contract import InspectorValue, SearchValue
from ui.runs.run import RunRecord, StoredRun
from ui.runs.run_values import MAX_ROWS, short, short_share
from ui.runs.runs_contract import RunMode, TokenKind

_LEAST = math.ulp(0.0)  # in the place of a probability that no float can hold


def inspector_value(
    run: RunRecord,
    tokenizer: TokenLabels,
    *,
    busy: bool,
    since: int = 0,
    selected: int | None = None,
    max_rows: int = MAX_ROWS,
    max_steps: int | None = None,
) -> InspectorValue:
    """The run from token `since` on (0: all of it), as the inspector's contract has it.

    Args:
        max_rows: bytes of attention; of a longer text the newest rows.
        max_steps: how many steps, the newest; None for all.
    """
    run = replace(run)  # as it is now: another thread may be lengthening it
    first, tokens = run.first, run.tokens[since:]
    explained = run.tokens[max(first, since) :]
    left_out = 0 if max_steps is None else max(0, len(explained) - max_steps)
    steps = [step_value(token.choice, token.origin) for token in explained[left_out:] if token.choice is not None]
    rows: list[str] = []
    size = 0
    for token in reversed(explained):
        size += len(token.row or "")
        if token.row is None or size > max_rows:
            break
        rows.append(token.row)
    rows.reverse()
    search = search_value(run.trace, since)
    named = ids_in(steps, search["steps"] if search else ()).union(token.id for token in tokens)
    value: InspectorValue = {
        "run": run.id,
        "mode": run.mode,
        "ids": [token.id for token in tokens],
        "kinds": [_kind(tokenizer.is_special(token.id), token.is_given) for token in tokens],
        "probabilities": [None if token.choice is None else _probability(token.choice) for token in tokens],
        "labels": labels(named, tokenizer),
        "source": len(run.source),
        "first": first,
        "steps": steps,
        "layers": run.shape[0],
        "heads": run.shape[1],
        "rows": rows,
        "rows_from": len(run.tokens) - len(rows) - 1,
        "search": search,
        "selected": selected,
        "busy": busy,
    }
    if since:
        value["since"] = since
    elif run.trace is not None:
        value["settings"], value["settings_from"] = run.trace.settings.to_dict(), len(run.trace.request.attended)
    if left_out:
        value["steps_from"] = max(first, since) + left_out
    return value


def empty_inspector(mode: RunMode, *, unloaded: str = "") -> InspectorValue:
    """
    Args:
        mode: the tab, whose example the page shows instead where it has one.
        unloaded: the model that wrote the text, where it is no longer loaded.
    """
    value = inspector_value(RunRecord("", "write", "", []), StoredRun("", {}, frozenset()), busy=False)
    return {**value, "run": None, "mode": mode, "unloaded": unloaded}


def step_value(choice: Choice, origin: TokenOrigin = "chosen") -> StepEntry:
    """One step in the six digits that a screen shows."""
    entry = step_entry(choice, origin)
    entry["candidates"] = [
        {"id": candidate.id, "probabilities": _shares(candidate, choice)} for candidate in choice.candidates
    ]
    entry["mass"] = [_mass(choice, stage) for stage in range(len(choice.mass))]
    entry["entropy"] = [short(bits) for bits in choice.stage_entropy]
    for stage, (rest, kept) in enumerate(zip(choice.rest, choice.kept, strict=True)):
        listed = sum(candidate["probabilities"][stage] > 0 for candidate in entry["candidates"])
        entry["rest"][stage] = short(rest) or (_LEAST if kept > listed else 0.0)
    for candidate in entry.get("contrastive", ()):
        for name in ("confidence", "degeneration", "score"):
            candidate[name] = short(candidate[name])
    for divergence in entry["contrast"]["divergences"] if "contrast" in entry else ():
        divergence["bits"] = short(divergence["bits"])
    return entry


def search_value(trace: Trace | None, since: int = 0) -> SearchValue | None:
    """The steps from the one that chose token `since` on; None if the trace is not that of a search.

    Each step lengthens every text by one token, so no text has more tokens than there were steps.
    """
    if trace is None or not trace.settings.beams:
        return None
    first = len(trace.request.attended)
    known = max(0, since - first)
    return {"first": first, "since": known, "steps": search_entries(trace.steps, known, lambda score: round(score, 4))}


def labels(ids: Iterable[int], tokenizer: TokenLabels) -> dict[str, str]:
    """What these tokens are called."""
    return {str(token): tokenizer.label(token) for token in ids}


def _kind(is_special: bool, is_given: bool) -> TokenKind:
    if is_special:
        return "control"
    return "prompt" if is_given else "generated"


def _probability(choice: Choice) -> float:
    return short_share(choice.probability, choice.kept[0])


def _mass(choice: Choice, stage: int) -> float:
    """The share of the probability that a stage kept: below 1 if it removed a token, however unlikely."""
    removed = stage > 0 and choice.kept[stage] < choice.kept[stage - 1]
    return short_share(choice.mass[stage], 2) if removed else float(f"{choice.mass[stage]:.6g}")


def _shares(candidate: CandidateRecord, choice: Choice) -> list[float]:
    """A candidate's probabilities, above 0 up to the stage that removed it, so that the page can tell which it was."""
    shares: Sequence[float] = candidate.probabilities
    removed = next(
        (
            stage
            for stage in range(1, len(shares))
            # a stage that keeps as many as before removed nothing: its 0 is a number too small to write
            if shares[stage] == 0 < shares[stage - 1] and choice.kept[stage] < choice.kept[stage - 1]
        ),
        len(shares) if shares[0] else 0,
    )
    return [
        short_share(share or _LEAST, kept) if stage < removed else share
        for stage, (share, kept) in enumerate(zip(shares, choice.kept, strict=True))
    ]
