"""Heads at a glance, and what changes when heads or layers are switched off.

Each function answers one question (`QUESTIONS` of `why_events.py`); `model.inspection` computes what it says.

Shapes: L layers, H heads, T tokens, K keys, N cells of a thumbnail's side.
"""

from __future__ import annotations

import math
import time
from contextlib import closing
from dataclasses import replace
from itertools import zip_longest
from typing import Literal

import torch
from torch import Tensor, nn

from model.causes.reading import separators
from model.errors import AttendError
from model.inspection.ablation import switch_off_each
from model.inspection.heads import PATTERNS, score_heads, score_induction
from model.interface import Attention
from ui.inspector.why.question import ExplainedToken, Progress, Question, last_step, short
from ui.inspector.why.why_contract import EffectsAnswer, HeadAnswer, HeadsAnswer, Rewritten, SwitchedOff
from ui.kit.packing import packed_bytes, significant
from ui.runs.attention_rows import attention_row

Kind = Literal["self", "cross"]

_THUMBNAILS = 110_000  # characters of all thumbnails together
_SIDE = 64  # cells of a thumbnail's side, at most
_ROWS = 100_000  # characters of the rows of one head
_LISTED = 10  # tokens of a table before and after
_SEED, _REPEATED = 1, 50  # of the random tokens, read twice, that show which heads look for a repetition
_REPORT_SECONDS = 0.2  # between two reports of progress


def heads(question: Question) -> Progress[HeadsAnswer]:
    """Thumbnails of the attention of all heads over the run's text, and the pattern that each attends to most."""
    target, kind = _whole_text(question), _kind(question)
    attention = _attention(target, kind)  # (L, H, T, K)
    cells, block = thumbnails(attention, is_triangular=kind == "self")
    scores: dict[str, list[list[float]]] = {}
    strongest: list[list[int]] | None = None
    strongest_share: list[list[float]] | None = None
    if kind == "self":
        shares = score_heads(attention, target.text, separators(target.loaded.tokenizer, target.text)).shares()
        scores = {name: [short(row) for row in share.tolist()] for name, share in zip(PATTERNS, shares, strict=True)}
        strongest = shares.argmax(dim=0).tolist()
        strongest_share = [short(row) for row in shares.amax(dim=0).tolist()]
        if not target.source:  # what repeats is clearer in random tokens than in a text
            yield {"progress": (1, 2)}
            with target.loaded.lock:
                length = min(_REPEATED, target.loaded.model.context_length // 2)
                induction = score_induction(target.inspector, seed=_SEED, length=length)
            scores["induction"] = [short(row) for row in induction.tolist()]
    layers, count = attention.shape[:2]
    return {
        "layers": layers,
        "heads": count,
        "rows": math.ceil(attention.shape[2] / block),
        "columns": math.ceil(attention.shape[3] / block),
        "block": block,
        "cells": cells,
        "patterns": list(PATTERNS) if scores else [],
        "scores": scores,
        "strongest": strongest,
        "strongest_share": strongest_share,
        "has_source": bool(target.source),
    }


def thumbnails(attention: Tensor, *, is_triangular: bool) -> tuple[str, int]:
    """All maps (L, H, T, K) as base64 of four bits a cell, and how many tokens a cell stands for.

    A cell is the largest square root of its weights. Of a triangular map, row i has the cells 0 to i.
    """
    heads = attention.shape[0] * attention.shape[1]
    halves = _THUMBNAILS * 3 // 4 * 2 // heads  # cells of four bits that a head may have
    side = min(_SIDE, math.isqrt(2 * halves if is_triangular else halves) - 1)
    block = math.ceil(max(attention.shape[2:]) / max(1, side))
    maps = attention.float().flatten(0, 1)[:, None]  # (LH, 1, T, K)
    pooled = nn.functional.max_pool2d(maps, block, ceil_mode=True)[:, 0]  # (LH, N, N)
    levels = pooled.clamp(0, 1).sqrt().mul(15).round().to(torch.uint8)
    rows, columns = torch.tril_indices(*levels.shape[1:]) if is_triangular else torch.ones(levels.shape[1:]).nonzero().T
    flat = levels[:, rows, columns].flatten()  # (LH * cells,)
    even = nn.functional.pad(flat, (0, len(flat) % 2))
    return packed_bytes(even[::2] * 16 + even[1::2]), block


def open_head(question: Question) -> HeadAnswer:
    """The attention of one head in full; of a long text, the rows around the token."""
    target, kind = question.target(), _kind(question)
    position = target.position
    target = _whole_text(question)
    layer, head = question.whole("layer"), question.whole("head")
    attention = _attention(target, kind)  # (L, H, T, K)
    if not (0 <= layer < attention.shape[0] and 0 <= head < attention.shape[1]):
        raise AttendError(f"The model has no head {layer + 1}.{head + 1}: choose another.")
    tokens = attention.shape[2]
    size = min(tokens, max(16, _ROWS * 3 // 4 // attention.shape[3]))
    first = max(0, min(position - size // 2, tokens - size))
    rows = attention[layer, head, first : first + size]  # (size, K)
    ends = [query + 1 if kind == "self" else rows.shape[1] for query in range(first, first + size)]
    return {
        "rows": [attention_row(row[:end]) for row, end in zip(rows, ends, strict=True)],
        "rows_from": first,
        "ids": list(target.run.ids[len(target.source) :]),
        "source": list(target.source) if kind == "cross" else [],
        "offset": len(target.source) - target.run.first,
        "labels": target.labels(target.run.ids),
    }


def switch_off(question: Question) -> SwitchedOff:
    """The token's table as it was, and with some parts of the model switched off or scaled."""
    target, changes = question.target(), question.changes()
    before = target.run.interventions
    with target.loaded.lock:
        logits = target.inspector.predictions(
            [target.before] * 2,
            sources=[target.source] if target.source else [],
            interventions=[before, (*before, *changes)],
        )
    shares = logits.softmax(dim=-1).cpu()  # (2, V)
    listed = dict.fromkeys([target.token, *shares.topk(min(_LISTED, shares.shape[-1])).indices.flatten().tolist()])
    ids = sorted(listed, key=lambda token: -float(shares[0, token]))
    return {
        "ids": ids,
        "before": [significant(float(shares[0, token])) for token in ids],
        "after": [significant(float(shares[1, token])) for token in ids],
        "labels": target.labels(ids),
    }


def write_without(question: Question) -> Progress[Rewritten]:
    """The whole continuation again with the same settings and random draws, under the changes."""
    run, changes = question.run(), question.changes()
    trace = run.require_trace()
    loaded = question.models.require_loaded(run.model)
    options = replace(trace.request.options, interventions=(*run.interventions, *changes))
    again = replace(trace, steps=[], request=replace(trace.request, options=options))
    call = again.call(question.session.visitor, attention=False)
    reported_at = time.monotonic()
    with closing(question.models.decode(call)) as passes:
        for arrived in passes:
            if arrived is not None and 0 in arrived.steps:
                again.add(arrived.steps[0])
            if time.monotonic() - reported_at > _REPORT_SECONDS:
                reported_at = time.monotonic()
                yield {"progress": (min(len(again.ids), len(trace.ids)), len(trace.ids))}
    pairs = enumerate(zip_longest(trace.ids, again.ids))
    return {
        "ids": list(trace.ids),
        "again": list(again.ids),
        "first_difference": next((number for number, (one, other) in pairs if one != other), None),
        "labels": {str(token): loaded.tokenizer.label(token) for token in {*trace.ids, *again.ids}},
    }


def rank_heads(question: Question) -> Progress[EffectsAnswer]:
    """How the token's log-probability changes without each head, one at a time."""
    target, kind = question.target(), _kind(question)
    target.refuse_changed()
    effects = switch_off_each(
        target.inspector,
        target.before,
        target.token,
        question.token("rival", target),
        source=target.source,
        part="head" if kind == "self" else "cross_head",
    )
    last = yield from last_step(effects, target.loaded.lock)
    assert last is not None  # every model has heads
    return {"effects": [short(row) for row in last.effects.tolist()]}


def _whole_text(question: Question) -> ExplainedToken:
    """The run up to its end, whichever token is selected."""
    target = question.target()
    target = replace(target, number=len(target.run.tokens) - 1)
    target.check_size(len(target.text))
    return target


def _attention(target: ExplainedToken, kind: Kind) -> Tensor:
    """The weights of every head, (L, H, T, K)."""
    with target.loaded.lock:
        inside = target.inspector.inspect(
            target.text, source=target.source, interventions=target.run.interventions, last=True
        )
    weights: Attention = inside.attention
    chosen = weights.decoder if kind == "self" else weights.cross
    if chosen is None:
        raise AttendError("This model reads no source, so it has no cross-attention: look at its self-attention.")
    return chosen[0].cpu()


def _kind(question: Question) -> Kind:
    return "cross" if question.fields.get("kind") == "cross" else "self"
