"""Layers' guesses, and why one token and not another: which words, which parts, which embeddings.

Each function answers one question (`QUESTIONS` of `why_events.py`); `model.inspection` computes what it says.
"""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from model.causes.reading import left_out_words
from model.causes.reading import words as cut_into_words
from model.errors import AttendError
from model.inspection.attribution import attribute_directly, attribute_inputs
from model.inspection.lens import column_count, positions_at_once, read_layers, read_position
from model.inspection.words import leave_out
from ui.inspector.why.question import ExplainedToken, Progress, Question, last_step, short
from ui.inspector.why.why_contract import (
    InputsAnswer,
    LensAnswer,
    LensCell,
    LensRow,
    PartsAnswer,
    Word,
    WordsAnswer,
)
from ui.kit.packing import significant

_ROWS, _CELLS = 128, 5_000  # of one table of guesses: more would cost the page too much
_BEST, _PINNED = 10, 3
_WORDS = 240  # that are left out at most: the newest
_GRADIENT_TOKENS, _STEPS = 600, 30  # of a text whose gradients are taken, and points at which they are


def lens(question: Question) -> LensAnswer:
    """Every layer's guesses at the tokens of an answer; of a long one, at those around the token."""
    target, middle = question.target(), bool(question.fields.get("middle"))
    at_once = positions_at_once(target.inspector, target.loaded.model.vocabulary_size, sublayers=middle)
    columns = column_count(target.inspector.anatomy, sublayers=middle)
    size = min(_ROWS, at_once or _ROWS, max(1, _CELLS // columns))
    begin, stop = max(target.run.first, len(target.source) + 1), len(target.source) + len(target.text)
    first = max(begin, min(target.number - size // 2, stop - size))
    end = min(stop, first + size)
    last = replace(target, number=end - 1)
    last.check_size(last.position)
    start = first - len(target.source) - 1  # the position that predicts the first of them
    with target.loaded.lock:
        read = read_layers(
            target.inspector,
            target.text[: end - len(target.source)],
            source=target.source,
            interventions=target.run.interventions,
            sublayers=middle,
            first=start,
        )
    rows: list[LensRow] = [
        {
            "id": token,
            "top": read.top[:, position].tolist(),
            "top_probability": short(read.top_probability[:, position].tolist()),
            "chosen": [significant(value) for value in read.chosen[:, position].tolist()],
            "decided": read.decided[position],
        }
        for position, token in enumerate(target.run.ids[first:end])
    ]
    return {
        "columns": list(read.columns),
        "first": first - target.run.first,
        "total": len(target.run.tokens) - begin,
        "rows": rows,
        "labels": target.labels({token for row in rows for token in (row["id"], *row["top"])}),
    }


def lens_cell(question: Question) -> LensCell:
    """The ten best guesses of every layer in the place of one token, and how the pinned ones rise and fall."""
    target, pinned = question.target(), question.fields.get("pinned", [])
    if not isinstance(pinned, list) or len(pinned) > _PINNED:
        raise AttendError(f"At most {_PINNED} tokens can be pinned beside the chosen one: unpin one first.")
    ids = [target.token, *(int(token) for token in pinned if isinstance(token, int))]
    with target.loaded.lock:
        read = read_position(
            target.inspector,
            target.before,
            target.position - 1,
            source=target.source,
            interventions=target.run.interventions,
            count=_BEST,
            ids=ids,
            sublayers=bool(question.fields.get("middle")),
        )
    return {
        "columns": list(read.columns),
        "top": read.top.tolist(),
        "probabilities": [short(column) for column in read.probabilities.tolist()],
        "ids": ids,
        "curves": [short(curve) for curve in read.curves.T.tolist()],  # (ids, columns)
        "labels": target.labels({*ids, *read.top.flatten().tolist()}),
    }


def words(question: Question) -> Progress[WordsAnswer]:
    """How the choice changes without each earlier word or, for an encoder-decoder, without each word of the source."""
    target = question.target()
    chosen, rival = _pair(question, target)
    changed = target.source or target.before
    tokenizer = target.loaded.tokenizer
    left_out = left_out_words(tokenizer, changed)[-_WORDS:]
    removals = leave_out(target.inspector, target.before, left_out, chosen, rival, source=target.source)
    last = yield from last_step(removals, target.loaded.lock)
    changes = {} if last is None else dict(zip(left_out, short(last.changes.tolist()), strict=True))
    words: list[Word] = [
        {"text": "".join(map(tokenizer.label, changed[slice(*span)])), "change": changes.get(span)}
        for span in cut_into_words(tokenizer, changed)
    ]
    return {"words": words}


def parts(question: Question) -> PartsAnswer:
    """What each part of the model wrote into the choice."""
    target = question.target()
    chosen, rival = _pair(question, target)
    with target.loaded.lock:
        attribution = attribute_directly(target.inspector, target.before, chosen, rival, source=target.source)

    def rows(values: Tensor | None) -> list[list[float]] | None:
        return None if values is None else [short(row) for row in values.tolist()]

    return {
        "embedding": significant(attribution.embedding),
        "names": list(target.inspector.anatomy.names),
        "sublayers": [short(row) for row in attribution.sublayers.tolist()],
        "heads": rows(attribution.heads),
        "rest": None if attribution.head_rest is None else short(attribution.head_rest.tolist()),
        "cross_heads": rows(attribution.cross_heads),
        "cross_rest": None if attribution.cross_rest is None else short(attribution.cross_rest.tolist()),
        "constant": significant(attribution.constant),
        "total": significant(attribution.total),
        "gap": significant(attribution.gap, 2),
    }


def inputs(question: Question) -> InputsAnswer:
    """What each token's embedding added to the choice, by gradients."""
    target, steps = question.target(), question.whole("steps")
    chosen, rival = _pair(question, target)
    if steps not in (0, _STEPS):
        raise AttendError(f"The number of steps is {steps}, but must be 0 or {_STEPS}.")
    read = target.source or target.before
    if (longest := max(len(read), len(target.before))) > _GRADIENT_TOKENS:
        raise AttendError(
            f"The text has {longest:,} tokens, but gradients are taken of at most {_GRADIENT_TOKENS:,}: ask about an "
            "earlier token."
        )
    with target.loaded.lock:
        attribution = attribute_inputs(
            target.inspector, target.before, chosen, rival, source=target.source, steps=steps
        )
    return {
        "ids": list(read),
        "scores": short(attribution.scores.tolist()),
        "total": significant(attribution.total),
        "gap": significant(attribution.gap),
        "labels": target.labels(read),
    }


def _pair(question: Question, target: ExplainedToken) -> tuple[int, int | None]:
    """The token whose choice is explained, and the one that it is compared with, if any."""
    target.refuse_changed()
    chosen, rival = question.token("chosen", target), question.token("rival", target)
    if chosen is None:
        chosen = target.token
    if chosen == rival:
        raise AttendError("Both tokens are the same: choose two that differ.")
    return chosen, rival
