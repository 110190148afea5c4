"""Texts that go on after they ended: as if they had not stopped, or with one token replaced by another.

Knows nothing of sessions or of the screen.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from decoding.run.trace import Trace
from decoding.settings import DecodingSettings
from decoding.step import Choice
from decoding.stop import TOKEN_LIMIT
from model.errors import AttendError
from model.inspection.intervention import Intervention
from model.loaded import LoadedModel
from ui.runs.run import RunRecord, TokenRecord
from ui.runs.traces import new_trace


def resumed_trace(run: RunRecord, settings: DecodingSettings) -> Trace | None:
    """The run's trace, to be continued by as many tokens as these settings allow; None if it has none, or if these
    settings would not have generated the same text in one go."""
    trace = run.trace
    if trace is None or not trace.is_unfinished:
        return None
    before = trace.settings
    seeded = replace(settings, seed=before.seed) if settings.seed < 0 else settings
    length = len(trace.ids) + settings.max_new_tokens
    any_length = {"max_new_tokens": 0}
    same = {**seeded.to_dict(), **any_length} == {**before.to_dict(), **any_length}
    if not (settings.resumable and same and length <= TOKEN_LIMIT):
        return None
    return trace.resumed(replace(seeded, max_new_tokens=length))


def trace_from_here(
    tokens: Sequence[TokenRecord],
    loaded: LoadedModel,
    settings: DecodingSettings,
    *,
    text: str,
    messages: Sequence[Mapping[str, str]] = (),
    interventions: tuple[Intervention, ...] = (),
) -> Trace:
    """A new trace, whose prompt is all these tokens; the seed's stream goes on after those that were generated.

    `AttendError` for settings that this model cannot follow, and if the context is full.
    """
    drawn = sum(not token.is_given for token in tokens)
    ids = [token.id for token in tokens]
    return new_trace(loaded, ids, settings, text=text, messages=messages, draws_used=drawn, interventions=interventions)


def exchanged(run: RunRecord, index: int, token: int, loaded: LoadedModel) -> TokenRecord:
    """Token `index` of the run, replaced by another of its candidates; `AttendError` if that is impossible."""
    if not run.first <= index < len(run.tokens):
        raise AttendError("This token no longer exists: click another one.")
    old = run.tokens[index]
    if old.choice is None or all(candidate.id != token for candidate in old.choice.candidates):
        raise AttendError("This token is not in the table: click one of the rows.")
    if loaded.tokenizer.is_special(token):
        raise AttendError(
            f"{loaded.tokenizer.label(token)} has no text of its own, so it can't be used here: choose another row."
        )
    return replace(old, id=token, origin="taken", choice=_with_token(old.choice, token))


def _with_token(choice: Choice, token: int) -> Choice:
    """The same distribution with another token chosen by hand."""
    if token == choice.token:
        return replace(choice, draw=None)
    candidates, rest = choice.candidates, choice.rest
    if choice.rank > len(candidates):  # it was listed only because it was chosen; now it belongs to the rest
        rest = tuple(mass + probability for mass, probability in zip(rest, choice.chosen.probabilities, strict=True))
        candidates = tuple(candidate for candidate in candidates if candidate.id != choice.token)
    rank = next(rank for rank, candidate in enumerate(candidates, start=1) if candidate.id == token)
    return replace(choice, token=token, rank=rank, draw=None, candidates=candidates, rest=rest)
