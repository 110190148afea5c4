"""Layers' guesses, and why one token and not another: which words, which parts, which embeddings.

Each function answers one question (`QUESTIONS` of `events.py`); `model.inspection` computes what it says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from model.errors import AttendError
from model.inspection.attribution import attribute_directly, attribute_inputs
from model.inspection.lens import read_layers, read_position
from model.inspection.words import Span, leave_out
from model.text.tokenizer import TextTokenizer
from ui.inspector.why.asked import Asked, Place, Replies, short
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
_WORDS, _TOGETHER = 240, 16  # words that are left out, the newest, and how many between two reports of progress
_GRADIENT_TOKENS, _STEPS = 600, 30  # of a text whose gradients are taken, and points at which they are


def lens(asked: Asked) -> Replies:
    """The guesses of every layer in the places of an answer's tokens, of a long one those around the token."""
    place, middle = asked.place(), bool(asked.fields.get("middle"))
    anatomy = place.inspector.anatomy
    columns = 1 + len(anatomy.layers) * (len(anatomy.names) if middle else 1)
    size = min(_ROWS, max(1, _CELLS // columns))
    begin = max(place.run.first, len(place.source) + 1)
    first = max(begin, min(place.number - size // 2, len(place.run.tokens) - size))
    end = min(len(place.run.tokens), first + size)
    last = replace(place, number=end - 1)
    last.check_size(last.position)
    offset = len(place.source)
    with place.loaded.lock:
        read = read_layers(
            place.inspector,
            place.text[: end - offset],
            source=place.source,
            interventions=place.run.interventions,
            sublayers=middle,
        )
    rows: list[LensRow] = []
    for number in range(first, end):
        position = number - offset - 1  # which predicts the token
        rows.append(
            {
                "id": place.run.ids[number],
                "top": read.top[:, position].tolist(),
                "top_probability": short(read.top_probability[:, position].tolist()),
                "chosen": [significant(value) for value in read.chosen[:, position].tolist()],
                "decided": read.decided[position],
            }
        )
    answer: LensAnswer = {
        "columns": list(read.columns),
        "first": first - place.run.first,
        "rows": rows,
        "labels": place.labels({token for row in rows for token in (row["id"], *row["top"])}),
    }
    yield {"answer": answer}


def lens_cell(asked: Asked) -> Replies:
    """The ten best guesses of every layer in the place of one token, and how the pinned ones rise and fall."""
    place, pinned = asked.place(), asked.fields.get("pinned", [])
    if not isinstance(pinned, list) or len(pinned) > _PINNED:
        raise AttendError(f"At most {_PINNED} tokens can be pinned beside the chosen one: unpin one first.")
    ids = [place.token, *(int(token) for token in pinned if isinstance(token, int))]
    with place.loaded.lock:
        read = read_position(
            place.inspector,
            place.before,
            place.position - 1,
            source=place.source,
            interventions=place.run.interventions,
            count=_BEST,
            ids=ids,
            sublayers=bool(asked.fields.get("middle")),
        )
    answer: LensCell = {
        "columns": list(read.columns),
        "top": read.top.tolist(),
        "probabilities": [short(column) for column in read.probabilities.tolist()],
        "ids": ids,
        "curves": [short(curve) for curve in read.curves.T.tolist()],  # (ids, columns)
        "labels": place.labels({*ids, *read.top.flatten().tolist()}),
    }
    yield {"answer": answer}


def words(asked: Asked) -> Replies:
    """How the choice changes without each earlier word or, for an encoder-decoder, without each word of the source."""
    place = asked.place()
    chosen, rival = _pair(asked, place)
    changed = place.source or place.before
    spans = spans_of(changed, place.loaded.tokenizer)
    left_out = [span for span in spans if not _is_special(changed, span, place)][-_WORDS:]
    if len(spans) == 1:
        left_out = []  # nothing would be left to read
    changes: dict[Span, float] = {}
    for begin in range(0, len(left_out), _TOGETHER):
        some = left_out[begin : begin + _TOGETHER]
        with place.loaded.lock:
            values = leave_out(place.inspector, place.before, some, chosen, rival, source=place.source)
        changes |= zip(some, short(values.tolist()), strict=True)
        yield {"progress": (len(changes), len(left_out))}
    label = place.loaded.tokenizer.label
    shown: list[Word] = [
        {"text": "".join(map(label, changed[slice(*span)])), "change": changes.get(span)} for span in spans
    ]
    answer: WordsAnswer = {"words": shown}
    yield {"answer": answer}


def parts(asked: Asked) -> Replies:
    """What each part of the model wrote into the choice."""
    place = asked.place()
    chosen, rival = _pair(asked, place)
    with place.loaded.lock:
        found = attribute_directly(place.inspector, place.before, chosen, rival, source=place.source)

    def rows(values: Tensor | None) -> list[list[float]] | None:
        return None if values is None else [short(row) for row in values.tolist()]

    answer: PartsAnswer = {
        "embedding": significant(found.embedding),
        "names": list(place.inspector.anatomy.names),
        "sublayers": [short(row) for row in found.sublayers.tolist()],
        "heads": rows(found.heads),
        "rest": None if found.head_rest is None else short(found.head_rest.tolist()),
        "cross_heads": rows(found.cross_heads),
        "cross_rest": None if found.cross_rest is None else short(found.cross_rest.tolist()),
        "constant": significant(found.constant),
        "total": significant(found.total),
        "gap": significant(found.gap, 2),
    }
    yield {"answer": answer}


def inputs(asked: Asked) -> Replies:
    """What each token's embedding added to the choice, by gradients."""
    place, steps = asked.place(), asked.whole("steps")
    chosen, rival = _pair(asked, place)
    if steps not in (0, _STEPS):
        raise AttendError(f"The number of steps is {steps}, but must be 0 or {_STEPS}.")
    read = place.source or place.before
    if len(read) + len(place.before) > 2 * _GRADIENT_TOKENS:
        raise AttendError(
            f"The text has {len(read):,} tokens, but gradients are taken of at most {_GRADIENT_TOKENS:,}: ask about an "
            "earlier token."
        )
    with place.loaded.lock:
        found = attribute_inputs(place.inspector, place.before, chosen, rival, source=place.source, steps=steps)
    answer: InputsAnswer = {
        "ids": list(read),
        "scores": short(found.scores.tolist()),
        "total": significant(found.total),
        "gap": significant(found.gap, 2),
        "labels": place.labels(read),
    }
    yield {"answer": answer}


def _pair(asked: Asked, place: Place) -> tuple[int, int | None]:
    """The token whose choice is explained, and the one that it is compared with, if any."""
    place.refuse_changed()
    chosen, rival = asked.token("chosen", place), asked.token("rival", place)
    if chosen is None:
        chosen = place.token
    if chosen == rival:
        raise AttendError("Both tokens are the same: choose two that differ.")
    return chosen, rival


def spans_of(ids: Sequence[int], tokenizer: TextTokenizer) -> list[Span]:
    """The words of a text: a token begins one if a space comes first, or where letters and other signs meet."""
    starts = [0]
    labels = [tokenizer.label(token) for token in ids]
    for index in range(1, len(ids)):
        before, here = labels[index - 1], labels[index]
        is_apart = tokenizer.is_special(ids[index]) or tokenizer.is_special(ids[index - 1])
        if is_apart or not before or not here or here[0].isspace() or before[-1].isalnum() != here[0].isalnum():
            starts.append(index)
    return [*zip(starts, [*starts[1:], len(ids)], strict=True)]


def _is_special(ids: Sequence[int], span: Span, place: Place) -> bool:
    """Whether a span is a control token, such as one that begins a message: without it, the text would be none."""
    return place.loaded.tokenizer.is_special(ids[span[0]])
