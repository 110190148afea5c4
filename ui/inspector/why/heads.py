"""Heads at a glance, and what changes when heads or layers are switched off.

Each function answers one question (`QUESTIONS` of `events.py`); `model.inspection` computes what it says.

Shapes: L layers, H heads, T tokens, K keys, N cells of a thumbnail's side.
"""

from __future__ import annotations

import math
import time
import unicodedata
from contextlib import closing
from dataclasses import replace
from typing import Literal

import torch
from torch import Tensor, nn

from decoding.run.trace import Trace
from model.errors import AttendError
from model.inspection.ablation import switch_off_each
from model.inspection.heads import PATTERNS, score_heads, score_induction
from model.interface import Attention
from ui.inspector.why.asked import Asked, Place, Replies, in_turn, short
from ui.inspector.why.why_contract import EffectsAnswer, HeadAnswer, HeadsAnswer, Rewritten, SwitchedOff
from ui.kit.packing import packed_bytes, significant
from ui.runs.attention import attention_row
from ui.runs.run import RunRecord

Kind = Literal["self", "cross"]

_THUMBNAILS = 110_000  # characters of all thumbnails together
_SIDE = 64  # cells of a thumbnail's side, at most
_ROWS = 100_000  # characters of the rows of one head
_LISTED = 10  # tokens of a table before and after
_SEED, _REPEATED = 1, 50  # of the random tokens that show which heads look for a repetition
_REPORT_SECONDS = 0.2  # between two reports of progress


def heads(asked: Asked) -> Replies:
    """Thumbnails of the attention of all heads over the run's text, and what each head does most."""
    place, kind = _whole_text(asked), _kind(asked)
    attention = _attention(place, kind)  # (L, H, T, K)
    cells, block = thumbnails(attention, is_triangular=kind == "self")
    scores: dict[str, list[list[float]]] = {}
    strongest: list[list[int]] | None = None
    if kind == "self":
        found = score_heads(attention, place.text, _separators(place))
        scores = {name: [short(row) for row in getattr(found, name).tolist()] for name in PATTERNS}
        strongest = found.strongest().tolist()
        if not place.source:  # what repeats is clearer in random tokens than in a text
            yield {"progress": (1, 2)}
            with place.loaded.lock:
                induction = score_induction(place.inspector, seed=_SEED, length=_REPEATED)
            scores["induction"] = [short(row) for row in induction.tolist()]
    layers, count = attention.shape[:2]
    answer: HeadsAnswer = {
        "layers": layers,
        "heads": count,
        "rows": math.ceil(attention.shape[2] / block),
        "columns": math.ceil(attention.shape[3] / block),
        "block": block,
        "cells": cells,
        "patterns": list(PATTERNS) if scores else [],
        "scores": scores,
        "strongest": strongest,
        "has_source": bool(place.source),
    }
    yield {"answer": answer}


def thumbnails(attention: Tensor, *, is_triangular: bool) -> tuple[str, int]:
    """All maps (L, H, T, K) as base64 of four bits a cell, and how many tokens a cell stands for.

    A cell is the largest square root of its weights. Of a triangular map, row i has the cells 0 to i.
    """
    heads = attention.shape[0] * attention.shape[1]
    halves = _THUMBNAILS * 3 // 4 * 2 // heads  # cells of four bits that a head may have
    side = min(_SIDE, math.isqrt(2 * halves if is_triangular else halves) - 1)
    block = math.ceil(max(attention.shape[2:]) / max(1, side))
    pooled = nn.functional.max_pool2d(attention.float().flatten(0, 1)[:, None], block, ceil_mode=True)[
        :, 0
    ]  # (LH, N, N)
    levels = pooled.clamp(0, 1).sqrt().mul(15).round().to(torch.uint8)
    rows, columns = torch.tril_indices(*levels.shape[1:]) if is_triangular else torch.ones(levels.shape[1:]).nonzero().T
    flat = levels[:, rows, columns].flatten()  # (LH * cells,)
    even = nn.functional.pad(flat, (0, len(flat) % 2))
    return packed_bytes(even[::2] * 16 + even[1::2]), block


def open_head(asked: Asked) -> Replies:
    """The attention of one head in full, of a long text in the rows around the token."""
    place, kind = asked.place(), _kind(asked)
    position = place.position
    place = _whole_text(asked)
    layer, head = asked.whole("layer"), asked.whole("head")
    attention = _attention(place, kind)  # (L, H, T, K)
    if not (0 <= layer < attention.shape[0] and 0 <= head < attention.shape[1]):
        raise AttendError(f"The model has no head {layer + 1}.{head + 1}: choose another.")
    tokens = attention.shape[2]
    size = min(tokens, max(16, _ROWS * 3 // 4 // attention.shape[3]))
    first = max(0, min(position - size // 2, tokens - size))
    rows = attention[layer, head, first : first + size]  # (size, K)
    ends = [query + 1 if kind == "self" else rows.shape[1] for query in range(first, first + size)]
    answer: HeadAnswer = {
        "rows": [attention_row(row[:end]) for row, end in zip(rows, ends, strict=True)],
        "rows_from": first,
        "ids": list(place.text),
        "source": list(place.source) if kind == "cross" else [],
        "offset": len(place.source) - place.run.first,
        "labels": place.labels((*place.text, *place.source)),
    }
    yield {"answer": answer}


def switch_off(asked: Asked) -> Replies:
    """The token's table as it was, and with some parts of the model switched off or scaled."""
    place, changes = asked.place(), asked.changes()
    before = place.run.interventions
    with place.loaded.lock:
        logits = place.inspector.predictions(
            [place.before] * 2,
            sources=[place.source] if place.source else [],
            interventions=[before, (*before, *changes)],
        )
    shares = logits.softmax(dim=-1).cpu()  # (2, V)
    listed = dict.fromkeys([place.token, *shares.topk(min(_LISTED, shares.shape[-1])).indices.flatten().tolist()])
    ids = sorted(listed, key=lambda token: -float(shares[0, token]))
    answer: SwitchedOff = {
        "ids": ids,
        "before": [significant(float(shares[0, token])) for token in ids],
        "after": [significant(float(shares[1, token])) for token in ids],
        "labels": place.labels(ids),
    }
    yield {"answer": answer}


def write_without(asked: Asked) -> Replies:
    """The whole continuation again with the same settings and random draws, under the changes."""
    run, changes = asked.run(), asked.changes()
    trace = _trace_of(run)
    loaded = asked.models.require_loaded(run.model)
    call = replace(trace.call(asked.session.visitor), resumed=None, attention=False)
    call = replace(call, interventions=(*call.interventions, *changes))
    again = replace(trace, steps=[], request=replace(trace.request, resumed=None))
    reported = time.monotonic()
    with closing(asked.models.decode(call)) as passes:
        for made in passes:
            if made is not None and 0 in made.steps:
                again.add(made.steps[0])
            if time.monotonic() - reported > _REPORT_SECONDS:
                reported = time.monotonic()
                yield {"progress": (min(len(again.ids), len(trace.ids)), len(trace.ids))}
    pairs = enumerate(zip(trace.ids, again.ids, strict=False))
    shorter = min(len(trace.ids), len(again.ids))
    difference = next((number for number, (one, other) in pairs if one != other), shorter)
    answer: Rewritten = {
        "ids": list(trace.ids),
        "again": list(again.ids),
        "first": len(trace.request.attended) - run.first,
        "first_difference": None if trace.ids == again.ids else difference,
        "labels": {str(token): loaded.tokenizer.label(token) for token in {*trace.ids, *again.ids}},
    }
    yield {"answer": answer}


def rank_heads(asked: Asked) -> Replies:
    """How the token's log-probability changes without each head, one at a time."""
    place, kind = asked.place(), _kind(asked)
    place.refuse_changed()
    effects = switch_off_each(
        place.inspector,
        place.before,
        place.token,
        asked.token("rival", place),
        source=place.source,
        part="head" if kind == "self" else "cross_head",
    )
    last = None
    for last in in_turn(effects, place.loaded.lock):
        yield {"progress": (last.done, last.total)}
    assert last is not None  # every model has heads
    answer: EffectsAnswer = {"effects": [short(row) for row in last.effects.tolist()]}
    yield {"answer": answer}


def _whole_text(asked: Asked) -> Place:
    """The run up to its end, whichever token is selected."""
    place = asked.place()
    place = replace(place, number=len(place.run.tokens) - 1)
    place.check_size(len(place.text))
    return place


def _attention(place: Place, kind: Kind) -> Tensor:
    """The weights of every head, (L, H, T, K)."""
    with place.loaded.lock:
        inside = place.inspector.inspect(place.text, source=place.source, interventions=place.run.interventions)
    weights: Attention = inside.attention
    chosen = weights.decoder if kind == "self" else weights.cross
    if chosen is None:
        raise AttendError("This model reads no source, so it has no cross-attention: look at its self-attention.")
    return chosen[0].cpu()


def _kind(asked: Asked) -> Kind:
    return "cross" if asked.fields.get("kind") == "cross" else "self"


def _separators(place: Place) -> frozenset[int]:
    """The tokens of the text that are punctuation or line breaks."""
    labels = {token: place.loaded.tokenizer.label(token).strip(" ") for token in set(place.text)}
    special = place.loaded.tokenizer.is_special
    return frozenset(token for token, label in labels.items() if label and not special(token) and _is_mark(label))


def _is_mark(label: str) -> bool:
    return all(sign in "\r\n" or unicodedata.category(sign).startswith("P") for sign in label)


def _trace_of(run: RunRecord) -> Trace:
    if run.trace is None or not run.trace.steps:
        raise AttendError("The steps behind this text are not stored: continue it or retry the answer, then try again.")
    return run.trace
